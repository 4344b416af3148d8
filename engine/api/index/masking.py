"""Elements by flat index and by mask, with their in-place forms."""

from __future__ import annotations

from ...arrays import errors
from ...arrays.array import xp
from ...ops import parts as pa
from ...tensor.tensor import Tensor
from ..calls.check import kind, need_tensor
from ..calls.out import takes_out
from ..shape.joining import joint
from ..shape.shape import expand
from .scatter import Call, both, in_place

__all__ = [
    "masked_scatter",
    "masked_select",
    "put",
    "take",
]

# -- by place -----------------------------------------------------------------------------------------------------


def _check_places(name: str, input: Tensor, index: Tensor) -> None:
    if index._array.dtype != "int64":
        raise errors.runtime(f"{name}(): Expected a long tensor for index, but got {kind(index)}")
    n, data = input._array.size, index._array
    if not data.size:
        return
    if not n:
        words = "tried to take from an empty tensor" if name == "take" else "Tried to put elements into an empty tensor"
        raise IndexError(f"{name}(): {words}")
    flat = data.reshape(-1)
    wrong = (flat < -n) | (flat >= n)
    if wrong.any():
        place = int(flat[int(xp.argmax(wrong))])
        raise IndexError(f"out of range: tried to access index {place} on a tensor of {n} elements.")


@takes_out
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at positions of the flattened tensor, in the shape of `index`.

    Shapes: (*), (*index) -> (*index).  Raises IndexError for a place that is not there.  Source: torch.take.

    >>> import engine as torch
    >>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, 3]))
    tensor([1, 4])
    """
    _check_places("take", input, index)
    return pa.take(input, index)


def _put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Call:
    if index._array.dtype == "int64":
        if source._array.dtype != input._array.dtype:
            raise errors.runtime(
                "put_(): self and source expected to have the same dtype, but got self.dtype = "
                f"{kind(input)} and source.dtype = {kind(source)}"
            )
        if source._array.size != index._array.size:
            raise IndexError(
                "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                f"{source._array.size}, index.numel() = {index._array.size}"
            )
    _check_places("put_", input, index)
    return pa.put, (input, index, source), {"accumulate": accumulate}


put, put_ = both(
    "put", _put,
    "A copy with the elements of `source` at positions of the flattened tensor.",
    "Shapes: (*), (*index), (*') -> (*).  Raises IndexError for a place that is not there, RuntimeError for "
    "another dtype.",
)  # fmt: skip


# -- by mask ------------------------------------------------------------------------------------------------------


@takes_out
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where `mask`, in one dimension.

    Shapes: (*), (*) -> (N) of N elements, broadcast.  Raises RuntimeError where the mask is not bool, or the shapes do
    not broadcast.  Source: torch.masked_select.

    >>> import engine as torch
    >>> x = torch.tensor([1.0, 2.0, 3.0])
    >>> torch.masked_select(x, x > 1)
    tensor([2., 3.])
    """
    if mask._array.dtype.kind != "b":
        raise errors.runtime("masked_select: expected BoolTensor for mask")
    joint(mask._array.shape, input._array.shape)
    return pa.masked_select(input, mask)


def _masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Call:
    need_tensor(source, "masked_scatter", "source", 2)
    if source._array.dtype != input._array.dtype:
        raise errors.runtime(
            f"masked_scatter: expected self and source to have same dtypes but got{kind(input)} and {kind(source)}"
        )
    if mask._array.dtype.kind != "b":
        raise errors.runtime(f"masked_scatter_ only supports boolean masks, but got mask with dtype {kind(mask)}")
    wide = joint(mask._array.shape, input._array.shape)
    repeated = xp.broadcast_to(mask._array, wide)
    if source._array.size < int(repeated.sum()):
        raise errors.runtime("Number of elements of source < number of ones in mask")
    return pa.masked_scatter, (input, mask, source), {}


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of `source`, one after the other, where `mask`.

    Shapes: (*), (*), (*') -> (*), broadcast.  Raises RuntimeError where the mask is not bool, or `source` has too few
    elements.  Source: torch.masked_scatter.

    >>> import engine as torch
    >>> torch.masked_scatter(torch.zeros(3), torch.tensor([True, False, True]), torch.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    op, (_, mask, source), _ = _masked_scatter(input, mask, source)
    wide = joint(mask._array.shape, input._array.shape)
    return op(input if input._array.shape == wide else expand(input, *wide), mask, source)


def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """masked_scatter, written into the tensor."""
    return in_place(_masked_scatter(self, mask, source))


METHODS = ("masked_scatter", "masked_scatter_", "masked_select", "put", "put_", "take")
"""Functions that are methods of Tensor too."""
