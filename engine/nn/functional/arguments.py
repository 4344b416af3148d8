"""Arguments that many functions share: their shapes and dtypes brought together, one number per spatial dimension, and
torch's errors if they do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from ...api.calls.check import need_tensor
from ...arrays import errors
from ...ops import pooling as po
from ...ops import shape as so
from ...tensor.grad_mode import mode
from ...tensor.tensor import Tensor

Ints = int | Sequence[int]
POSITIONS = {"kernel_size": 2, "stride": 3, "padding": 4, "dilation": 5}
NAMES = {1: "one int", 2: "two ints", 3: "three ints"}
LETTERS = {2: ("H", "W"), 3: ("T", "H", "W")}


def numbers(function: str, name: str, value: Any, rank: int, omitted: str = "") -> tuple[int, ...]:
    """One number per spatial dimension."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(hasattr(n, "__index__") for n in values):
        raise TypeError(
            f"{function}(): argument '{name}' (position {POSITIONS[name]}) must be tuple of ints, not "
            f"{type(value).__name__}"
        )
    values = tuple(index(n) for n in values)
    if len(values) == 1:
        return values * rank
    if len(values) != rank:
        kind = f"tuple of {NAMES[rank]}"
        raise errors.runtime(f"{function}: {name} must either be {omitted}a single int, or a {kind}")
    return values


def one(function: str, name: str, value: Any) -> int:
    """The number of a one-dimensional function, alone or in a sequence."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(values) != 1:
        raise errors.runtime(f"{function}() argument '{name}' should contain one int (got {len(values)})")
    return int(values[0])


def steps(function: str, stride: Any, kernel: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """The stride, which is the kernel where none is given."""
    if stride is None or (isinstance(stride, (tuple, list)) and not stride):
        return kernel
    return numbers(function, "stride", stride, rank, "omitted, ")


def check_windows(
    input: Tensor, rank: int, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], ceil_mode: bool, mean: bool = False,
) -> None:  # fmt: skip
    """Raise torch's errors about windows that do not fit, in torch's order."""
    sizes = list(input._array.shape)
    if rank == 3 and len(sizes) not in (4, 5):
        raise errors.runtime("non-empty 4D or 5D (batch mode) tensor expected for input")
    if mean and rank == 2 and len(sizes) < 3:  # torch reads a size before it asks how many there are
        low = max(len(sizes), 1)
        raise IndexError(f"Dimension out of range (expected to be in range of [-{low}, {low - 1}], but got -3)")
    spatial = sizes[-rank:]
    for k, s in zip(kernel, stride, strict=True):
        if s == 0:
            raise errors.runtime("stride should not be zero")
        if k <= 0 or s < 0:
            words = "kernel size" if k <= 0 else "stride"
            raise errors.runtime(f"{words} should be greater than zero, but got {_each(words[0], kernel, stride)}")
    for k, p, d in zip(kernel, padding, dilation, strict=True):
        if p < 0:
            raise errors.runtime(f"pad must be non-negative, but got pad: {p}")
        if d <= 0:
            pairs = " ".join(f"dilation{x}: {n}" for x, n in zip(LETTERS[rank], dilation, strict=True))
            raise errors.runtime(f"dilation should be greater than zero, but got {pairs}")
        if p > ((k - 1) * d + 1) // 2:
            raise errors.runtime(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}"
            )
    _check_sizes(rank, sizes, mean)
    if mean and rank == 3 and any(n < k for n, k in zip(spatial, kernel, strict=True)) and not any(padding):
        have = " ".join(f"{x}: {n}" for x, n in zip("THW", spatial, strict=True))
        need = " ".join(f"k{x}: {n}" for x, n in zip("THW", kernel, strict=True))
        raise errors.runtime(f"input image ({have}) smaller than kernel size ({need})")
    places = [
        po.pooled_size(n, k, s, p, d, ceil_mode)
        for n, k, s, p, d in zip(spatial, kernel, stride, padding, dilation, strict=True)
    ]
    if min(places) < 1:
        channels = sizes[-rank - 1]
        texts = ["x".join(map(str, (channels, *numbers))) for numbers in (spatial, places)]
        raise errors.runtime(
            f"Given input size: ({texts[0]}). Calculated output size: ({texts[1]}). Output size is too small"
        )


def _each(letter: str, kernel: Sequence[int], stride: Sequence[int]) -> str:
    values = kernel if letter == "k" else stride
    names = LETTERS[len(values)]
    return " ".join(f"{letter}{x}: {n}" for x, n in zip(names, values, strict=True))


def _check_sizes(rank: int, sizes: list[int], mean: bool) -> None:
    """Only the batch may be empty."""
    if rank == 2 and len(sizes) not in (3, 4):
        raise errors.runtime("non-empty 3D or 4D (batch mode) tensor expected for input")
    if 0 not in sizes[-rank - 1 :]:
        return
    if rank == 2:
        raise errors.runtime(
            f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{sizes}"
        )
    name = "avg_pool3d()" if mean else "max_pool3d_with_indices_out_cpu_template()"
    raise errors.runtime(
        f"{name}: Expected input's non-batch dimensions to have positive length, but input has a shape of {sizes} and "
        "non-batch dimension 0 has length zero!"  # torch says 0 whichever it is
    )


def flat(input: Tensor, function: str, message: str) -> Tensor:
    """The input of a one-dimensional function with the dimension that the two-dimensional one needs."""
    need_tensor(input, function)
    if input._array.ndim not in (2, 3):
        raise errors.runtime(message)
    return so.unsqueeze(input, input._array.ndim - 1)


def line(tensor: Tensor) -> Tensor:
    return so.squeeze_dim(tensor, tensor._array.ndim - 2)


def checked_argument(function: str, input: Tensor) -> str:
    need_tensor(input, function)
    return (
        f"Expected 2 to 3 dimensions, but got {input._array.ndim}-dimensional tensor for argument #1 'self' (while "
        f"checking arguments for {function})"
    )


def output_sizes(input: Tensor, output_size: Any, rank: int) -> Any:
    """The sizes of the result; None among them keeps the input's."""
    if output_size is None:
        raise TypeError("object of type 'NoneType' has no len()")
    values = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * rank
    sizes = input._array.shape[-rank:]
    if isinstance(output_size, (tuple, list)) and len(values) >= input._array.ndim:
        raise ValueError(f"Input dimension should be at least {len(values) + 1}")
    if len(values) == rank and len(sizes) == rank:
        return tuple(n if g is None else g for g, n in zip(values, sizes, strict=True))
    return values


