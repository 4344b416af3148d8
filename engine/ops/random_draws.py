"""Random draws in a graph: the drawn values are an input, so that a replay repeats them; their gradient is 0."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from ..arrays.array import Array
from .choice import zero
from .op import PLAIN, Traits, op
from .presentation import RANDOM


def _bernoulli(self: Array, values: Array) -> Array:
    return values


def _around(mean: Array, values: Array) -> Array:
    return values


def _spread(std: Array, values: Array) -> Array:
    return values


def _around_and_spread(mean: Array, std: Array, values: Array) -> Array:
    return values


bernoulli = op("bernoulli", _bernoulli, PLAIN, RANDOM, self=lambda grad: zero(grad))
poisson = op("poisson", _bernoulli, PLAIN, RANDOM, self=lambda grad: zero(grad))
normal_mean = op("normal.Tensor_float", _around, Traits(node="NormalBackward1"), RANDOM, mean=lambda grad: zero(grad))
normal_std = op("normal.float_Tensor", _spread, Traits(node="NormalBackward2"), RANDOM, std=lambda grad: zero(grad))
normal_both = op(
    "normal.Tensor_Tensor", _around_and_spread, Traits(node="NormalBackward3"), RANDOM,
    mean=lambda grad: zero(grad),
    std=lambda grad: zero(grad),
)  # fmt: skip

# -- in place -----------------------------------------------------------------------------------------------------


def _redrawn(self: Array, values: Array) -> Array:
    return values.astype(self.dtype, copy=False)


def _redrawn_by(self: Array, p: Array, values: Array) -> Array:
    return values.astype(self.dtype, copy=False)


def _write(self: Array, values: Array) -> None:
    self[...] = values


def _write_by(self: Array, p: Array, values: Array) -> None:
    self[...] = values


REDRAWN = {
    name: op(f"{name}_", _redrawn, Traits(node=node, write=_write), RANDOM, self=lambda grad: zero(grad))
    for name, node in (
        ("bernoulli", "BernoulliBackward2"), ("random.from", "RandomBackward0"), ("random.to", "RandomBackward1"),
        ("random", "RandomBackward2"), ("exponential", "ExponentialBackward0"), ("geometric", "GeometricBackward0"),
        ("cauchy", "CauchyBackward0"), ("log_normal", "LogNormalBackward0"),
    )
}  # fmt: skip
"""The ops of the in-place draws, by torch's names of them."""
bernoulli_by = op(
    "bernoulli_.Tensor", _redrawn_by, Traits(node="BernoulliBackward1", write=_write_by), RANDOM,
    self=lambda grad: zero(grad),
    p=lambda grad: zero(grad),
)  # fmt: skip
