"""Constraints of parameters and samples: a test, and its name in errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..api.creation.fills import full
from ..api.shape.joining import cat as joined
from ..api.shape.joining import stack as stacked
from ..arrays import array as arrays
from ..namespaces.linalg import cholesky_ex, eigvalsh, vector_norm
from ..tensor.tensor import Tensor

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """`check(value)` says for each value (the last `event_dim` dimensions together) whether it is allowed.

    Source: torch.distributions.constraints.Constraint.

    >>> import engine as torch
    >>> torch.distributions.constraints.positive.check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    is_discrete: bool = False
    event_dim: int = 0

    def check(self, value: Any) -> Tensor:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}()"


class _Dependent(Constraint):
    """A constraint that depends on other parameters; it knows whether it is discrete and its event dimensions."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # a constant of other classes
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # a constant of other classes
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> Any:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A decorator: on an object it is a property, on its class a dependent constraint.

    Source: torch.distributions.constraints.dependent_property.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> class Some(torch.distributions.Distribution):
    ...     @allowed.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return allowed.positive
    >>> Some.support.event_dim
    0
    """

    def __init__(
        self, fn: Callable[[Any], Any] | None = None, *, is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:  # fmt: skip
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[[Any], Any]) -> Any:  # type: ignore[override]  # the decorator, with options
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """The constraint for each of the last dimensions, which together are one event.

    Shapes: (*) -> (*').  Raises AssertionError for what is no constraint, or a negative count.
    Source: torch.distributions.constraints.independent.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.independent(allowed.positive, 1).check(torch.tensor([0.0, 1.0, 2.0]))
    tensor(False)
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        base, count = base_constraint, reinterpreted_batch_ndims
        if not isinstance(base, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base).__name__}")
        if not isinstance(count, int):
            raise AssertionError(f"reinterpreted_batch_ndims must be an int, got {type(count).__name__}")
        if count < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {count}")
        self.base_constraint, self.reinterpreted_batch_ndims = base, count

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # a constant of other classes
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # a constant of other classes
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Tensor:
        holds, count = self.base_constraint.check(value), self.reinterpreted_batch_ndims
        if holds.dim() < count:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return holds.reshape((*holds.shape[: holds.dim() - count], -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The constraint of each part of a mixture, for values of the mixture.  Source: torch.distributions.

    >>> import engine as torch
    >>> C = torch.distributions.constraints
    >>> C.MixtureSameFamilyConstraint(C.positive).check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # a constant of other classes
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # a constant of other classes
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Tensor:
        holds = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return holds.reshape((*holds.shape[: value.dim() - self.event_dim], -1)).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _BoundedConstraint(Constraint):
    """Named by its bounds, which are its attributes."""

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({', '.join(f'{name}={bound}' for name, bound in vars(self).items())})"


class _From(_BoundedConstraint):
    """From a bound on."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _To(_BoundedConstraint):
    """Up to a bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Between(_BoundedConstraint):
    """Between two bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return value.eq(0) | value.eq(1)


class _OneHot(Constraint):
    """Vectors that are 1 at one index and 0 elsewhere."""

    is_discrete, event_dim = True, 1

    def check(self, value: Any) -> Tensor:
        return (value.eq(0) | value.eq(1)).all(-1) & value.sum(-1).eq(1)


class _IntegerInterval(_Between):
    """Integers between two bounds, both included.

    Shapes: (*) -> (*).  Source: torch.distributions.constraints.integer_interval.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.integer_interval(0, 1).check(torch.tensor([0.0, 1.0, 2.0]))
    tensor([ True,  True, False])
    """

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value % 1).eq(0) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerGreaterThan(_From):
    """Integers from a lower bound."""

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value % 1).eq(0) & (value >= self.lower_bound)


class _Real(Constraint):
    """Any number but nan."""

    def check(self, value: Any) -> Tensor:
        return ~value.isnan()


class _GreaterThan(_From):
    """Above a bound.

    Shapes: (*) -> (*).  Source: torch.distributions.constraints.greater_than.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.greater_than(1.0).check(torch.tensor([0.0, 1.0, 2.0]))
    tensor([False, False,  True])
    """

    def check(self, value: Any) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_From):
    """A bound, or above.

    Shapes: (*) -> (*).  Source: torch.distributions.constraints.greater_than_eq.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.greater_than_eq(1.0).check(torch.tensor([0.0, 1.0, 2.0]))
    tensor([False,  True,  True])
    """

    def check(self, value: Any) -> Tensor:
        return value >= self.lower_bound


