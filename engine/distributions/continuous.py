"""Distributions with a density."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..api.creation.fills import full, zeros_like
from ..api.random.draws import normal, rand
from ..namespaces import linalg
from ..ops import elementwise as el
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraint, Constraints
from .distribution import Distribution, lazy, together

__all__ = ["Cauchy", "Exponential", "Laplace", "MultivariateNormal", "Normal", "Uniform"]


def _standard(like: Tensor, shape: Sequence[int]) -> Tensor:
    return like.new_empty(shape).normal_()


class _LocationScale(Distribution):
    """A distribution that is symmetric around `loc`, where it is highest, with a width of `scale`."""

    arg_constraints: ClassVar[Constraints] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    mode = mean


class Normal(_LocationScale):
    """The bell curve around `loc`, `scale` wide.

    Shapes: loc and scale (*), broadcast -> batch (*).  Raises ValueError for a scale that is not positive.
    Source: torch.distributions.Normal.

    >>> import engine as torch
    >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-0.9189)
    """

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        result: Tensor = self.loc + _standard(self.loc, self._extended_shape(sample_shape)) * self.scale
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        spread = self.scale**2
        result: Tensor = -((value - self.loc) ** 2) / (2 * spread) - self.scale.log() - math.log(math.sqrt(2 * math.pi))
        return result

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        result: Tensor = 0.5 * (1 + el.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))
        return result

    def icdf(self, value: Tensor) -> Tensor:
        result: Tensor = self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)
        return result

    def entropy(self) -> Tensor:
        result: Tensor = 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()
        return result


class Uniform(Distribution):
    """Any value from `low` to `high`, with equal probability.

    Shapes: low and high (*), broadcast -> batch (*).  Raises ValueError where low is not below high.
    Source: torch.distributions.Uniform.

    >>> import engine as torch
    >>> torch.distributions.Uniform(0.0, 4.0).mean
    tensor(2.)
    """

    has_rsample = True

    @property
    def arg_constraints(self) -> Constraints:  # type: ignore[override]  # a constant elsewhere
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = together(low, high)
        super().__init__(self.low.shape, (), validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        uniform = rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + uniform * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        result: Tensor = inside.log() - (self.high - self.low).log()
        return result

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        result: Tensor = ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)
        return result

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        result: Tensor = (self.high - self.low).log()
        return result


class Exponential(Distribution):
    """The time until an event that occurs at a `rate`.

    Shapes: rate (*) -> batch (*).  Raises ValueError for a rate that is not positive.
    Source: torch.distributions.Exponential.

    >>> import engine as torch
    >>> torch.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Constraints] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        result: Tensor = self.rate.reciprocal()
        return result

    stddev = mean

    @property
    def variance(self) -> Tensor:
        result: Tensor = self.rate.pow(-2)
        return result

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.rate)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        exponential = self.rate.new_empty(self._extended_shape(sample_shape)).exponential_()
        result: Tensor = exponential / self.rate
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        result: Tensor = self.rate.log() - self.rate * value
        return result

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        result: Tensor = 1 - (-self.rate * value).exp()
        return result

    def icdf(self, value: Tensor) -> Tensor:
        result: Tensor = -(-value).log1p() / self.rate
        return result

    def entropy(self) -> Tensor:
        result: Tensor = 1.0 - self.rate.log()
        return result


class Laplace(_LocationScale):
    """Two exponential distributions back to back, around `loc`.

    Shapes: loc and scale (*), broadcast -> batch (*).  Raises ValueError for a scale that is not positive.
    Source: torch.distributions.Laplace.

    >>> import engine as torch
    >>> torch.distributions.Laplace(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-1.6931)
    """

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        uniform = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(-0.5, 0.5)
        result: Tensor = self.loc - self.scale * uniform.sign() * (-2 * uniform.abs()).log1p()
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        result: Tensor = -(2 * self.scale).log() - (value - self.loc).abs() / self.scale
        return result

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = value - self.loc
        result: Tensor = 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()
        return result

    def icdf(self, value: Tensor) -> Tensor:
        away = value - 0.5
        result: Tensor = self.loc - self.scale * away.sign() * (-2 * away.abs()).log1p()
        return result

    def entropy(self) -> Tensor:
        result: Tensor = 1 + (2 * self.scale).log()
        return result


