"""Distributions that are maps of simpler ones."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..api.creation.creation import as_tensor
from ..api.creation.fills import full, full_like, ones_like, zeros_like
from ..api.math.choice import where
from ..arrays import array as arrays
from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraint, Constraints
from .continuous import Cauchy, Exponential, Normal, Uniform
from .distribution import Distribution, lazy, together
from .transformed import TransformedDistribution
from .transforms.eventwise import StickBreakingTransform
from .transforms.pointwise import AbsTransform, AffineTransform, ExpTransform, PowerTransform
from .transforms.transform import Transform

__all__ = ["Gumbel", "HalfCauchy", "HalfNormal", "LogNormal", "LogisticNormal", "Pareto", "Weibull"]

EULER = 0.57721566490153286060
"""The mean of the standard Gumbel distribution."""


class LogNormal(TransformedDistribution):
    """exp(x) of a normal x.

    Shapes: loc and scale (*), broadcast -> batch (*).  Raises ValueError for a scale that is not positive.
    Source: torch.distributions.LogNormal.

    >>> import engine as torch
    >>> torch.distributions.LogNormal(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints: ClassVar[Constraints] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of x."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of x."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Probabilities obtained by stick-breaking from a normal vector.

    Shapes: loc and scale (*, D), broadcast -> batch (*), event (D + 1).  Raises ValueError for a scale that is not
    positive.  Source: torch.distributions.LogisticNormal.

    >>> import engine as torch
    >>> torch.distributions.LogisticNormal(torch.zeros(2), torch.ones(2)).event_shape
    torch.Size([3])
    """

    arg_constraints: ClassVar[Constraints] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base: Distribution = Normal(loc, scale, validate_args)
        base = base if base.batch_shape else base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the vector."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the vector."""
        return self.base_dist.base_dist.scale


class _Half(TransformedDistribution):
    """abs(x) of an x that is symmetric around 0."""

    arg_constraints: ClassVar[Constraints] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    @property
    def scale(self) -> Tensor:
        """How wide x is."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        result: Tensor = 2 * self.base_dist.cdf(value) - 1
        return result

    def icdf(self, value: Tensor) -> Tensor:
        result: Tensor = self.base_dist.icdf((value + 1) / 2)
        return result

    def entropy(self) -> Tensor:
        result: Tensor = self.base_dist.entropy() - math.log(2)
        return result


class HalfNormal(_Half):
    """abs(x) of a normal x around 0.

    Shapes: scale (*) -> batch (*).  Raises ValueError for a scale that is not positive.
    Source: torch.distributions.HalfNormal.

    >>> import engine as torch
    >>> torch.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """abs(x) of a Cauchy x around 0.

    Shapes: scale (*) -> batch (*).  Raises ValueError for a scale that is not positive.
    Source: torch.distributions.HalfCauchy.

    >>> import engine as torch
    >>> torch.distributions.HalfCauchy(1.0).log_prob(torch.tensor(1.0))
    tensor(-1.1447)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Tensor:
        return full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return super().log_prob(as_tensor(value, dtype=self.scale.dtype, device=self.scale.device))


class Gumbel(TransformedDistribution):
    """The largest of many draws.

    Shapes: loc and scale (*), broadcast -> batch (*).  Raises ValueError for a scale that is not positive.
    Source: torch.distributions.Gumbel.

    >>> import engine as torch
    >>> torch.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints: ClassVar[Constraints] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        limits = arrays.xp.finfo(self.loc._array.dtype)
        low, high = full_like(self.loc, float(limits.tiny)), full_like(self.loc, 1 - float(limits.eps))
        falling = AffineTransform(0, -ones_like(self.scale))
        maps = [ExpTransform().inv, falling, ExpTransform().inv, AffineTransform(loc, -self.scale)]
        super().__init__(Uniform(low, high, validate_args), maps, validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = (self.loc - value) / self.scale
        return (away - away.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        result: Tensor = (math.pi / math.sqrt(6)) * self.scale
        return result

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        result: Tensor = self.scale.log() + (1 + EULER)
        return result


class Pareto(TransformedDistribution):
    """Values larger than `scale`, with a power-law tail of exponent `alpha`.

    Shapes: scale and alpha (*), broadcast -> batch (*).  Raises ValueError for one that is not positive.
    Source: torch.distributions.Pareto.

    >>> import engine as torch
    >>> torch.distributions.Pareto(1.0, 3.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar[Constraints] = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = together(scale, alpha)
        maps = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(Exponential(self.alpha, validate_args), maps, validate_args)

    @property
    def mean(self) -> Tensor:
        power = self.alpha.clamp(min=1)
        return power * self.scale / (power - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        power = self.alpha.clamp(min=2)
        return self.scale.pow(2) * power / ((power - 1).pow(2) * (power - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        result: Tensor = (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
        return result


class Weibull(TransformedDistribution):
    """The time until a failure of something that wears out (`concentration` above 1) or gets more reliable (below 1).

    Shapes: scale and concentration (*), broadcast -> batch (*).  Raises ValueError for one that is not positive.
    Source: torch.distributions.Weibull.

    >>> import engine as torch
    >>> torch.distributions.Weibull(1.0, 1.0).mean
    tensor(1.)
    """

    arg_constraints: ClassVar[Constraints] = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = together(scale, concentration)
        maps: list[Transform] = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(Exponential(ones_like(self.scale), validate_args), maps, validate_args)

    @lazy
    def concentration_reciprocal(self) -> Tensor:
        """1 / concentration."""
        result: Tensor = self.concentration.reciprocal()
        return result

    @property
    def mean(self) -> Tensor:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Tensor:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        once, twice = (1 + self.concentration_reciprocal).lgamma(), (1 + 2 * self.concentration_reciprocal).lgamma()
        return self.scale.pow(2) * (twice.exp() - (2 * once).exp())

    def entropy(self) -> Tensor:
        result: Tensor = EULER * (1 - self.concentration_reciprocal)
        return result + (self.scale * self.concentration_reciprocal).log() + 1
