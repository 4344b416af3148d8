"""Reductions."""

from __future__ import annotations

import math
from typing import Any

from .. import errors
from ..array import BY_NUMPY, as_numpy_dtype
from ..ops import choice as ch
from ..ops import reduction as rd
from ..ops import shape as sh
from ..slot import warn
from ..tensor import Tensor
from .check import LETTERS, combination, kind, need_tensor, one_dim, some_dims, summed_dtype
from .named import pair
from .out import takes_out, written

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "flip",
    "log_softmax",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "softmax",
    "std",
    "sum",
    "var",
]

DEGREES = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel "
    "divided by output numel)."
)

NOT_GIVEN: Any = object()
"""No `dim` at all: torch names the node of `x.sum()` and of `x.sum(dim=None)` differently."""


def sum(
    input: Any, dim: Any = NOT_GIVEN, keepdim: bool = False, *, dtype: Any = None, out: Any = None, **named: Any
) -> Tensor:
    """The sum of all elements, or over `dim` (one or several).

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.sum.

    >>> import engine as torch
    >>> torch.sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([4., 6.])
    """
    if not isinstance(input, Tensor):
        need_tensor(input, "sum")
    if out is not None:
        return written(out, sum, input, dim, keepdim, dtype=dtype, **named)
    if named:
        keepdim, dim = _numpy_names("sum", named, keepdim, dim)
    which = None if dtype is None else summed_dtype(input, dtype)
    if dim is NOT_GIVEN and not keepdim:
        return rd.sum_all(input) if which is None else rd.sum_all(input, dtype=which)
    dims = some_dims(() if dim is None or dim is NOT_GIVEN else dim, input._array.ndim)
    return rd.sum_dim(input, dims, keepdim, which)


def _numpy_names(function: str, named: dict[str, Any], keepdim: bool, dim: Any) -> tuple[bool, Any]:
    """torch takes numpy's `axis` and `keepdims` too."""
    dim = named.pop("axis", dim)
    keepdim = named.pop("keepdims", keepdim)
    if named:
        given = ", ".join(f"{k}={type(v).__name__}" for k, v in named.items())
        raise TypeError(
            f"{function}() received an invalid combination of arguments - got ({given}, ), but expected one of:"
        )
    return keepdim, dim


def mean(
    input: Tensor, dim: Any = NOT_GIVEN, keepdim: bool = False, *, dtype: Any = None, out: Any = None, **named: Any
) -> Tensor:
    """The mean of all elements, or over `dim`.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.mean.

    >>> import engine as torch
    >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 0)
    tensor([2., 3.])
    """
    need_tensor(input, "mean")
    if out is not None:
        return written(out, mean, input, dim, keepdim, dtype=dtype, **named)
    if named:
        keepdim, dim = _numpy_names("mean", named, keepdim, dim)
    which = as_numpy_dtype(dtype)
    if (which or input._array.dtype).kind != "f":
        what, found = ("Input", kind(input)) if which is None else ("Optional", LETTERS[BY_NUMPY[which].name])
        raise errors.runtime(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point or complex dtype. "
            f"Got: {found}"
        )
    if dim is NOT_GIVEN and not keepdim:
        return rd.mean_all(input) if which is None else rd.mean_all(input, dtype=which)
    dims = some_dims(() if dim is None or dim is NOT_GIVEN else dim, input._array.ndim)
    return rd.mean_dim(input, dims, keepdim, which)


def spread_arguments(
    name: str, input: Tensor, dim: Any, unbiased: bool | None, correction: float | None, keepdim: bool
) -> dict[str, Any]:
    """The static arguments of var, std and their kin, checked."""
    need_tensor(input, name)
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if not input.is_floating_point():
        who = "std and var" if name in ("std", "var") else name
        raise errors.runtime(f"{who} only support floating point and complex dtypes")
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    dims = None if dim is None else some_dims(dim, input._array.ndim)
    if sh.count(input._array.shape, dims) <= correction:
        warn(DEGREES.format(name))
    return {"dim": dims, "correction": correction, "keepdim": keepdim}


@takes_out
def var(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
    correction: float | None = None,
) -> Tensor:  # fmt: skip
    """The variance, divided by n - `correction` (1: the unbiased estimate).

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.var.

    >>> import engine as torch
    >>> torch.var(torch.tensor([1.0, 3.0]))
    tensor(2.)
    """
    return rd.var(input, **spread_arguments("var", input, dim, unbiased, correction, keepdim))


@takes_out
def std(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
    correction: float | None = None,
) -> Tensor:  # fmt: skip
    """The standard deviation, the root of `var`.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.std.

    >>> import engine as torch
    >>> torch.std(torch.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    return rd.std(input, **spread_arguments("std", input, dim, unbiased, correction, keepdim))


@takes_out
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product of all elements, or along `dim`.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.prod.

    >>> import engine as torch
    >>> torch.prod(torch.tensor([2, 3, 4]))
    tensor(24)
    """
    need_tensor(input, "prod")
    which = summed_dtype(input, dtype)
    if dim is None:
        return rd.prod_all(input, dtype=which)
    return rd.prod_dim(input, one_dim(dim, input._array.ndim), keepdim, which)