def check_adaptive(name: str, input: Tensor, rank: int, colon: str, first: int = 1) -> None:
    """Raise torch's error for an input of another rank, or with nothing in one of the dimensions from `first` on."""
    sizes = list(input._array.shape)
    if len(sizes) not in (rank + 1, rank + 2):
        raise errors.runtime(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got{colon} {sizes}")
    for place in range(first, len(sizes)):
        if not sizes[place]:
            raise errors.runtime(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {sizes} "
                f"with dimension {place} being empty"
            )


def need_floats(name: str, input: Tensor) -> None:
    if input._array.dtype.kind != "f":
        word = input.dtype.legacy.removesuffix("Tensor")
        raise NotImplementedError(f"\"{name}\" not implemented for '{word}'")


def broadcast(*tensors: Tensor) -> list[Tensor]:
    """The tensors in the shape that they broadcast to; the ones that have it are themselves."""
    shape: tuple[int, ...] = ()
    for tensor in tensors:
        shape = _joint(shape, tensor._array.shape)
    return [t if t._array.shape == shape else so.expand(t, shape) for t in tensors]


def _joint(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that two shapes broadcast to; raises torch's error where they do not."""
    rank = max(len(a), len(b))
    wide_a, wide_b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    sizes = list(wide_a)
    for place in reversed(range(rank)):
        m, n = wide_a[place], wide_b[place]
        if m != n and 1 not in (m, n):
            raise errors.runtime(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {place}"
            )
        sizes[place] = n if m == 1 else m
    return tuple(sizes)


def of_dtype(tensor: Tensor, dtype: Any) -> Tensor:
    """The tensor in a numpy dtype; itself if it has it."""
    return tensor if tensor._array.dtype == dtype else so.cast(tensor, dtype)


def need_no_gradient(function: str, **tensors: Tensor | None) -> None:
    """Raise torch's error where an argument that has no derivative requires one."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor._requires_grad and mode.enabled:
            raise errors.runtime(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
                "have requires_grad True.",
                tensors=(tensor,),
            )
