"""Special functions with arguments beside the tensor; torch.special has all of them under its own names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...arrays import errors
from ...ops import elementwise as el
from ...ops import scalar
from ...ops import special as sp
from ...tensor.tensor import Tensor
from ..calls.check import combination, need_tensor
from ..calls.examples import TWO, with_example

__all__ = ["logit", "mvlgamma", "polygamma", "xlogy"]


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; with `eps`, of x kept between eps and 1 - eps.

    Shapes: (*) -> (*).  Source: torch.logit.

    >>> import engine as torch
    >>> torch.logit(torch.tensor([0.5, 0.75]))
    tensor([0.0000, 1.0986])
    """
    need_tensor(input, "logit")
    return sp.logit(input, eps=eps)


def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma.

    Shapes: (*) -> (*).  Raises RuntimeError for a negative n.  Source: torch.polygamma.

    >>> import engine as torch
    >>> torch.polygamma(1, torch.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])
    """
    if not isinstance(n, int):
        raise TypeError(f"polygamma(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    need_tensor(input, "polygamma", position=2)
    if n < 0:
        raise errors.runtime("polygamma(n, x) does not support negative n.")
    return sp.polygamma(input, n=n)


def polygamma_method(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma."""
    return polygamma(n, self)


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p.

    Shapes: (*) -> (*).  Source: torch.mvlgamma.

    >>> import engine as torch
    >>> torch.mvlgamma(torch.tensor([1.5, 2.0]), 2)
    tensor([0.4516, 0.4516])
    """
    need_tensor(input, "mvlgamma")
    if p < 1:
        raise errors.runtime("p has to be greater than or equal to 1")
    return sp.mvlgamma(input, p=p)


def xlogy(input: Any, other: Any) -> Tensor:
    """input * log(other), and 0 where input is 0.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.xlogy.

    >>> import engine as torch
    >>> torch.xlogy(torch.tensor([0.0, 2.0]), torch.tensor([0.0, 1.0]))
    tensor([0., 0.])
    """
    if not isinstance(other, Tensor):
        if not isinstance(input, Tensor) or not isinstance(other, (int, float)):
            raise combination("xlogy", input, other)
        return sp.xlogy_number(input, other=other)
    if not isinstance(input, Tensor):
        return sp.xlogy_of_number(other, self=input)
    return sp.xlogy(input, other)


def of_one(op: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """An op of one tensor as torch.special's function."""

    def function(input: Tensor) -> Tensor:
        need_tensor(input, f"special_{name}")
        return op(input)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_example(f"torch.special.{name}, elementwise.", f"special.{name}")
    return function


def of_two(
    op: Callable[..., Any], of_number: Callable[..., Any], with_number: Callable[..., Any], name: str
) -> Callable[..., Tensor]:
    """An op of two tensors, or of a tensor and a number, as torch.special's function."""

    def function(input: Any, other: Any) -> Tensor:
        if not isinstance(input, Tensor) and not isinstance(other, Tensor):
            raise combination(f"special_{name}", input, other)
        if not isinstance(input, Tensor):
            return of_number(other, self=input)
        if not isinstance(other, Tensor):
            return with_number(input, other=other)
        return op(input, other)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_example(f"torch.special.{name}, elementwise.", f"special.{name}", shapes=TWO.format(""))
    return function


def ndtr(input: Tensor) -> Tensor:
    """The area under the normal distribution left of x: (1 + erf(x / sqrt 2)) / 2.

    Shapes: (*) -> (*).  Source: torch.special.ndtr.

    >>> import engine as torch
    >>> torch.special.ndtr(torch.tensor([-1.0, 0.0]))
    tensor([0.1587, 0.5000])
    """
    need_tensor(input, "special_ndtr")
    scaled = el.erf(scalar.mul_number(input if input.is_floating_point() else input.float(), other=math.sqrt(0.5)))
    return scalar.mul_number(scalar.add_number(scaled, other=1), other=0.5)


METHODS = ("logit", "mvlgamma", "xlogy")
"""Functions that are methods of Tensor too."""
