"""Choices made soft: draws between the choices, that gradients go through, the nearer to them the colder it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..api.creation.fills import full_like
from ..api.random.draws import rand
from ..arrays.size import Size
from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraints
from .discrete import Categorical, ProbsOrLogits
from .distribution import Distribution, off_the_ends, together
from .transformed import TransformedDistribution
from .transforms.pointwise import ExpTransform, SigmoidTransform

__all__ = ["ExpRelaxedCategorical", "LogitRelaxedBernoulli", "RelaxedBernoulli", "RelaxedOneHotCategorical"]


class LogitRelaxedBernoulli(ProbsOrLogits):
    """The log-odds of a soft choice between 0 and 1."""

    support = constraints.real

    def __init__(
        self, temperature: Tensor, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._param.shape

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = off_the_ends(self.probs.expand(shape))
        uniform = off_the_ends(rand(shape, dtype=probs.dtype, device=probs.device))
        odds = uniform.log() - (-uniform).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = together(self.logits, value)
        away = logits - value.mul(self.temperature)
        return self.temperature.log() + away - 2 * away.exp().log1p()


class _OfBase(TransformedDistribution):
    """A transformed distribution whose parameters are those of its base distribution."""

    has_rsample = True

    @property
    def temperature(self) -> Tensor:
        """How soft the choice is."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Log-odds, or logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """How probable the choices are."""
        return self.base_dist.probs


class RelaxedBernoulli(_OfBase):
    """A soft choice between 0 and 1.

    Shapes: probs or logits (*) -> batch (*).  Raises ValueError for both or none of them, or outside 0 … 1.
    Source: torch.distributions.RelaxedBernoulli; Maddison et al., 2016.

    >>> import engine as torch
    >>> soft = torch.distributions.RelaxedBernoulli(torch.tensor(1.0), probs=torch.tensor(0.5))
    >>> soft.probs
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self, temperature: Tensor, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(Distribution):
    """The logarithms of a soft choice of a class."""

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Tensor, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """How probable each class is."""
        return self._categorical.probs

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        uniform = off_the_ends(rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits + -((-(uniform.log())).log())) / self.temperature
        result: Tensor = scores - scores.logsumexp(dim=-1, keepdim=True)
        return result

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        count = self._categorical._num_events
        logits, value = together(self.logits, value)
        scale = full_like(self.temperature, float(count)).lgamma() - self.temperature.log().mul(-(count - 1))
        score = logits - value.mul(self.temperature)
        result: Tensor = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale
        return result


class RelaxedOneHotCategorical(_OfBase):
    """A soft choice of a class, as probabilities.

    Shapes: probs or logits (*, C) -> batch (*), event (C).  Raises ValueError for both or none of them, or no simplex.
    Source: torch.distributions.RelaxedOneHotCategorical; Maddison et al., 2016; Jang et al., 2016.

    >>> import engine as torch
    >>> soft = torch.distributions.RelaxedOneHotCategorical(torch.tensor(0.5), probs=torch.tensor([0.5, 0.5]))
    >>> soft.event_shape
    torch.Size([2])
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Tensor, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args)