class _LessThan(_To):
    """Below a bound.

    Shapes: (*) -> (*).  Source: torch.distributions.constraints.less_than.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.less_than(1.0).check(torch.tensor([0.0, 1.0, 2.0]))
    tensor([ True, False, False])
    """

    def check(self, value: Any) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    """Both bounds included.

    Shapes: (*) -> (*).  Source: torch.distributions.constraints.interval.

    >>> import engine as torch
    >>> torch.distributions.constraints.interval(0, 1).check(torch.tensor([0.5, 2.0]))
    tensor([ True, False])
    """

    def check(self, value: Any) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """The lower bound included, the upper one not.

    Shapes: (*) -> (*).  Source: torch.distributions.constraints.half_open_interval.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.half_open_interval(0.0, 2.0).check(torch.tensor([0.0, 1.0, 2.0]))
    tensor([ True,  True, False])
    """

    def check(self, value: Any) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of probabilities: none below 0, and 1 together."""

    event_dim = 1

    def check(self, value: Any) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Counts; as in torch, only their upper bound is checked.

    Shapes: (*, C) -> (*).  Source: torch.distributions.constraints.multinomial.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.multinomial(3).check(torch.tensor([0.0, 1.0, 2.0]))
    tensor(True)
    """

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Matrix(Constraint):
    """Matrices, each one event."""

    event_dim = 2


class _LowerTriangular(_Matrix):
    """Square matrices with nothing above the diagonal."""

    def check(self, value: Any) -> Tensor:
        return value.tril().eq(value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower-triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Rows of length 1, up to ten times the rounding of their sum."""

    def check(self, value: Any) -> Tensor:
        near = float(arrays.xp.finfo(value._array.dtype).eps) * value.size(-1) * 10
        length = vector_norm(value.detach(), dim=-1)
        return super().check(value) & (length - 1.0).abs().le(near).all(-1)


class _Square(_Matrix):
    """Square matrices."""

    def check(self, value: Any) -> Tensor:
        return full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=arrays.bool_, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices, up to a rounding of 1e-6."""

    def check(self, value: Any) -> Tensor:
        square = super().check(value)
        return value.isclose(value.mT, atol=1e-6).all(-2).all(-1) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without a negative eigenvalue."""

    def check(self, value: Any) -> Tensor:
        symmetric = super().check(value)
        return eigvalsh(value).ge(0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Any) -> Tensor:
        symmetric = super().check(value)
        return cholesky_ex(value).info.eq(0) if symmetric.all() else symmetric


class _PerPart(Constraint):
    """One for each part along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(one, Constraint) for one in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # a constant of other classes
        return any(one.is_discrete for one in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # a constant of other classes
        return max(one.event_dim for one in self.cseq)

    def _reaches(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_PerPart):
    """One for each part of the given lengths along a dimension.

    Shapes: (*) -> (*).  Source: torch.distributions.constraints.cat.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.cat([allowed.positive, allowed.real], lengths=[1, 2]).check(torch.tensor([-1.0, 1.0, -1.0]))
    tensor([False,  True,  True])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def check(self, value: Any) -> Tensor:
        self._reaches(value)
        starts = [sum(self.lengths[:number]) for number in range(len(self.lengths))]
        slices = [value.narrow(self.dim, *place) for place in zip(starts, self.lengths, strict=True)]
        return joined([one.check(part) for one, part in zip(self.cseq, slices, strict=True)], self.dim)


class _Stack(_PerPart):
    """One for each slice along a dimension.

    Shapes: (*) -> (*).  Source: torch.distributions.constraints.stack.

    >>> import engine as torch
    >>> allowed = torch.distributions.constraints
    >>> allowed.stack([allowed.positive, allowed.real]).check(torch.tensor([-1.0, -1.0]))
    tensor([False,  True])
    """

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # a constant of other classes
        most = max(one.event_dim for one in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value: Any) -> Tensor:
        self._reaches(value)
        slices = [value.select(self.dim, number) for number in range(value.size(self.dim))]
        return stacked([one.check(part) for part, one in zip(slices, self.cseq, strict=False)], self.dim)


def is_dependent(constraint: Any) -> bool:
    """Return whether the constraint depends on other parameters.

    Source: torch.distributions.constraints.is_dependent.

    >>> import engine as torch
    >>> torch.distributions.constraints.is_dependent(torch.distributions.Uniform.support)
    True
    """
    return isinstance(constraint, _Dependent)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
integer_interval = _IntegerInterval
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
real = _Real()
real_vector = independent(real, 1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
interval, half_open_interval = _Interval, _HalfOpenInterval
unit_interval = _Interval(0.0, 1.0)
simplex = _Simplex()
multinomial = _Multinomial
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat, stack = _Cat, _Stack

Constraints = Mapping[str, Constraint]
