"""Draws written into a tensor that is there.  Source: torch.Tensor."""

from __future__ import annotations

import math
from typing import Any

from ...arrays import array as arrays
from ...arrays import errors
from ...arrays.array import xp
from ...ops import inplace as ip
from ...ops import random_draws as dr
from ...tensor.inplace import apply_inplace
from ...tensor.tensor import Tensor
from ..calls.check import kind
from .draws import IN_UNIT, even, need_float, random_tensor, standard, whole
from .random import generator as stream

__all__: list[str] = []


def _redraw(self: Tensor, name: str, values: Any) -> Tensor:
    draws = random_tensor(xp.asarray(values).astype(self._array.dtype), self)
    return apply_inplace(dr.REDRAWN[name].op, (self, draws), {})


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Write 1 with probability `p` (a number, or a tensor of one for each element), else 0.

    >>> import engine as torch
    >>> torch.zeros(2).bernoulli_(1.0)
    tensor([1., 1.])
    """
    shape = self._array.shape
    if isinstance(p, Tensor):
        chances = arrays.to_numpy(p._array)
        if not ((chances >= 0) & (chances <= 1)).all():
            raise errors.runtime(IN_UNIT)
        values = random_tensor((stream(generator).random(shape) < chances).astype(self._array.dtype), self)
        return apply_inplace(dr.bernoulli_by.op, (self, p, values), {})
    if not 0 <= p <= 1:
        raise errors.runtime(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return _redraw(self, "bernoulli", stream(generator).random(shape) < p)


def _reach(dtype: Any) -> int:
    """One more than the largest integer that `random_` writes: all below are exact in the dtype."""
    if dtype.kind == "b":
        return 2
    if dtype.kind == "f":
        return int(2 ** (xp.finfo(dtype).nmant + 1)) + 1
    return int(xp.iinfo(dtype).max) + int(dtype.itemsize < 8)


NOT_GIVEN: Any = object()  # torch takes None for the upper bound as well


def random_(
    self: Tensor, from_: int | None = None, to: Any = NOT_GIVEN, *, generator: Any = None, **named: int
) -> Tensor:
    """Write even draws from the integers from, ..., to - 1; without bounds from those that the dtype holds exactly.

    >>> import engine as torch
    >>> torch.zeros(2).random_(3, 4)
    tensor([3., 3.])
    """
    dtype, from_ = self._array.dtype, named.get("from", from_)
    name = "random" if from_ is None else "random.to" if to is NOT_GIVEN else "random.from"
    low, high = (0, from_) if to is NOT_GIVEN else (from_ or 0, to)
    if high is None:
        high = _reach(dtype)
    return _redraw(self, name, whole(int(low), int(high), self._array.shape, dtype, generator))


def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Write exponential draws of a rate.

    >>> import engine as torch
    >>> (torch.zeros(9).exponential_(2.0) >= 0).all()
    tensor(True)
    """
    if lambd <= 0:
        raise errors.runtime(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    if not self.is_floating_point():
        raise errors.runtime(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {kind(self)}"
        )
    return _redraw(self, "exponential", stream(generator).exponential(1 / lambd, self._array.shape))


def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Write the numbers of trials with chance `p` until success.

    >>> import engine as torch
    >>> torch.zeros(2).geometric_(1.0 - 1e-9)
    tensor([1., 1.])
    """
    if not 0 < p < 1:
        raise errors.runtime(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return _redraw(self, "geometric", stream(generator).geometric(p, self._array.shape))


def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Tensor:
    """Write draws from a Cauchy distribution.

    >>> import engine as torch
    >>> torch.zeros(2, 3).cauchy_().shape
    torch.Size([2, 3])
    """
    if sigma <= 0:
        raise errors.runtime(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if not self.is_floating_point():
        raise errors.runtime(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {errors.C_NAMES[self.dtype.name]}"
        )
    return _redraw(self, "cauchy", median + sigma * stream(generator).standard_cauchy(self._array.shape))


def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> Tensor:
    """Write draws whose logarithms are normal.

    >>> import engine as torch
    >>> (torch.zeros(9).log_normal_() > 0).all()
    tensor(True)
    """
    if std <= 0:
        raise errors.runtime(f"log_normal_ expects std > 0.0, but found std={std:g}")
    need_float("log_normal_cpu", self._array.dtype)
    return _redraw(self, "log_normal", stream(generator).lognormal(mean, std, self._array.shape))


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Write normal draws.

    >>> import engine as torch
    >>> torch.zeros(2).normal_(3, 0)
    tensor([3., 3.])
    """
    if std < 0:
        raise errors.runtime(f"normal expects std >= 0.0, but found std {std:g}")
    dtype = self._array.dtype
    values = standard(self._array.shape, dtype, generator)
    return apply_inplace(
        ip.redraw_normal.op,
        (self, random_tensor(values * dtype.type(std) + dtype.type(mean), self)), {},
    )  # fmt: skip


def uniform_(self: Tensor, a: float = 0, b: float = 1, *, generator: Any = None, **named: float) -> Tensor:
    """Write uniform draws from [a, b); torch calls the bounds `from` and `to`.

    >>> import engine as torch
    >>> (torch.zeros(9).uniform_(3, 4) >= 3).all()
    tensor(True)
    """
    low, high = named.get("from", a), named.get("to", b)
    if low > high:
        raise errors.runtime(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    dtype = self._array.dtype
    values = even(self._array.shape, dtype, generator) * dtype.type(high - low) + dtype.type(low)
    if math.isfinite(high) and high > low:
        values = xp.minimum(values, xp.nextafter(dtype.type(high), dtype.type(low)))  # rounding may have reached b
    return apply_inplace(ip.redraw_uniform.op, (self, random_tensor(values, self)), {})


METHODS = ("bernoulli_", "random_", "exponential_", "geometric_", "cauchy_", "log_normal_", "normal_", "uniform_")
"""Functions that are methods of Tensor too."""
