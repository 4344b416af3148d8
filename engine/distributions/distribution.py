"""The base of all distributions: shapes, samples, checks of parameters and samples, the way they are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..api.creation.creation import tensor
from ..api.shape.joining import broadcast_tensors
from ..arrays import array as arrays
from ..arrays.size import Size
from ..tensor.grad_mode import enable_grad, no_grad
from ..tensor.tensor import Tensor
from .constraints import Constraint, Constraints, is_dependent

__all__ = ["Distribution"]


class Distribution:
    """A family of probability distributions, one per element of its parameters.

    `batch_shape` is the shape of independent distributions, `event_shape` that of one draw.

    Source: torch.distributions.Distribution.

    >>> import engine as torch
    >>> torch.distributions.Normal(torch.zeros(2, 3), 1.0).batch_shape
    torch.Size([2, 3])
    """

    arg_constraints: ClassVar[Constraints] = {}
    has_rsample = False
    has_enumerate_support = False
    _validate_args: bool = True

    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if not is_dependent(constraint) and self._is_given(name):
                    self._check_parameter(name, getattr(self, name), constraint)

    def _is_given(self, name: str) -> bool:
        """Return whether a parameter was passed; one that is computed from another was not."""
        return name in vars(self) or not isinstance(getattr(type(self), name, None), lazy)

    def _check_parameter(self, name: str, value: Tensor, constraint: Constraint) -> None:
        if not constraint.check(value).all():
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
            )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check their parameters and samples by default."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same distributions as a larger batch; their parameters are expanded, and no memory is used."""
        kind = next(one for one in type(self).__mro__ if one.__module__.startswith(__package__))
        if kind is Distribution:
            raise NotImplementedError
        new = self._get_checked_instance(kind, _instance)
        self._spread(new, Size(batch_shape))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _spread(self, new: Any, shape: Size) -> None:
        """Give a new instance what this one has: its parameters, and those of the distributions in it, expanded."""
        parameters: dict[int, Any] = {}
        for name, value in vars(self).items():
            if isinstance(value, Distribution):
                parameters[id(value)] = value.expand(shape)
            elif name in self.arg_constraints:
                size = tuple(value.shape)
                parameters[id(value)] = value.expand(
                    (*shape, *size[len(size) - self.arg_constraints[name].event_dim :])
                )
        for name, value in vars(self).items():
            vars(new).setdefault(name, parameters.get(id(value), value))

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """Return the object that `expand` fills; raises NotImplementedError for a class below `cls` with its own
        __init__, which must create the object itself."""
        kind: Any = type(self)
        if _instance is None and kind.__init__ is not cls.__init__:  # type: ignore[misc]  # compared, not called
            raise NotImplementedError(
                f"Subclass {kind.__name__} of {cls.__name__} that defines a custom __init__ method must also define a "
                "custom .expand() method."
            )
        return kind.__new__(kind) if _instance is None else _instance

    @property
    def batch_shape(self) -> Size:
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        return self._event_shape

    @property
    def support(self) -> Constraint:
        """Which values have a probability."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        raise NotImplementedError

    @property
    def variance(self) -> Tensor:
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    @property
    def mode(self) -> Tensor:
        raise NotImplementedError(f"{type(self)} does not implement mode")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws of shape sample_shape + batch_shape + event_shape, which no gradient goes through."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws that are a function of the parameters, so that gradients go through them."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """`n` draws."""
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability (density) at `value`."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that have a probability, along a new first dimension."""
        raise NotImplementedError

    def _spread_values(self, values: Tensor, expand: bool) -> Tensor:
        """Values (or events) one after the other, as many times as there are distributions in the batch."""
        batch, event = tuple(self._batch_shape), tuple(self._event_shape)
        values = values.view((-1, *(1,) * len(batch), *event))
        return values.expand((-1, *batch, *event)) if expand else values

    def entropy(self) -> Tensor:
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Raise torch's ValueError where `value` can be no draw."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, event = value.shape, self._event_shape
        if shape[len(shape) - len(event) :] != event:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {event}.")
        expected = Size((*self._batch_shape, *event))
        if any(a != b and 1 not in (a, b) for a, b in zip(reversed(shape), reversed(expected), strict=False)):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        support = self.support
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        parameters = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        parts = (f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in parameters.items())
        return f"{type(self).__name__}({', '.join(parts)})"


class lazy:
    """A parameter that is computed from another one when it is first asked for, and kept."""

    def __init__(self, function: Callable[[Any], Tensor]) -> None:
        self.function, self.name = function, function.__name__
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.function(instance)
        vars(instance)[self.name] = value
        return value


def together(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape; numbers get the dtype of the tensors."""
    for value in values:
        if not isinstance(value, (Tensor, int, float)):
            raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                             "__torch_function__.")  # fmt: skip
    which = next((v.dtype for v in values if isinstance(v, Tensor)), arrays.default_dtype)
    return tuple(broadcast_tensors(*(v if isinstance(v, Tensor) else tensor(v, dtype=which) for v in values)))


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """The sum over the last `count` dimensions, those of one event."""
    return value if count == 0 else value.reshape((*value.shape[:-count], -1)).sum(-1)


def one_of(**parameters: Any) -> None:
    """Raise torch's ValueError unless exactly one of two parameters is given."""
    if sum(value is not None for value in parameters.values()) != 1:
        first, second = parameters
        raise ValueError(f"Either `{first}` or `{second}` must be specified, but not both.")


def off_the_ends(probs: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1 by the rounding of their dtype."""
    eps = float(arrays.xp.finfo(probs._array.dtype).eps)
    return probs.clamp(min=eps, max=1 - eps)


def to_logits(probs: Tensor, binary: bool = False) -> Tensor:
    """Logarithms of probabilities, or log-odds, kept finite."""
    safe_probs = off_the_ends(probs)
    return safe_probs.log() - (-safe_probs).log1p() if binary else safe_probs.log()
