"""Which values a parameter or a sample may have: a test, and the text that an error names it by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..linalg import cholesky_ex
from ..tensor import Tensor

__all__ = ["Constraint", "boolean", "interval", "nonnegative_integers_below", "positive", "real", "real_vector"]


@dataclass(frozen=True)
class Constraint:
    """`check(value)` tells of each value (of the last `event_dim` dimensions together) whether it is allowed.

    >>> import engine as torch
    >>> torch.distributions.constraints.positive.check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    text: str
    check: Callable[[Tensor], Tensor]
    event_dim: int = 0

    def __repr__(self) -> str:
        return self.text


def _lower(matrix: Tensor) -> Tensor:
    triangular = matrix.tril().eq(matrix).flatten(-2).all(-1)
    return triangular & (matrix.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _definite(matrix: Tensor) -> Tensor:
    return matrix.isclose(matrix.mT, atol=1e-6).all(-2).all(-1) & cholesky_ex(matrix).info.eq(0)


def interval(low: object, high: object) -> Constraint:
    """Both bounds included.

    >>> import engine as torch
    >>> torch.distributions.constraints.interval(0, 1).check(torch.tensor([0.5, 2.0]))
    tensor([ True, False])
    """
    return Constraint(
        f"Interval(lower_bound={low}, upper_bound={high})", lambda value: (value >= low) & (value <= high)
    )


def nonnegative_integers_below(count: int) -> Constraint:
    """0 to count - 1."""
    return Constraint(
        f"IntegerInterval(lower_bound=0, upper_bound={count - 1})",
        lambda value: (value % 1).eq(0) & (value >= 0) & (value <= count - 1),
    )


real = Constraint("Real()", lambda value: ~value.isnan())
real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda value: (~value.isnan()).all(-1), 1)
positive = Constraint("GreaterThan(lower_bound=0.0)", lambda value: value > 0)
nonnegative = Constraint("GreaterThanEq(lower_bound=0.0)", lambda value: value >= 0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint("Boolean()", lambda value: value.eq(0) | value.eq(1))
simplex = Constraint("Simplex()", lambda value: (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6), 1)
one_hot = Constraint("OneHot()", lambda value: (value.eq(0) | value.eq(1)).all(-1) & value.sum(-1).eq(1), 1)
lower_cholesky = Constraint("LowerCholesky()", _lower, 2)
positive_definite = Constraint("PositiveDefinite()", _definite, 2)

Constraints = Mapping[str, Constraint]
