"""Reductions: sums, means, products, spreads and truth; and softmax, which divides by a sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...arrays import errors
from ...arrays.array import BY_NUMPY, as_numpy_dtype
from ...arrays.session import warn
from ...ops import choice as ch
from ...ops import reduction as rd
from ...ops import shape as sh
from ...tensor.tensor import Tensor
from ..calls.check import LETTERS, kind, need_tensor, one_dim, some_dims, summed_dtype
from ..calls.out import result_in, takes_out

__all__ = [
    "all",
    "any",
    "log_softmax",
    "logsumexp",
    "mean",
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
        return result_in(out, sum, input, dim, keepdim, dtype=dtype, **named)
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
        types = ", ".join(f"{k}={type(v).__name__}" for k, v in named.items())
        raise TypeError(
            f"{function}() received an invalid combination of arguments - got ({types}, ), but expected one of:"
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
        return result_in(out, mean, input, dim, keepdim, dtype=dtype, **named)
    if named:
        keepdim, dim = _numpy_names("mean", named, keepdim, dim)
    which = as_numpy_dtype(dtype)
    if (which or input._array.dtype).kind != "f":
        what, actual = ("Input", kind(input)) if which is None else ("Optional", LETTERS[BY_NUMPY[which].name])
        raise errors.runtime(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point or complex dtype. "
            f"Got: {actual}"
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


def _truth(name: str, op: Any, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    need_tensor(input, name)
    dims = None if dim is None else some_dims(dim, input._array.ndim)
    if isinstance(dim, Sequence) and not dim and input._array.ndim:
        return ch.ne(input, 0)
    result: Tensor = op(input, dim=dims, keepdim=keepdim)
    return result.to(input.dtype) if input.dtype.name == "uint8" else result


@takes_out
def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether all elements are nonzero.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.all.

    >>> import engine as torch
    >>> torch.all(torch.tensor([True, False]))
    tensor(False)
    """
    return _truth("all", rd.all_true, input, dim, keepdim)


@takes_out
def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether an element is nonzero.

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *); with `keepdim` (*, D, *) -> (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.any.

    >>> import engine as torch
    >>> torch.any(torch.tensor([True, False]))
    tensor(True)
    """
    return _truth("any", rd.any_true, input, dim, keepdim)


# -- exponentials -----------------------------------------------------------------------------------


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


METHODS = ("sum", "mean", "var", "std", "prod", "all", "any", "logsumexp", "softmax", "log_softmax")
"""Functions that are methods of Tensor too."""