# -- extremes -----------------------------------------------------------------------------------------------------


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
    """The place of the largest element, the first among ties.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.argmax.

    >>> import engine as torch
    >>> torch.argmax(torch.tensor([1, 5, 3]))
    tensor(1)
    """
    return _place("argmax", rd.argmax, input, dim, keepdim)


@takes_out
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The place of the smallest element, the first among ties.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.argmin.

    >>> import engine as torch
    >>> torch.argmin(torch.tensor([4, 1, 3]))
    tensor(1)
    """
    return _place("argmin", rd.argmin, input, dim, keepdim)


def _truth(name: str, op: Any, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    need_tensor(input, name)
    dims = None if dim is None else some_dims(dim, input._array.ndim)
    if dim is not None and not isinstance(dim, int) and not len(dim) and input._array.ndim:
        return ch.ne(input, 0)
    found: Tensor = op(input, dim=dims, keepdim=keepdim)
    return found.to(input.dtype) if input.dtype.name == "uint8" else found


@takes_out
def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are nonzero.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.all.

    >>> import engine as torch
    >>> torch.all(torch.tensor([True, False]))
    tensor(False)
    """
    return _truth("all", rd.all_true, input, dim, keepdim)


@takes_out
def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether an element is nonzero.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.any.

    >>> import engine as torch
    >>> torch.any(torch.tensor([True, False]))
    tensor(True)
    """
    return _truth("any", rd.any_true, input, dim, keepdim)


# -- exponentials, norms -----------------------------------------------------------------------------------


@takes_out
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """log(sum(exp(input))) over `dim`, without overflow.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.logsumexp.

    >>> import engine as torch
    >>> torch.logsumexp(torch.zeros(2), 0)
    tensor(0.6931)
    """
    need_tensor(input, "logsumexp")
    return rd.logsumexp(input, some_dims(dim, input._array.ndim), keepdim)


def _normalised(name: str, op: Any, input: Tensor, dim: int | None, dtype: Any) -> Tensor:
    need_tensor(input, name)
    if dim is None:
        rank = input._array.ndim
        dim = 0 if rank in (0, 1, 3) else 1
    if dtype is not None:
        input = input.to(dtype)
    if not input.is_floating_point():
        raise NotImplementedError(f"\"{name}_lastdim_kernel_impl\" not implemented for '{kind(input)}'")
    return op(input, one_dim(dim, input._array.ndim))


@takes_out
def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.softmax.

    >>> import engine as torch
    >>> torch.softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return _normalised("softmax", rd.softmax, input, dim, dtype)


@takes_out
def log_softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """x - log(sum(exp(x))) along `dim`.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.log_softmax.

    >>> import engine as torch
    >>> torch.log_softmax(torch.zeros(2), 0)
    tensor([-0.6931, -0.6931])
    """
    return _normalised("log_softmax", rd.log_softmax, input, dim, dtype)


def vector_norm(x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """(sum |x|^ord)^(1/ord), also for ord 0 (how many are not zero) and inf (the largest)."""
    need_tensor(x, "linalg_vector_norm", "self")
    if not x.is_floating_point():
        raise errors.runtime(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {kind(x)}")
    which = as_numpy_dtype(dtype)
    if which is not None and which.kind != "f":
        raise errors.runtime(
            f"linalg.vector_norm: dtype should be floating point or complex, but got {LETTERS[BY_NUMPY[which].name]}"
        )
    dims = None if dim is None else some_dims(dim, x._array.ndim)
    if ord < 0 or math.isinf(ord):
        _need_elements(x, ord, dims)
    return rd.vector_norm(x, ord=float(ord), dim=dims, keepdim=keepdim, dtype=which)


def _need_elements(x: Tensor, ord: float, dims: Any) -> None:
    """Raise torch's error where a norm looks for an extreme of nothing."""
    reduced = range(x._array.ndim) if dims is None else dims if isinstance(dims, tuple) else (dims,)
    for d in reduced:
        if not x._array.shape[d]:
            where = (
                "an empty tensor because the"
                if len(reduced) == x._array.ndim
                else (f"the dimension {d}because this dimension is empty and the")
            )
            raise errors.runtime(
                f"linalg.vector_norm cannot compute the {ord:g} norm on {where} operation does not have an identity"
            )


def flip(input: Tensor, *along: Any, dims: Any = None) -> Tensor:
    """The elements in the opposite order along `dims`.

    Shapes: (*) -> (*).  Raises IndexError where there is no such dimension.  Source: torch.flip.

    >>> import engine as torch
    >>> torch.flip(torch.arange(3), (0,))
    tensor([2, 1, 0])
    """
    given = dims if dims is not None else along
    if dims is None and not along:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    given = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    for place, d in enumerate(given if isinstance(given, (tuple, list)) else (given,)):
        if not hasattr(d, "__index__"):
            raise TypeError(
                "flip(): argument 'dims' (position 1) must be tuple of ints, but found element of type "
                f"{type(d).__name__} at pos {place}"
            )
    found = tuple(one_dim(d, input._array.ndim) for d in given)
    for d in found:
        if found.count(d) > 1:
            raise errors.runtime(f"dim {d} appears multiple times in the list of dims")
    return sh.flip(input, found)


METHODS = (
    "sum", "mean", "var", "std", "prod", "max", "min", "amax", "amin", "argmax", "argmin", "all", "any",
    "logsumexp", "softmax", "log_softmax", "flip",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
