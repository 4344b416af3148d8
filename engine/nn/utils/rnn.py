"""Sequences of several lengths in one tensor: padded to the longest, or packed step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from ...api.creation import creation, fills
from ...api.shape.joining import cat, stack
from ...arrays import errors
from ...arrays.array import float16, float32, float64, int8, int16, int32, int64, to_numpy, uint8, xp
from ...tensor.tensor import Tensor, tensor_of

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _PackedFields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_PackedFields):
    """Sequences without padding: `data` has all first steps, then all second ones, `batch_sizes[t]` of step `t`.

    Made by `pack_sequence` and `pack_padded_sequence`.

    Source: torch.nn.utils.rnn.PackedSequence.

    >>> import engine as torch
    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 3, 2]), tensor([2, 1]))
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> Self:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """With the data moved or converted: itself where nothing changes."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def double(self) -> Self:
        """With the data in float64."""
        return self.to(dtype=float64)

    def float(self) -> Self:
        """With the data in float32."""
        return self.to(dtype=float32)

    def half(self) -> Self:
        """With the data in float16."""
        return self.to(dtype=float16)

    def long(self) -> Self:
        """With the data in int64."""
        return self.to(dtype=int64)

    def int(self) -> Self:
        """With the data in int32."""
        return self.to(dtype=int32)

    def short(self) -> Self:
        """With the data in int16."""
        return self.to(dtype=int16)

    def char(self) -> Self:
        """With the data in int8."""
        return self.to(dtype=int8)

    def byte(self) -> Self:
        """With the data in uint8."""
        return self.to(dtype=uint8)

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """With the data in the processor's memory."""
        return self.to(*args, device="cpu", **kwargs)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Return whether the data lies in pinned memory."""
        return bool(self.data.is_pinned())

    def sizes(self) -> list[Any]:
        """How many sequences there are at each step."""
        return [int(n) for n in self.batch_sizes._array.tolist()]


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another.

    Shapes: (N) -> (N).  Source: torch.nn.utils.rnn.invert_permutation.

    >>> import engine as torch
    >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    return tensor_of(xp.argsort(permutation._array))


def _steps(lengths: Any) -> Any:
    """The number of sequences that are still there at each step."""
    numbers = to_numpy(lengths._array)
    return (numbers[None, :] > xp.arange(int(numbers.max()))[:, None]).sum(1)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packed sequences of padded ones, which are (steps, batch, ...) or with `batch_first` (batch, steps, ...).

    Shapes: (T, N, *), (N) -> (S, *) of S steps in all, (T).  Raises RuntimeError for a length that is not positive, or
    lengths that are not in order.  Source: torch.nn.utils.rnn.pack_padded_sequence.

    >>> import engine as torch
    >>> padded = torch.tensor([[1, 2], [3, 0]])
    >>> torch.nn.utils.rnn.pack_padded_sequence(padded, [2, 1], batch_first=True).data
    tensor([1, 3, 2])
    """
    counts = creation.as_tensor(lengths, dtype=int64)
    order = None
    steps = input.transpose(0, 1) if batch_first else input
    if not enforce_sorted:
        order = tensor_of(xp.argsort(-counts._array, kind="stable"))
        counts = tensor_of(counts._array[order._array])
        steps = steps.index_select(1, order)
    numbers = counts._array
    if numbers.size != steps.shape[1]:
        raise errors.runtime(
            f"Expected `len(lengths)` to be equal to batch_size, but got {numbers.size} (batch_size={steps.shape[1]})"
        )
    if bool((numbers <= 0).any()):
        raise errors.runtime(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if bool((numbers[1:] > numbers[:-1]).any()):
        raise errors.runtime(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    sizes = _steps(counts)
    data = cat([steps[t, : int(n)] for t, n in enumerate(sizes)])
    return PackedSequence(data, tensor_of(xp.asarray(sizes, dtype="int64")), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded sequences from the result of `pack_padded_sequence`, and their lengths.

    Shapes: (S, *), (T) -> (T', N, *), (N).  Raises ValueError where `total_length` is too short.
    Source: torch.nn.utils.rnn.pad_packed_sequence.

    >>> import engine as torch
    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    >>> torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)[0]
    tensor([[1, 2],
            [3, 0]])
    """
    sizes = sequence.sizes()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    data, batch = sequence.data, sizes[0]
    rows, start = [], 0
    for size in sizes:
        row = data[start : start + size]
        if size < batch:
            filler = fills.full((batch - size, *row.shape[1:]), padding_value, dtype=data.dtype)
            row = cat([row, filler])
        rows.append(row)
        start += size
    if longest > len(sizes):
        rows += [fills.full(tuple(rows[0].shape), padding_value, dtype=data.dtype)] * (longest - len(sizes))
    padded = stack(rows, 1 if batch_first else 0)
    lengths = tensor_of((xp.asarray(sizes)[:, None] > xp.arange(batch)[None, :]).sum(0))
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = tensor_of(lengths._array[sequence.unsorted_indices._array])
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (length, ...) in one tensor (longest, batch, ...), or with `batch_first` (batch, longest, ...).

    Shapes: (L, *), ... -> (T, N, *); with `batch_first` (L, *), ... -> (N, T, *).  Raises RuntimeError where other
    sizes differ.  Source: torch.nn.utils.rnn.pad_sequence.

    >>> import engine as torch
    >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise errors.runtime(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise errors.runtime(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    items = list(sequences)
    longest = max(int(s.shape[0]) for s in items)
    padded = []
    for sequence in items:
        missing = longest - int(sequence.shape[0])
        if missing:
            filler = fills.full((missing, *sequence.shape[1:]), padding_value, dtype=sequence.dtype)
            sequence = cat([sequence, filler] if padding_side == "right" else [filler, sequence])
        padded.append(sequence)
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences that were padded.

    Shapes: (T, N, *), (N) -> (L, *), ...  Source: torch.nn.utils.rnn.unpad_sequence.

    >>> import engine as torch
    >>> torch.nn.utils.rnn.unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [rows[place, : int(n)] for place, n in enumerate(lengths._array.tolist())]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (length, ...) packed.

    Shapes: (T, *), ... -> (S, *) of S steps in all, (T).  Raises RuntimeError for lengths that are not in order.
    Source: torch.nn.utils.rnn.pack_sequence.

    >>> import engine as torch
    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]).data
    tensor([1, 3, 2])
    """
    lengths = creation.tensor([int(s.shape[0]) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that were packed.

    Shapes: (S, *), (T) -> (L, *), ...  Source: torch.nn.utils.rnn.unpack_sequence.

    >>> import engine as torch
    >>> torch.nn.utils.rnn.unpack_sequence(torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
