"""Dimensions in another order.  Source: torch."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...arrays.session import warn
from ...ops import shape as sh
from ...tensor.tensor import Tensor
from ..calls.check import one_dim, sizes_of

__all__ = [
    "adjoint",
    "moveaxis",
    "movedim",
    "permute",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
]


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged.

    Shapes: (*, N, *, M, *) -> (*, M, *, N, *).  Raises IndexError where there is no such dimension.
    Source: torch.swapdims.

    >>> import engine as torch
    >>> torch.transpose(torch.ones(2, 3, 4), 0, 2).shape
    torch.Size([4, 3, 2])
    """
    rank = input._array.ndim
    return sh.transpose(input, one_dim(dim0, rank), one_dim(dim1, rank))


def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """The dimensions in another order.

    Shapes: (*) -> (*'), the same sizes.  Raises RuntimeError where the numbers of dimensions differ.
    Source: torch.permute.

    >>> import engine as torch
    >>> torch.permute(torch.ones(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    axes, rank = sizes_of(order if dims is None else (dims,)), input._array.ndim
    if len(axes) != rank:
        raise errors.runtime(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {len(axes)}"
        )
    places = tuple(one_dim(d, rank) for d in axes)
    if len(set(places)) < rank:
        raise errors.runtime("permute(): duplicate dims are not allowed.")
    return sh.permute(input, places)


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other positions, the others in their order.

    Shapes: (*) -> (*'), the same sizes.  Raises RuntimeError where the numbers of dimensions differ.
    Source: torch.moveaxis.

    >>> import engine as torch
    >>> torch.movedim(torch.zeros(2, 3, 4), 0, 2).shape
    torch.Size([3, 4, 2])
    """
    rank = input._array.ndim
    pairs = [list(d) if isinstance(d, (tuple, list)) else [d] for d in (source, destination)]
    if len(pairs[0]) != len(pairs[1]):
        raise errors.runtime(
            f"movedim: Invalid source or destination dims: source ({pairs[0]} dims) should contain the same number of "
            f"dims as destination ({pairs[1]} dims)"
        )
    sources, places = ([one_dim(d, rank) for d in dims] for dims in pairs)
    for name, dims, target in (("source", pairs[0], sources), ("destination", pairs[1], places)):
        if len(set(target)) < len(target):
            raise errors.runtime(f"movedim: repeated dim in `{name}` ({dims})")
    if not rank:
        return sh.alias(input)
    order = [d for d in range(rank) if d not in sources]
    for place, d in sorted(zip(places, sources, strict=True)):
        order.insert(place, d)
    return sh.permute(input, tuple(order))


def t(input: Tensor) -> Tensor:
    """A matrix with rows and columns exchanged.

    Shapes: (N, M) -> (M, N); (N) -> (N); () -> ().  Raises RuntimeError for more than two dimensions.  Source: torch.t.

    >>> import engine as torch
    >>> torch.t(torch.tensor([[1, 2, 3]]))
    tensor([[1],
            [2],
            [3]])
    """
    if input._array.ndim > 2:
        raise errors.runtime(f"t() expects a tensor with <= 2 dimensions, but self is {input._array.ndim}D")
    return sh.t(input)


def transposed(input: Tensor) -> Tensor:
    """All dimensions in the opposite order: `x.T`.

    >>> import engine as torch
    >>> torch.zeros(2, 3).T.shape
    torch.Size([3, 2])
    """
    if not input._array.ndim:
        warn("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif input._array.ndim != 2:
        warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return sh.permute(input, tuple(range(input._array.ndim))[::-1])


def matrix_transposed(input: Tensor) -> Tensor:
    """The last two dimensions exchanged: `x.mT`.

    >>> import engine as torch
    >>> torch.zeros(4, 2, 3).mT.shape
    torch.Size([4, 3, 2])
    """
    return _last_two_exchanged(input, "Tensor.mT", "This function is the identity in these cases.")


def conjugate_transposed(input: Tensor) -> Tensor:
    """The last two dimensions exchanged: `x.mH`, of real tensors the same as `x.mT`.

    >>> import engine as torch
    >>> torch.zeros(4, 2, 3).mH.shape
    torch.Size([4, 3, 2])
    """
    return _last_two_exchanged(input, "Tensor.mH")


def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged.

    Shapes: (*, N, M) -> (*, M, N).  Raises RuntimeError for one dimension.  Source: torch.adjoint.

    >>> import engine as torch
    >>> torch.adjoint(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
    """
    return _last_two_exchanged(input, "adjoint()")


def _last_two_exchanged(input: Tensor, name: str, instead: str = "Consider using x.conj().") -> Tensor:
    rank = input._array.ndim
    if rank == 1:
        raise errors.runtime(
            f"tensor.{name.removeprefix('Tensor.')} is only supported on matrices or batches of matrices. Got 1-D "
            "tensor."
        )
    if not rank:
        warn(f"{name} is deprecated on 0-D tensors. {instead}")
        return input
    return transpose(input, -2, -1)


def plane_transposed(input: Tensor) -> Tensor:
    """A matrix with rows and columns exchanged: `x.H`, of real tensors.

    >>> import engine as torch
    >>> torch.zeros(2, 3).H.shape
    torch.Size([3, 2])
    """
    rank = input._array.ndim
    if rank not in (0, 2):
        words = f"Got {rank}-D tensor." + (" For batches of matrices, consider using tensor.mH" if rank > 2 else "")
        raise errors.runtime(f"tensor.H is only supported on matrices (2-D tensors). {words}")
    if not rank:
        warn("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
        return input
    return transpose(input, 0, 1)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged: `transpose` under numpy's name.

    Shapes: (*, N, *, M, *) -> (*, M, *, N, *).  Raises IndexError where there is no such dimension.
    Source: torch.swapaxes.

    >>> import engine as torch
    >>> torch.swapaxes(torch.ones(2, 3, 4), 0, 2).shape
    torch.Size([4, 3, 2])
    """
    return transpose(input, axis0, axis1)


swapdims = transpose


moveaxis = movedim


METHODS = ("transpose", "swapaxes", "permute", "movedim", "t", "swapdims", "moveaxis", "adjoint")
"""Functions that are methods of Tensor too."""
