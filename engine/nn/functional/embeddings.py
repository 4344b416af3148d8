"""Rows of a table.  Source: torch.nn.functional."""

from __future__ import annotations

import warnings

from ...api.calls.check import need_tensor
from ...api.shape.shape import reshape
from ...arrays import errors
from ...arrays.array import int32, int64, xp
from ...arrays.session import callers_level
from ...ops import embedding as em
from ...tensor.escapes import escape
from ...tensor.grad_mode import no_grad
from ...tensor.inplace import apply_inplace
from ...tensor.tensor import Tensor, tensor_of

__all__ = [
    "embedding",
    "embedding_bag",
    "one_hot",
]

INDICES = (
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got {} "
    "instead (while checking arguments for {})"
)
NO_SPARSE = "gradients as sparse tensors are out of scope: leave out sparse=True for a dense one"


def _need_indices(tensor: Tensor, function: str) -> None:
    if tensor._array.dtype not in (int64.numpy, int32.numpy):
        name = tensor.dtype.legacy
        raise errors.runtime(
            INDICES.format("CPUBoolType" if tensor._array.dtype.kind == "b" else f"torch.{name}", function)
        )


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """The rows of `weight` that `input` names.

    The row `padding_idx` gets no gradient; with `max_norm` the named rows are first brought, in place, to at most that
    norm; `scale_grad_by_freq` divides gradients by how often a row is named.

    Shapes: (*), (n, d) -> (*, d).  Raises IndexError for a number that is no row, AssertionError for such a
    `padding_idx`.  Source: torch.nn.functional.embedding.

    >>> import engine as torch
    >>> torch.nn.functional.embedding(torch.tensor([1, 1]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [3., 4.]])
    """
    need_tensor(weight, "embedding", "weight")
    rows = weight._array.shape[0] if weight._array.ndim else 0
    place = -1
    if padding_idx is not None:
        assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
        place = padding_idx % rows
    need_tensor(input, "embedding", "indices", 2)
    if weight._array.ndim != 2:
        raise errors.runtime("'weight' must be 2-D")
    _need_indices(input, "embedding")
    if sparse:
        raise errors.OutOfScope(NO_SPARSE)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return em.embedding(weight, input, place, scale_grad_by_freq, False)


def _renorm(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Bring the rows that `input` names to at most `max_norm`, in place."""
    with no_grad():
        apply_inplace(em.embedding_renorm.op, (weight, input), {"max_norm": max_norm, "norm_type": norm_type})


SWAPPED = (
    "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
    "deprecated, and should now be `embedding_bag(input, weight, ...)`."
)


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """Sums, means or maxima of bags of rows of `weight`.

    A bag is a row of an `input` of two dimensions, or runs from one of the `offsets` into an `input` of one dimension
    to the next.

    Shapes: (B, L), (n, d) -> (B, d); with `offsets` (L), (n, d), (B) -> (B, d).  Raises ValueError for `offsets` that
    are missing, or beside an `input` of two dimensions.  Source: torch.nn.functional.embedding_bag.

    >>> import engine as torch
    >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1]]), table)
    tensor([[2., 3.]])
    """
    if weight._array.dtype == int64.numpy and input._array.dtype.kind == "f":
        warnings.warn(SWAPPED, UserWarning, stacklevel=callers_level())
        weight, input = input, weight
    _check_bag(input, weight, offsets, per_sample_weights, mode, scale_grad_by_freq, sparse)
    if input._array.ndim == 2:
        length = input._array.shape[1]
        if not length:
            raise errors.runtime("step must be nonzero", "Backstep: each bag of a batch needs at least one index.")
        offsets = tensor_of(xp.arange(0, input._array.size, length, dtype="int64", like=input._array))
        input = reshape(input, -1)
        if per_sample_weights is not None:
            per_sample_weights = reshape(per_sample_weights, -1)
    assert offsets is not None
    _check_tables(weight, per_sample_weights)
    if include_last_offset and not offsets._array.size:
        raise errors.runtime("include_last_offset: number of offset should be at least 1")
    place = -1 if padding_idx is None else _row(weight, padding_idx)
    _check_offsets(input, weight, offsets, mode)
    if include_last_offset and offsets._array[-1] < input._array.size:  # what comes after the last bag is in none
        escape(offsets, "item")
        end = int(offsets._array[-1])
        input = input[:end]
        per_sample_weights = None if per_sample_weights is None else per_sample_weights[:end]
    if sparse:
        raise errors.OutOfScope(NO_SPARSE)
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    number = {"sum": em.SUM, "mean": em.MEAN, "max": em.MAX}[mode]
    result = em.embedding_bag(
        weight, input, offsets, per_sample_weights, scale_grad_by_freq, number, False, include_last_offset, place
    )
    return result[0]


def _row(weight: Tensor, padding_idx: int) -> int:
    """The row that stands for nothing, counted from the first; torch's error where there is none."""
    rows: int = weight._array.shape[0]
    if not -rows <= padding_idx < rows:
        raise errors.runtime(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got {padding_idx}"
        )
    return padding_idx % rows


