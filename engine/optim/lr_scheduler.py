"""The schedules: how a learning rate goes from epoch to epoch."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..nn.constructor_names import name_constructors
from .cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .scheduler import ByLambda, CompositeScheduler, LRScheduler, set_value, values_of

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_LRScheduler = LRScheduler


class LambdaLR(ByLambda):
    """The first learning rate times `lr_lambda(epoch)`.

    Raises ValueError where the functions are not one per group.  Source: torch.optim.lr_scheduler.LambdaLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.5, 0.3333333333333333, 0.25]
    """

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        return [base * fn(self.last_epoch) for fn, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(ByLambda):
    """The last learning rate times `lr_lambda(epoch)`.

    Raises ValueError where the functions are not one per group.  Source: torch.optim.lr_scheduler.MultiplicativeLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        each = lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * len(optimizer.param_groups)
        for fn in each if len(each) == len(optimizer.param_groups) else ():  # how many there are is asked further on
            if not callable(fn):
                raise TypeError(f"lr_lambda should be a function, but got {type(fn).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        if self._is_initial:
            return values_of(self.optimizer, "lr")
        return [lr * fn(self.last_epoch) for fn, lr in zip(self.lr_lambdas, self._lrs(), strict=True)]


class StepLR(LRScheduler):
    """Times `gamma` every `step_size` epochs.

    Source: torch.optim.lr_scheduler.StepLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [1.0, 0.5, 0.5]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return values_of(self.optimizer, "lr")
        return [lr * self.gamma for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times `gamma` at every milestone.

    Source: torch.optim.lr_scheduler.MultiStepLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2], gamma=0.5)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.5, 0.25, 0.25]
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1):
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return values_of(self.optimizer, "lr")
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times `factor` for the first `total_iters` epochs.

    Raises ValueError for a factor outside 0 … 1.  Source: torch.optim.lr_scheduler.ConstantLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.5, 1.0, 1.0]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self._lrs()]
        if self.last_epoch != self.total_iters:
            return values_of(self.optimizer, "lr")
        return [lr * (1.0 / self.factor) for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From `start_factor` to `end_factor` of the learning rate in `total_iters` even steps.

    Raises ValueError for a factor outside 0 … 1.  Source: torch.optim.lr_scheduler.LinearLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.75, 1.0, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self._lrs()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return values_of(self.optimizer, "lr")
        rise = self.end_factor - self.start_factor
        factor = 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)
        return [lr * factor for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        rise = self.end_factor - self.start_factor
        factor = self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * factor for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times `gamma` every epoch.

    Source: torch.optim.lr_scheduler.ExponentialLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        if self._is_initial:
            return values_of(self.optimizer, "lr")
        return [lr * self.gamma for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero in `total_iters` epochs, as a power of the share that is left.

    Source: torch.optim.lr_scheduler.PolynomialLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.5, 0.0, 0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return values_of(self.optimizer, "lr")
        left = 1.0 - self.last_epoch / self.total_iters
        factor = (left / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power
        return [lr * factor for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [(base * left) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Down to `eta_min` along half a cosine of `T_max` epochs, and up again.

    Source: torch.optim.lr_scheduler.CosineAnnealingLR; Loshchilov and Hutter, 2016.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.5, 0.0, 0.49999999999999994]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`."""
        self._warn_outside_step()
        low, span = self.eta_min, self.T_max
        if self._is_initial:
            return values_of(self.optimizer, "lr")
        if self._step_count == 1 and self.last_epoch > 0:
            wave = 1 + math.cos(self.last_epoch * math.pi / span)
            return [low + (base - low) * wave / 2 for base in self.base_lrs]
        if (self.last_epoch - 1 - span) % (2 * span) == 0:
            rise = 1 - math.cos(math.pi / span)
            return [lr + (base - low) * rise / 2 for base, lr in zip(self.base_lrs, self._lrs(), strict=True)]
        now = 1 + math.cos(math.pi * self.last_epoch / span)
        before = 1 + math.cos(math.pi * (self.last_epoch - 1) / span)
        return [now / before * (lr - low) + low for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        wave = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]


class SequentialLR(CompositeScheduler):
    """One schedule after the other, changing at the milestones.

    Raises ValueError where the milestones are not one fewer than the schedules.
    Source: torch.optim.lr_scheduler.SequentialLR.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> first = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=9)
    >>> then = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> torch.optim.lr_scheduler.SequentialLR(optimizer, [first, then], milestones=[2]).get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._check(optimizer, schedulers, "")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            set_value(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the step that each schedule made when it was made."""
        scheduler = self if sched is None else sched
        if hasattr(scheduler, "_schedulers"):
            for inner in scheduler._schedulers:
                self.recursive_undo(inner)
        elif hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1

    def step(self, epoch: int | None = None) -> None:
        """Go on by one epoch."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(CompositeScheduler):
    """Several schedules at once: each changes the rate set by the previous one.

    Raises ValueError for no schedules, or ones of two optimisers.  Source: torch.optim.lr_scheduler.ChainedScheduler.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> half = [torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5) for _ in range(2)]
    >>> schedule = torch.optim.lr_scheduler.ChainedScheduler(half)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        optimizer = optimizer or (schedulers[0].optimizer if len(schedulers) else None)
        self._check(optimizer, schedulers, " to be chained")  # type: ignore[arg-type]  # None is refused there
        self._schedulers = list(schedulers)
        assert optimizer is not None
        self.optimizer = optimizer
        self._last_lr = values_of(optimizer, "lr")

    def step(self, epoch: int | None = None) -> None:
        """Go on by one epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")


name_constructors(globals(), __all__)
