"""A distribution that draws which of several others draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.size import Size
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraint
from .discrete import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture of the last batch dimension of `component_distribution`, weighted by `mixture_distribution`.

    Raises ValueError where that is no Categorical, and where their shapes do not go together.
    Source: torch.distributions.

    >>> import engine as torch
    >>> D = torch.distributions
    >>> parts = D.Normal(torch.tensor([-1.0, 1.0]), 1.0)
    >>> D.MixtureSameFamily(D.Categorical(torch.ones(2)), parts).log_prob(torch.tensor(0.0))
    tensor(-1.4189)
    """

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        choice, parts = mixture_distribution, component_distribution
        if not isinstance(choice, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(parts, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        shape = Size(tuple(parts.batch_shape)[:-1])
        if any(a != b and 1 not in (a, b) for a, b in zip(choice.batch_shape[::-1], shape[::-1], strict=False)):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({choice.batch_shape}) is not compatible with "
                f"`component_distribution.batch_shape`({shape})"
            )
        count, have = choice.logits.shape[-1], parts.batch_shape[-1]
        if count != have:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` "
                f"({have})"
            )
        self._mixture_distribution, self._component_distribution, self._num_component = choice, parts, count
        self._event_ndims = len(parts.event_shape)
        super().__init__(shape, parts.event_shape, validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        shape = Size(batch_shape)
        new._component_distribution = self._component_distribution.expand((*shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        Distribution.__init__(new, shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Constraint:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which part draws."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The parts."""
        return self._component_distribution

    def _probs(self) -> Tensor:
        """How probable the parts are, in the shape of their draws."""
        probs = self._mixture_distribution.probs
        own = len(self._mixture_distribution.batch_shape)
        more = 0 if own == 1 else len(self._batch_shape) - own
        return probs.reshape((*probs.shape[:-1], *(1,) * more, probs.shape[-1], *(1,) * self._event_ndims))

    def _beside(self, value: Tensor) -> Tensor:
        """A value for all parts."""
        return value.unsqueeze(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return (self._probs() * self._component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        dim, parts = -1 - self._event_ndims, self._component_distribution
        within = (self._probs() * parts.variance).sum(dim)
        return within + (self._probs() * (parts.mean - self._beside(self.mean)).pow(2.0)).sum(dim)

    def cdf(self, value: Tensor) -> Tensor:
        values = self._component_distribution.cdf(self._beside(value))
        return (values * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        values = self._component_distribution.log_prob(self._beside(value))
        return (values + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            dim, event = len(sample_shape) + len(self._batch_shape), tuple(self._event_shape)
            choice = self._mixture_distribution.sample(sample_shape)
            places = choice.reshape((*choice.shape, *(1,) * (len(event) + 1)))
            places = places.repeat((*(1,) * choice.dim(), 1, *event))
            return self._component_distribution.sample(sample_shape).gather(dim, places).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
