"""The base of all learning-rate schedules."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from typing import Any

from ..tensor.tensor import Tensor
from .optimizer import Optimizer

__all__ = ["LRScheduler"]

EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure "
    "to call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
    "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in "
    "PyTorch skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
NO_INITIAL = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
)
OUTSIDE = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."


def need_optimizer(optimizer: Any) -> None:
    """Raise torch's TypeError where something else was given."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """An option of all groups; tensors are copied."""
    values = [group[key] for group in optimizer.param_groups]
    return [value.clone() if isinstance(value, Tensor) else value for value in values]


def set_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option; one that is a tensor is written."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value)
    else:
        group[key] = value


def spread(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """An argument that is given once, or once per group."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * groups
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups "
            f"has {groups}."
        )
    return [v.clone() if isinstance(v, Tensor) else v for v in value]


class LRScheduler:
    """The base of the schedules: a subclass computes the learning rates of the groups (`get_lr`).

    Raises TypeError for what is no optimiser.  Source: torch.optim.lr_scheduler.LRScheduler.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> isinstance(torch.optim.lr_scheduler.StepLR(optimizer, 2), torch.optim.lr_scheduler.LRScheduler)
    True
    """

    _get_lr_called_within_step = False
    _is_initial = False
    optimizer: Optimizer
    base_lrs: list[Any]
    last_epoch: int
    _last_lr: list[Any]
    _step_count: int

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        need_optimizer(optimizer)
        self.optimizer = optimizer
        for place, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                initial = group["lr"]
                group.setdefault("initial_lr", initial.clone() if isinstance(initial, Tensor) else initial)
            elif "initial_lr" not in group:
                raise KeyError(NO_INITIAL.format(place))
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        optimizer.__dict__.setdefault("_opt_called", False)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take in what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The learning rates that were set last."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`; a subclass computes them."""
        raise NotImplementedError

    def _lrs(self) -> list[Any]:
        """The learning rates as the groups have them."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def _warn_outside_step(self) -> None:
        """Warn where the user, not a step, asks for the rates to be computed."""
        if not self._get_lr_called_within_step:
            warnings.warn(OUTSIDE, UserWarning, stacklevel=3)

    def step(self, epoch: int | None = None) -> None:
        """Go on by one epoch, and set the learning rates."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(OVERRIDDEN, UserWarning, stacklevel=2)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(TOO_EARLY, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        compute: Callable[[], list[Any]] = self.get_lr
        if epoch is None:
            self.last_epoch += 1
        else:
            self.last_epoch = epoch
            compute = getattr(self, "_get_closed_form_lr", compute)
        self._set(compute)

    def _set(self, compute: Callable[[], list[Any]]) -> None:
        self._get_lr_called_within_step = True
        try:
            values = compute()
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_value(group, "lr", value)
        self._last_lr = values_of(self.optimizer, "lr")


class ByLambda(LRScheduler):
    """The base of the two schedules that call a user's function."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != groups:
                raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser; functions are left out, objects that are called give their attributes."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        plain = [isinstance(fn, types.FunctionType) for fn in self.lr_lambdas]
        state["lr_lambdas"] = [
            None if is_plain else fn.__dict__.copy() for is_plain, fn in zip(plain, self.lr_lambdas, strict=True)
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take in what `state_dict` gave."""
        state = dict(state_dict)
        for place, attributes in enumerate(state.pop("lr_lambdas")):
            if attributes is not None:
                self.lr_lambdas[place].__dict__.update(attributes)
        self.__dict__.update(state)


class CompositeScheduler(LRScheduler):
    """The base of the two schedules that are made of other schedules."""

    _schedulers: list[Any]

    def _check(self, optimizer: Optimizer, schedulers: Any, needs: str) -> None:
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler{needs}, but got no scheduler.")
        for place, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {place} should have `optimizer` as its attribute.")
            if getattr(scheduler, "needs_metrics", False):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {place} in the given schedulers sequence."
                )
            if optimizer != scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {place} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser, with the states of the schedules inside."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take in what `state_dict` gave."""
        state = dict(state_dict)
        for scheduler, inner in zip(self._schedulers, state.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(inner)
        self.__dict__.update(state)