def _check_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None,
    per_sample_weights: Tensor | None,
    mode: str,
    by_freq: bool,
    sparse: bool,
) -> None:
    """Raise torch's errors for arguments that do not fit together."""
    if weight._array.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight._array.ndim}")
    if per_sample_weights is not None and per_sample_weights.size() != input.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.size()}) is not None, then it must have the "
            f"same shape as the input ({input.size()})"
        )
    rank = input._array.ndim
    if rank == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            "sequences. However, found offsets of type <class 'torch.Tensor'>"
        )
    if rank not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {rank}")
    if rank == 1:
        if not isinstance(offsets, Tensor):
            raise ValueError(f"offsets has to be a 1D Tensor but got {offsets}")
        if offsets._array.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )


def _check_tables(weight: Tensor, per_sample_weights: Tensor | None) -> None:
    """Raise torch's errors for rows that are no floats, and for weights of another dtype than theirs."""
    if weight._array.dtype.kind != "f":
        raise errors.runtime(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
            f"Float, Double; but got {weight.type()} instead (while checking arguments for embedding_bag)"
        )
    if per_sample_weights is not None and per_sample_weights._array.dtype != weight._array.dtype:
        raise errors.runtime(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {weight.type()} does not equal {per_sample_weights.type()} (while "
            "checking arguments for embedding_bag)"
        )


def _check_offsets(input: Tensor, weight: Tensor, offsets: Tensor, mode: str) -> None:
    """Raise torch's errors for indices out of range, and for bags that do not lie one after the other."""
    _need_indices(input, "embedding_bag")
    _need_indices(offsets, "embedding_bag")
    starts, indices = offsets._array, input._array
    if starts.size and starts[0] != 0:
        raise errors.runtime(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {int(starts[0])}"
        )
    if starts.size and starts[-1] > indices.size:
        raise errors.runtime(
            f"offsets[-1] can not be greater than input's length {indices.size} but got offsets[-1] of "
            f"{int(starts[-1])}"
        )
    rows = weight._array.shape[0]
    wrong = ((indices < 0) | (indices >= rows)).nonzero()[0]
    if wrong.size and (mode == "max" or weight._array.dtype == "float64"):
        raise errors.runtime(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {int(indices[wrong[0]])}"
        )
    if wrong.size:
        raise errors.runtime(
            f"Index {int(wrong[0])} of input takes value {int(indices[wrong[0]])} which is not in the valid range "
            f"[0, {rows})"
        )


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the position given by each element, in a new last dimension, 0 elsewhere; as long as needed.

    Shapes: (*) -> (*, num_classes).  Raises RuntimeError where an element is negative, or not below `num_classes`.
    Source: torch.nn.functional.one_hot.

    >>> import engine as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    need_tensor(input, "one_hot")
    data = input._array
    if data.dtype != int64.numpy:
        raise errors.runtime("one_hot is only applicable to index tensor of type LongTensor.")
    if not data.size:
        if num_classes <= 0:
            raise errors.runtime("Can not infer total number of classes from empty tensor.")
    elif data.min() < 0:
        raise errors.runtime("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(input.max().item()) + 1  # the shape depends on a value: a recording is told of it
    elif data.size and data.max() >= num_classes:
        raise errors.runtime("Class values must be smaller than num_classes.")
    return em.one_hot(input, num_classes)
