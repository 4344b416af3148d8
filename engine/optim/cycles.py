"""Schedules that go up and down: one cycle, many cycles, cosines that start anew."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

from .optimizer import Optimizer
from .scheduler import LRScheduler, need_optimizer, set_value, spread

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


class _MomentumCycle(LRScheduler):
    """The base of both cyclic schedules: momentum goes down while the learning rate goes up."""

    cycle_momentum: bool

    def _begin_momentum(self, optimizer: Optimizer, base: Any, highest: Any, last_epoch: int) -> tuple[Any, Any]:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        lows = spread("base_momentum", optimizer, base)
        highs = spread("max_momentum", optimizer, highest)
        if last_epoch == -1:
            for high, low, group in zip(highs, lows, optimizer.param_groups, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"] = high
                group["base_momentum"] = low
        return lows, highs

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class OneCycleLR(_MomentumCycle):
    """Up to `max_lr` and down to almost nothing, over the whole training.

    Raises ValueError where the number of steps is not given, or the strategy is unknown.
    Source: torch.optim.lr_scheduler.OneCycleLR; Smith and Topin, 2017.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0, momentum=0.9)
    >>> schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> schedule.get_last_lr()
    [0.040000000000000036]
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        need_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _steps(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = _phases(pct_start, self.total_steps, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        highs = spread("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for high, group in zip(highs, optimizer.param_groups, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`; sets the momentum too."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        part = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*ends, part))
        return rates


def _steps(total: Any, epochs: Any, per_epoch: Any) -> int:
    if total is not None:
        if total <= 0 or not isinstance(total, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total}")
        return total
    if epochs is None or per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return int(epochs * per_epoch)


def _phases(part: float, total: int, three: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and between which of a group's numbers it goes."""
    up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
    ends: list[tuple[float, tuple[str, ...]]] = [(float(part * total) - 1, up)]
    if three:
        ends.append((float(2 * part * total) - 2, ("max_lr", "initial_lr", "base_momentum", "max_momentum")))
        ends.append((total - 1, ("initial_lr", "min_lr", "max_momentum", "max_momentum")))
    else:
        ends.append((total - 1, ("max_lr", "min_lr", "base_momentum", "max_momentum")))
    names = ("start_lr", "end_lr", "start_momentum", "end_momentum")
    return [{"end_step": end, **dict(zip(names, between, strict=True))} for end, between in ends]


class CyclicLR(_MomentumCycle):
    """Up and down between two learning rates, again and again.

    Raises ValueError for another mode.  Source: torch.optim.lr_scheduler.CyclicLR; Smith, 2015.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> cyclic = torch.optim.lr_scheduler.CyclicLR
    >>> schedule = cyclic(optimizer, base_lr=0.5, max_lr=1.0, step_size_up=1, cycle_momentum=False)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [1.0, 0.5, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        need_optimizer(optimizer)
        self.optimizer = optimizer
        lows = spread("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for low, group in zip(lows, optimizer.param_groups, strict=True):
                set_value(group, "lr", low)
        self.max_lrs = spread("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (float(step_size_down) if step_size_down is not None else up)
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(
                optimizer, base_momentum, max_momentum, last_epoch
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x: float) -> float:
        """How high the peak of cycle (or iteration) `x` is."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return float(1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x)

    def get_lr(self) -> list[Any]:
        """The learning rates at `last_epoch`; sets the momentum too."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            pairs = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, high, group in pairs:
                self._set_momentum(group, high - (high - low) * part * scale)
        return [low + (high - low) * part * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser and a function of the user's."""
        state = super().state_dict()
        fn = state["_scale_fn_custom"]
        plain = fn is None or isinstance(fn, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else fn.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take in what `state_dict` gave."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom")
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        super().load_state_dict(state)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down along a cosine, then up at once and down again, each time `T_mult` times as long.

    Raises ValueError where T_0 is not positive, or T_mult below 1.
    Source: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts; Loshchilov and Hutter, 2016.

    >>> import engine as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> [(optimizer.step(), schedule.step(), schedule.get_last_lr()[0])[2] for _ in range(3)]
    [0.5, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The learning rates at `T_cur` of the cycle that runs."""
        self._warn_outside_step()
        wave = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * wave / 2 for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Go on by one epoch, or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            cycles = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**cycles - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**cycles
