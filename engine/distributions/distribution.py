"""What all distributions have: shapes, samples, checks of parameters and samples, the way they are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import array as arrays
from ..api.joining import broadcast_tensors
from ..creation import tensor
from ..mode import enable_grad, no_grad
from ..tensor import Size, Tensor
from .constraints import Constraint, Constraints

__all__ = ["Distribution"]


class Distribution:
    """A family of probability distributions, one per element of its parameters.  Source: torch.distributions.

    `batch_shape` is the shape of independent distributions, `event_shape` that of one draw.

    >>> import engine as torch
    >>> torch.distributions.Normal(torch.zeros(2, 3), 1.0).batch_shape
    torch.Size([2, 3])
    """

    arg_constraints: ClassVar[Constraints] = {}
    has_rsample = False
    _validates: ClassVar[bool] = True

    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        self._checks = self._validates if validate_args is None else validate_args
        if self._checks:
            for name, constraint in self.arg_constraints.items():
                if name in vars(self):
                    self._check_parameter(name, vars(self)[name], constraint)

    def _check_parameter(self, name: str, value: Tensor, constraint: Constraint) -> None:
        if not constraint.check(value).all():
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
            )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their parameters and samples where they are not told."""
        if value not in (True, False):
            raise ValueError
        Distribution._validates = value

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

    def entropy(self) -> Tensor:
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Raise torch's ValueError where `value` can be no draw."""
        if not self._checks:
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
        shown = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        listed = (f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in shown.items())
        return f"{type(self).__name__}({', '.join(listed)})"


class lazy:
    """A parameter that is computed from another one when it is first asked for, and kept."""

    def __init__(self, function: Callable[[Any], Tensor]) -> None:
        self.function, self.name = function, function.__name__
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            made = self.function(instance)
        vars(instance)[self.name] = made
        return made


def together(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape; numbers get the dtype of the tensors."""
    for value in values:
        if not isinstance(value, (Tensor, int, float)):
            raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                             "__torch_function__.")  # fmt: skip
    which = next((v.dtype for v in values if isinstance(v, Tensor)), arrays.default_dtype)
    return tuple(broadcast_tensors(*(v if isinstance(v, Tensor) else tensor(v, dtype=which) for v in values)))


def one_of(**given: Any) -> None:
    """Raise torch's ValueError unless exactly one of two parameters is given."""
    if sum(value is not None for value in given.values()) != 1:
        first, second = given
        raise ValueError(f"Either `{first}` or `{second}` must be specified, but not both.")


def to_logits(probs: Tensor, binary: bool = False) -> Tensor:
    """Logarithms of probabilities, or log-odds, kept finite."""
    eps = float(arrays.xp.finfo(probs._array.dtype).eps)
    kept = probs.clamp(min=eps, max=1 - eps)
    return kept.log() - (-kept).log1p() if binary else kept.log()
