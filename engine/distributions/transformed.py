"""A distribution whose draws are transformed draws of another one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

from ..arrays.size import Size
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraint
from .distribution import Distribution, sum_rightmost
from .independent import Independent
from .transforms.transform import ComposeTransform, Transform

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Draws of `base_distribution`, transformed by each of `transforms` in turn.

    log_prob(y) is that of x, which the maps make y of, less the logarithm of how much they stretch there.  Raises
    ValueError for what is no Transform, and where a draw has too few dimensions for the maps.

    Source: torch.distributions.TransformedDistribution.

    >>> import engine as torch
    >>> D = torch.distributions
    >>> D.TransformedDistribution(D.Normal(0.0, 1.0), D.TanhTransform()).log_prob(torch.tensor(0.5))
    tensor(-0.7821)
    """

    def __init__(
        self, base_distribution: Distribution, transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self.transforms = _as_list(transforms)
        base = base_distribution
        shape, within = Size((*base.batch_shape, *base.event_shape)), len(base.event_shape)
        chain = ComposeTransform(self.transforms)
        needed, result_dim = chain.domain.event_dim, chain.codomain.event_dim
        if len(shape) < needed:
            raise ValueError(f"base_distribution needs to have shape with size at least {needed}, but got {shape}.")
        after = chain.forward_shape(shape)
        before = chain.inverse_shape(after)
        if tuple(before) != tuple(shape):
            base = base.expand(before[: len(before) - within])
        self.base_dist: Any = Independent(base, needed - within) if needed > within else base
        cut = len(after) - max(result_dim, within + result_dim - needed)
        super().__init__(after[:cut], after[cut:], validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        kind = next(one for one in type(self).__mro__ if one.__module__.startswith(__package__))
        new = self._get_checked_instance(kind, _instance)
        shape = Size(batch_shape)
        for name in self.arg_constraints.keys() & vars(self).keys():
            vars(new)[name] = vars(self)[name].expand(shape)
        before = ComposeTransform(self.transforms).inverse_shape(Size((*shape, *self._event_shape)))
        new.base_dist = self.base_dist.expand(before[: len(before) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        Distribution.__init__(new, shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Constraint:
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        extra = len(self._event_shape) - last.event_dim
        return constraints.independent(last, extra) if extra > 0 else last

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # a constant of the class elsewhere
        return self.base_dist.has_rsample

    def _changed(self, value: Tensor) -> Tensor:
        return reduce(lambda x, transform: transform(x), self.transforms, value)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._changed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._changed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        event_dim = len(self._event_shape)
        log_det: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            stretch = transform.log_abs_det_jacobian(x, y)
            log_det = log_det - sum_rightmost(stretch, event_dim - transform.domain.event_dim)
            y = x
        result: Tensor = log_det + sum_rightmost(
            self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape)
        )
        return result

    def _rising(self, value: Tensor) -> Tensor:
        """Probabilities as they are where the maps rise together, and 1 - p where they fall."""
        sign = reduce(mul, (transform.sign for transform in self.transforms), 1)
        if isinstance(sign, int) and sign == 1:
            return value
        result: Tensor = sign * (value - 0.5) + 0.5
        return result

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._rising(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._changed(self.base_dist.icdf(self._rising(value)))


def _as_list(transforms: Any) -> list[Transform]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(one, Transform) for one in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms
