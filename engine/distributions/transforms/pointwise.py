"""Maps of samples that act on each element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ...api.creation.fills import full_like
from ...api.shape.joining import broadcast_shapes
from ...arrays import array as arrays
from ...nn.functional import softplus
from ...tensor.tensor import Tensor
from .. import constraints
from ..constraints import Constraint
from ..distribution import Distribution, together
from .transform import Transform

__all__ = [
    "AbsTransform", "AffineTransform", "CumulativeDistributionTransform", "ExpTransform", "PowerTransform",
    "SigmoidTransform", "SoftplusTransform", "TanhTransform",
]  # fmt: skip


class ParameterFree(Transform):
    """One that has no parameters: all of its kind are equal."""

    def _is_as(self, other: object) -> bool:
        return isinstance(other, type(self))


class _IncreasingTransform(ParameterFree):
    bijective = True
    sign = +1


class ExpTransform(_IncreasingTransform):
    """y = exp(x).

    Shapes: (*) -> (*).  Source: torch.distributions.ExpTransform.

    >>> import engine as torch
    >>> torch.distributions.ExpTransform().inv(torch.tensor(1.0))
    tensor(0.)
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class _Broadcast(Transform):
    """One whose parameters may have more dimensions than what it is given."""

    bijective = True
    _shaped: tuple[str, ...] = ()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return broadcast_shapes(shape, *(getattr(getattr(self, name), "shape", ()) for name in self._shaped))

    inverse_shape = forward_shape


class PowerTransform(_Broadcast):
    """y = x ** exponent, of positive numbers.

    Shapes: (*) -> (*), broadcast.  Source: torch.distributions.PowerTransform.

    >>> import engine as torch
    >>> torch.distributions.PowerTransform(torch.tensor(2.0))(torch.tensor(3.0))
    tensor(9.)
    """

    domain = codomain = constraints.positive
    _shaped = ("exponent",)

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = together(exponent)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    @cached_property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _is_as(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()


def least_and_most(like: Tensor) -> dict[str, float]:
    """The bounds that keep a probability off 0 and 1."""
    limits = arrays.xp.finfo(like._array.dtype)
    return {"min": float(limits.tiny), "max": 1.0 - float(limits.eps)}


class SigmoidTransform(_IncreasingTransform):
    """y = 1 / (1 + exp(-x)), kept away from 0 and 1.

    Shapes: (*) -> (*).  Source: torch.distributions.SigmoidTransform.

    >>> import engine as torch
    >>> torch.distributions.SigmoidTransform()(torch.tensor(0.0))
    tensor(0.5000)
    """

    domain = constraints.real
    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return x.sigmoid().clamp(**least_and_most(x))

    def _inverse(self, y: Tensor) -> Tensor:
        y = y.clamp(**least_and_most(y))
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_IncreasingTransform):
    """y = log(1 + exp(x)); above 20, y = x.

    Shapes: (*) -> (*).  Source: torch.distributions.SoftplusTransform.

    >>> import engine as torch
    >>> torch.distributions.SoftplusTransform()(torch.tensor(0.0))
    tensor(0.6931)
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_IncreasingTransform):
    """y = tanh(x).  Large x are rounded to -1 and 1, from which only a cache leads back.

    Shapes: (*) -> (*).  Source: torch.distributions.TanhTransform.

    >>> import engine as torch
    >>> squash = torch.distributions.TanhTransform(cache_size=1)
    >>> squash.inv(squash(torch.tensor(40.0)))
    tensor(40.)
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(ParameterFree):
    """y = abs(x); the inverse gives the positive x.

    Shapes: (*) -> (*).  Source: torch.distributions.AbsTransform.

    >>> import engine as torch
    >>> torch.distributions.AbsTransform()(torch.tensor(-2.0))
    tensor(2.)
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return bool(one == other)
    return bool((one == other).all())


class AffineTransform(_Broadcast):
    """y = loc + scale * x; `event_dim` dimensions are one event.

    Shapes: (*) -> (*), broadcast.  Source: torch.distributions.AffineTransform.

    >>> import engine as torch
    >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.tensor(3.0))
    tensor(7.)
    """

    _shaped = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    codomain = domain

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def _is_as(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _same(self.loc, other.loc) and _same(self.scale, other.scale)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, (int, float)):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Tensor) -> Tensor:
        result: Tensor = self.loc + self.scale * x
        return result

    def _inverse(self, y: Tensor) -> Tensor:
        result: Tensor = (y - self.loc) / self.scale
        return result

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        scale, shape = self.scale, tuple(x.shape)
        stretch = full_like(x, math.log(abs(scale))) if isinstance(scale, (int, float)) else scale.abs().log()
        if self.event_dim:
            stretch = stretch.view((*stretch.shape[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return stretch.expand(shape)


class CumulativeDistributionTransform(Transform):
    """y = the probability of a value below x under a distribution.

    Shapes: (*) -> (*).  Source: torch.distributions.CumulativeDistributionTransform.

    >>> import engine as torch
    >>> D = torch.distributions
    >>> D.CumulativeDistributionTransform(D.Normal(0.0, 1.0))(torch.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Constraint:  # type: ignore[override]  # a constant of other classes
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
