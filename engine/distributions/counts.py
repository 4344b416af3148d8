"""Distributions over numbers of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..api.creation.filled import zeros_like
from ..api.random.drawing import poisson
from ..arrays import array as arrays
from ..nn.functional import binary_cross_entropy_with_logits
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraints
from .distribution import Distribution, together
from .odds import ByOdds

__all__ = ["Geometric", "Poisson"]


class Poisson(Distribution):
    """How often something happens that happens `rate` times on average.

    Raises ValueError for a negative rate.  Source: torch.distributions.Poisson.

    >>> import engine as torch
    >>> torch.distributions.Poisson(2.0).log_prob(torch.tensor(0.0))
    tensor(-2.)
    """

    arg_constraints: ClassVar[Constraints] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        rate, value = together(self.rate, value)
        made: Tensor = value.xlogy(rate) - rate - (value + 1).lgamma()
        return made


class Geometric(ByOdds):
    """How often something fails before it succeeds, which it does with probability `probs` (log-odds `logits`).

    Raises ValueError where both are given, or none.  Source: torch.distributions.Geometric.

    >>> import engine as torch
    >>> torch.distributions.Geometric(torch.tensor(0.25)).mean
    tensor(3.)
    """

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        value = self._param
        if self._validate_args and probs is not None and not (value > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to be positive but found invalid values:\n{value.data[~(value > 0)]}"
            )

    @property
    def mean(self) -> Tensor:
        made: Tensor = 1.0 / self.probs - 1.0
        return made

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        made: Tensor = (1.0 / self.probs - 1.0) / self.probs
        return made

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            least = float(arrays.xp.finfo(self.probs._array.dtype).tiny)
            drawn = self.probs.new_empty(self._extended_shape(sample_shape)).uniform_(least, 1)
            made: Tensor = (drawn.log() / (-self.probs).log1p()).floor()
            return made

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value, probs = together(value, self.probs)
        probs = probs.clone()
        probs[probs.eq(1) & value.eq(0)] = 0
        made: Tensor = value * (-probs).log1p() + self.probs.log()
        return made

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