class Cauchy(_LocationScale):
    """A bell-shaped distribution with tails so heavy that it has no mean.

    Shapes: loc and scale (*), broadcast -> batch (*).  Raises ValueError for a scale that is not positive.
    Source: torch.distributions.Cauchy.

    >>> import engine as torch
    >>> torch.distributions.Cauchy(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-1.1447)
    """

    @property
    def mean(self) -> Tensor:
        return full(self._extended_shape(), math.nan, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return full(self._extended_shape(), math.inf, dtype=self.loc.dtype, device=self.loc.device)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        cauchy = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        result: Tensor = self.loc + cauchy * self.scale
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = ((value - self.loc) / self.scale) ** 2
        result: Tensor = -math.log(math.pi) - self.scale.log() - away.log1p()
        return result

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        result: Tensor = ((value - self.loc) / self.scale).atan() / math.pi + 0.5
        return result

    def icdf(self, value: Tensor) -> Tensor:
        result: Tensor = (math.pi * (value - 0.5)).tan() * self.scale + self.loc
        return result

    def entropy(self) -> Tensor:
        result: Tensor = math.log(4 * math.pi) + self.scale.log()
        return result


class MultivariateNormal(Distribution):
    """The normal distribution in several dimensions, from its covariance, the inverse, or a lower Cholesky factor.

    Shapes: loc (*, D), a matrix (*, D, D) -> batch (*), event (D).  Raises ValueError for none or several matrices, or
    one that is not positive definite.  Source: torch.distributions.MultivariateNormal.

    >>> import engine as torch
    >>> torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        stated = {name: value for name, value in matrices.items() if value is not None}
        if len(stated) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = stated.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        shape = (loc.new_empty(()).expand(loc.shape[:-1]) + matrix.new_empty(()).expand(matrix.shape[:-2])).shape
        self.loc = loc.expand((*shape, -1))
        vars(self)[name] = matrix.expand((*shape, -1, -1))
        super().__init__(shape, self.loc.shape[-1:], validate_args)
        self._unbroadcasted_scale_tril = self._factor(name, matrix)

    @staticmethod
    def _factor(name: str, matrix: Tensor) -> Tensor:
        if name == "scale_tril":
            return matrix
        result: Tensor = linalg.cholesky(matrix if name == "covariance_matrix" else linalg.inv(matrix))
        return result

    @lazy
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand((*self._extended_shape(), self._event_shape[0]))

    @lazy
    def covariance_matrix(self) -> Tensor:
        """How the dimensions vary together."""
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand((*self._extended_shape(), self._event_shape[0]))

    @lazy
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        result: Tensor = linalg.inv(self.covariance_matrix)
        return result

    @property
    def mean(self) -> Tensor:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._extended_shape())

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = _standard(self.loc, self._extended_shape(sample_shape))
        result: Tensor = self.loc + (self._unbroadcasted_scale_tril @ noise.unsqueeze(-1)).squeeze(-1)
        return result

    def _log_det(self) -> Tensor:
        """Half of the logarithm of the covariance's determinant."""
        result: Tensor = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = (value - self.loc).unsqueeze(-1)
        turned = linalg.solve_triangular(self._unbroadcasted_scale_tril, away, upper=False).squeeze(-1)
        size = self._event_shape[0]
        result: Tensor = -0.5 * (size * math.log(2 * math.pi) + turned.pow(2).sum(-1)) - self._log_det()
        return result

    def entropy(self) -> Tensor:
        result: Tensor = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det()
        return result if not self._batch_shape else result.expand(self._batch_shape)
