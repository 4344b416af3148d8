"""Several distributions read as one of more dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from ..tensor import Tensor
from .constraints import Constraint
from .distribution import Distribution

__all__ = ["Independent"]


class Independent(Distribution):
    """The last dimensions of a batch as parts of one event: their log-probabilities are summed.

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
        kept = len(base.batch_shape) - count
        super().__init__(shape[:kept], shape[kept:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # a constant of the class elsewhere
        return self.base_dist.has_rsample

    @property
    def support(self) -> Constraint:
        return self.base_dist.support

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

    def summed(self, value: Tensor) -> Tensor:
        """The sum over the dimensions that belong to the event."""
        count = self.reinterpreted_batch_ndims
        return value if count == 0 else value.reshape((*value.shape[: value.dim() - count], -1)).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        return self.summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self.summed(self.base_dist.entropy())

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
