"""Several distributions read as one of more dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.size import Size
from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraint
from .distribution import Distribution, sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """The last dimensions of a batch as parts of one event: their log-probabilities are summed.

    Raises ValueError for more dimensions than the batch has.  Source: torch.distributions.Independent.

    >>> import engine as torch
    >>> torch.distributions.Independent(torch.distributions.Normal(torch.zeros(2, 3), 1.0), 1).event_shape
    torch.Size([3])
    """

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        base, count = base_distribution, reinterpreted_batch_ndims
        if count > len(base.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {count} vs {len(base.batch_shape)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base, count
        shape = (*base.batch_shape, *base.event_shape)
        batch_rank = len(base.batch_shape) - count
        super().__init__(shape[:batch_rank], shape[batch_rank:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # a constant of the class elsewhere
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]  # a constant of the class elsewhere
        return self.base_dist.has_enumerate_support and self.reinterpreted_batch_ndims == 0

    @constraints.dependent_property
    def support(self) -> Constraint:
        constraint, count = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(constraint, count) if count else constraint

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        shape = Size(batch_shape)
        new.base_dist = self.base_dist.expand((*shape, *self._event_shape[: self.reinterpreted_batch_ndims]))
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        Distribution.__init__(new, shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def summed(self, value: Tensor) -> Tensor:
        """The sum over the dimensions that belong to the event."""
        return sum_rightmost(value, self.reinterpreted_batch_ndims)

    def log_prob(self, value: Tensor) -> Tensor:
        return self.summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self.summed(self.base_dist.entropy())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
