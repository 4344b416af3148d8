"""The largest and the smallest elements, and where they are."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...ops import choice as ch
from ...ops import reduction as rd
from ...tensor.tensor import Tensor
from ..calls.check import combination, need_tensor, some_dims
from ..calls.named_results import pair
from ..calls.out import takes_out

__all__ = ["amax", "amin", "argmax", "argmin", "max", "min"]

max_pair, min_pair = pair("max"), pair("min")


def _filled_dim(name: str, input: Tensor, dim: Any) -> Any:
    """The dimension(s), checked to have elements."""
    dims = some_dims(dim, input._array.ndim)
    for d in dims if isinstance(dims, tuple) else (dims,):
        if not input._array.shape[d]:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    return dims


def _nonempty(name: str, input: Tensor) -> None:
    if not input._array.size:
        raise errors.runtime(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
            "the 'dim' argument."
        )


def _extreme(name: str, input: Any, other: Any, keepdim: bool, ops: tuple[Any, Any, Any], pair: Any) -> Any:
    whole, along, between = ops
    if not isinstance(input, Tensor) and other is not None:
        raise combination(name, input, other)
    need_tensor(input, name)
    if other is None:
        _nonempty(name, input)
        return whole(input)
    if isinstance(other, Tensor):
        return between(input, other)
    dims = _filled_dim(name, input, other)
    return pair(*along(input, 0 if dims == () else dims, keepdim))


@takes_out
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The largest element (ties share the gradient), along `dim` (values, indices) of the first, or of two tensors.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *), (*, *), with `keepdim` (*, 1, *), (*, 1, *); two tensors (*),
    (*) -> (*), broadcast.  Raises IndexError where there is no dimension `dim`.  Source: torch.max.

    >>> import engine as torch
    >>> torch.max(torch.tensor([1.0, 5.0, 3.0]))
    tensor(5.)
    """
    ops = (rd.max_all, rd.max_dim, ch.maximum)
    return _extreme("max", input, dim if other is None else other, keepdim, ops, max_pair)


@takes_out
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element (ties share the gradient), along `dim` (values, indices) of the first, or of two tensors.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *), (*, *), with `keepdim` (*, 1, *), (*, 1, *); two tensors (*),
    (*) -> (*), broadcast.  Raises IndexError where there is no dimension `dim`.  Source: torch.min.

    >>> import engine as torch
    >>> torch.min(torch.tensor([4.0, 1.0, 3.0]))
    tensor(1.)
    """
    ops = (rd.min_all, rd.min_dim, ch.minimum)
    return _extreme("min", input, dim if other is None else other, keepdim, ops, min_pair)


@takes_out
def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The largest element over `dim`; ties share the gradient.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`, or nothing along it.  Source: torch.amax.

    >>> import engine as torch
    >>> torch.amax(torch.tensor([[1, 5], [7, 2]]), 1)
    tensor([5, 7])
    """
    return _amount("amax", rd.amax, input, () if dim is None else dim, keepdim)


@takes_out
def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The smallest element over `dim`; ties share the gradient.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`, or nothing along it.  Source: torch.amin.

    >>> import engine as torch
    >>> torch.amin(torch.tensor([[1, 5], [7, 2]]), 1)
    tensor([1, 2])
    """
    return _amount("amin", rd.amin, input, () if dim is None else dim, keepdim)


def _amount(name: str, op: Any, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    need_tensor(input, name)
    dim = () if dim is None else dim
    if dim == ():
        _nonempty(name, input)
    return op(input, dim=_filled_dim(name, input, dim), keepdim=keepdim)


def _place(name: str, op: Any, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    need_tensor(input, name)
    if input.dtype.name == "bool":
        raise errors.runtime(f"{name}(): does not support bool input")
    if dim is None:
        if not input._array.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        return op(input, dim=None, keepdim=keepdim)
    dims = _filled_dim(name, input, dim)
    return op(input, dim=None if dims == () else dims, keepdim=keepdim)


@takes_out
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the largest element, the first among ties.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.argmax.

    >>> import engine as torch
    >>> torch.argmax(torch.tensor([1, 5, 3]))
    tensor(1)
    """
    return _place("argmax", rd.argmax, input, dim, keepdim)


@takes_out
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the smallest element, the first among ties.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.argmin.

    >>> import engine as torch
    >>> torch.argmin(torch.tensor([4, 1, 3]))
    tensor(1)
    """
    return _place("argmin", rd.argmin, input, dim, keepdim)


METHODS = ("max", "min", "amax", "amin", "argmax", "argmin")
"""Functions that are methods of Tensor too."""
