"""From a constraint to a map onto it: how an unconstrained parameter becomes a valid one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms
from .constraints import Constraint
from .transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """Finds the map for a constraint by its class.

    Source: torch.distributions.constraint_registry.ConstraintRegistry.

    >>> import engine as torch
    >>> torch.distributions.transform_to(torch.distributions.constraints.simplex)
    SoftmaxTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Say which map to make for constraints of a class; a decorator where no `factory` is given.

        Raises TypeError for what is no constraint.
        """
        if factory is None:
            return lambda own: self.register(constraint, own)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        if type(constraint) not in self._registry:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return self._registry[type(constraint)](constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _above(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


def _below(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


def _offer(registry: ConstraintRegistry) -> None:
    """Register the transforms that both registries have; a constraint's parts are looked up in the same registry."""
    factories: dict[Any, Factory] = {
        constraints.real: lambda _: transforms.identity_transform,
        constraints.independent: lambda one: transforms.IndependentTransform(
            registry(one.base_constraint), one.reinterpreted_batch_ndims
        ),
        constraints.greater_than: _above,
        constraints.greater_than_eq: _above,
        constraints.less_than: _below,
        constraints.interval: _between,
        constraints.half_open_interval: _between,
        constraints.corr_cholesky: lambda _: transforms.CorrCholeskyTransform(),
        constraints.cat: lambda one: transforms.CatTransform([registry(c) for c in one.cseq], one.dim, one.lengths),
        constraints.stack: lambda one: transforms.StackTransform([registry(c) for c in one.cseq], one.dim),
    }
    for constraint, factory in factories.items():
        registry.register(constraint, factory)


_offer(biject_to)
_offer(transform_to)
biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda _: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda _: transforms.PositiveDefiniteTransform())
