"""Discrete distributions: over yes and no, over classes, and over numbers of events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..api.creation.counting import arange, eye
from ..api.creation.fills import zeros_like
from ..api.random.draws import bernoulli, multinomial, poisson
from ..api.shape.joining import broadcast_tensors
from ..arrays import array as arrays
from ..arrays.size import Size
from ..nn.functional import binary_cross_entropy_with_logits, one_hot
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraint, Constraints
from .distribution import Distribution, lazy, one_of, to_logits, together

__all__ = ["Bernoulli", "Categorical", "Geometric", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Poisson"]


class ProbsOrLogits(Distribution):
    """A distribution of `probs` or of `logits`; the other one is computed when it is asked for.

    Raises ValueError where both are given, or none.
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        one_of(probs=probs, logits=logits)
        name, values = ("probs", probs) if probs is not None else ("logits", logits)
        (vars(self)[name],) = together(values)
        self._param: Tensor = vars(self)[name]
        super().__init__(self._param.shape, (), validate_args)

    @lazy
    def logits(self) -> Tensor:
        """log(probs / (1 - probs))."""
        return to_logits(self.probs, binary=True)

    @lazy
    def probs(self) -> Tensor:
        """How probable a 1, or a success, is."""
        result: Tensor = self.logits.sigmoid()
        return result


class Bernoulli(ProbsOrLogits):
    """1 with probability `probs` (or log-odds `logits`), else 0.

    Shapes: probs or logits (*) -> batch (*).  Raises ValueError for both or none of them, or outside 0 … 1.
    Source: torch.distributions.Bernoulli.

    >>> import engine as torch
    >>> torch.distributions.Bernoulli(torch.tensor(0.25)).log_prob(torch.tensor(1.0))
    tensor(-1.3863)
    """

    support = constraints.boolean
    has_enumerate_support = True

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._param.shape

    @property
    def mean(self) -> Tensor:
        result: Tensor = self.probs
        return result

    @property
    def mode(self) -> Tensor:
        likely = (self.probs >= 0.5).to(self.probs)
        likely[self.probs == 0.5] = math.nan
        return likely

    @property
    def variance(self) -> Tensor:
        result: Tensor = self.probs * (1 - self.probs)
        return result

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = together(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._spread_values(arange(2, dtype=self._param.dtype, device=self._param.device), expand)


class Categorical(Distribution):
    """A class, by its number; the last dimension of `probs` (or their logarithms, `logits`) runs over the classes.

    Shapes: probs or logits (*, C) -> batch (*).  Raises ValueError for both or none of them, or no simplex.
    Source: torch.distributions.Categorical.

    >>> import engine as torch
    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(1)).exp()
    tensor(0.7500)
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        one_of(probs=probs, logits=logits)
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            assert logits is not None
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param: Tensor = self.probs if probs is not None else self.logits
        self._num_events: int = self._param.shape[-1]
        super().__init__(self._param.shape[:-1], (), validate_args)

    @lazy
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return to_logits(self.probs)

    @lazy
    def probs(self) -> Tensor:
        """How probable each class is."""
        result: Tensor = self.logits.softmax(-1)
        return result

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._param.shape

    @property
    def mean(self) -> Tensor:
        return self._param.new_full(self._extended_shape(), float("nan"))

    variance = mean

    @property
    def mode(self) -> Tensor:
        result: Tensor = self.probs.argmax(-1)
        return result

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        count = Size(sample_shape).numel()
        with no_grad():
            classes = multinomial(self.probs.reshape(-1, self._num_events), count, True).T
        return classes.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value, table = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return table.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        least = float(arrays.xp.finfo(self.logits._array.dtype).min)
        result: Tensor = -(self.logits.clamp(min=least) * self.probs).sum(-1)
        return result

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._spread_values(arange(self._num_events, device=self._param.device), expand)


class OneHotCategorical(Distribution):
    """A class, as a vector that is 1 at its index and 0 elsewhere.

    Shapes: probs or logits (*, C) -> batch (*), event (C).  Raises ValueError for both or none of them, or no simplex.
    Source: torch.distributions.OneHotCategorical.

    >>> import engine as torch
    >>> torch.distributions.OneHotCategorical(torch.tensor([0.0, 1.0])).sample()
    tensor([0., 1.])
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    @property
    def probs(self) -> Tensor:
        """How probable each class is."""
        result: Tensor = self._categorical.probs
        return result

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        result: Tensor = self._categorical.logits
        return result

    @property
    def param_shape(self) -> Size:
        """The shape of the probabilities."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self._categorical.mode, self._event_shape[0]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return one_hot(self._categorical.sample(sample_shape), self._event_shape[0]).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._spread_values(eye(self._event_shape[0], dtype=self.probs.dtype, device=self.probs.device), expand)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, with gradients that go straight through to the probabilities.

    Shapes: probs or logits (*, C) -> batch (*), event (C).  Raises ValueError for both or none of them, or no simplex.
    Source: torch.distributions.OneHotCategoricalStraightThrough; Bengio et al., 2013.

    >>> import engine as torch
    >>> probs = torch.tensor([0.0, 1.0], requires_grad=True)
    >>> torch.distributions.OneHotCategoricalStraightThrough(probs).rsample()
    tensor([0., 1.], grad_fn=<AddBackward0>)
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        sample = self.sample(sample_shape)
        return sample + (self.probs - self.probs.detach())


class Poisson(Distribution):
    """The number of events, which is `rate` on average.

    Raises ValueError for a negative rate.  Source: torch.distributions.Poisson.

    >>> import engine as torch
    >>> torch.distributions.Poisson(2.0).log_prob(torch.tensor(0.0))
    tensor(-2.)
    """

    arg_constraints: ClassVar[Constraints] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        rate, value = together(self.rate, value)
        result: Tensor = value.xlogy(rate) - rate - (value + 1).lgamma()
        return result


class Geometric(ProbsOrLogits):
    """The number of failures before the first success, whose probability is `probs` (log-odds `logits`).

    Raises ValueError where both are given, or none.  Source: torch.distributions.Geometric.

    >>> import engine as torch
    >>> torch.distributions.Geometric(torch.tensor(0.25)).mean
    tensor(3.)
    """

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        value = self._param
        if self._validate_args and probs is not None and not (value > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to be positive but found invalid values:\n{value.data[~(value > 0)]}"
            )

    @property
    def mean(self) -> Tensor:
        result: Tensor = 1.0 / self.probs - 1.0
        return result

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        result: Tensor = (1.0 / self.probs - 1.0) / self.probs
        return result

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            least = float(arrays.xp.finfo(self.probs._array.dtype).tiny)
            uniform = self.probs.new_empty(self._extended_shape(sample_shape)).uniform_(least, 1)
            result: Tensor = (uniform.log() / (-self.probs).log1p()).floor()
            return result

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value, probs = together(value, self.probs)
        probs = probs.clone()
        probs[probs.eq(1) & value.eq(0)] = 0
        result: Tensor = value * (-probs).log1p() + self.probs.log()
        return result

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
