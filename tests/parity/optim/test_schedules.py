"""Schedules: the learning rates of twenty epochs, states and errors are torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import engine
from tests.parity.helpers.saying import said

torch = pytest.importorskip("torch")

EPOCHS = 20


class FallingRate:
    """A function of the epoch that is an object with attributes."""

    def __init__(self) -> None:
        self.rate = 0.9

    def __call__(self, epoch: int) -> float:
        return self.rate**epoch


SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "StepLR": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [4, 7, 7, 15], gamma=0.3),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.8),
    "ConstantLR": lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=4),
    "LinearLR": lambda s, o: s.LinearLR(o, start_factor=0.2, end_factor=0.9, total_iters=7),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, total_iters=12, power=2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, T_max=7, eta_min=0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.01),
    "LambdaLR": lambda s, o: s.LambdaLR(o, [lambda e: 0.95**e, lambda e: 1 / (1 + e)]),
    "LambdaLR of an object": lambda s, o: s.LambdaLR(o, FallingRate()),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.9 if e % 2 else 1.0),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, max_lr=0.5, total_steps=EPOCHS + 1),
    "OneCycleLR linear": lambda s, o: s.OneCycleLR(
        o, max_lr=[0.5, 0.2], epochs=7, steps_per_epoch=3, anneal_strategy="linear", three_phase=True, pct_start=0.25
    ),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.5, step_size_up=3),
    "CyclicLR triangular2": lambda s, o: s.CyclicLR(o, 0.01, [0.5, 0.3], 2, 4, mode="triangular2"),
    "CyclicLR exp_range": lambda s, o: s.CyclicLR(o, 0.01, 0.5, 3, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "CyclicLR of a function": lambda s, o: s.CyclicLR(o, 0.01, 0.5, 3, scale_fn=lambda x: 1 / x),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.ExponentialLR(o, 0.9), s.StepLR(o, 2)], [4, 12]
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.5, 4), s.ExponentialLR(o, 0.9)]),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=2, factor=0.5, cooldown=1, min_lr=[0.01, 0.02]),
    "ReduceLROnPlateau max abs": lambda s, o: s.ReduceLROnPlateau(
        o, mode="max", patience=1, threshold=0.2, threshold_mode="abs"
    ),
}  # fmt: skip


def optimizer_of(t: Any, kind: str = "SGD") -> Any:
    first, second = t.zeros(1, requires_grad=True), t.zeros(1, requires_grad=True)
    options = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(t.optim, kind)([{"params": [first]}, {"params": [second], "lr": 0.4}], lr=0.1, **options)


def advance(scheduler: Any, epoch: int) -> None:
    if "Plateau" in type(scheduler).__name__:
        scheduler.step([5.0, 4.0, 4.0, 4.1, 4.0, 4.0, 3.0, 3.0, 3.5, 3.0][epoch % 10])
    else:
        scheduler.step()


def rates(t: Any, name: str, kind: str = "SGD", resume: bool = False) -> Any:
    optimizer = optimizer_of(t, kind)
    scheduler = SCHEDULES[name](t.optim.lr_scheduler, optimizer)
    found = []
    for epoch in range(EPOCHS):
        if resume and epoch == 9:
            kept, groups = scheduler.state_dict(), optimizer.state_dict()
            optimizer = optimizer_of(t, kind)
            scheduler = SCHEDULES[name](t.optim.lr_scheduler, optimizer)
            optimizer.load_state_dict(groups)
            scheduler.load_state_dict(kept)
        group = optimizer.param_groups[1]
        found.append([*scheduler.get_last_lr(), group["lr"], group.get("momentum"), group.get("betas")])
        optimizer.step()
        advance(scheduler, epoch)
    state = scheduler.state_dict()
    return found, {key: state[key] for key in ("last_epoch", "_last_lr") if key in state}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_goes_torchs_way(name: str) -> None:
    assert rates(engine, name) == rates(torch, name)


@pytest.mark.parametrize("name", ["OneCycleLR", "CyclicLR"])
def test_cycle_changes_the_first_beta_of_adam(name: str) -> None:
    assert rates(engine, name, "Adam") == rates(torch, name, "Adam")


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_goes_on_from_a_saved_state(name: str) -> None:
    assert rates(engine, name, resume=True) == rates(engine, name)


def made(name: str, *args: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda t: getattr(t.optim.lr_scheduler, name)(optimizer_of(t), *args, **options) and None


def stepped(*order: str) -> Callable[[Any], Any]:
    """Steps of the optimiser and of the schedule in some order; `replaced` gives the optimiser another step."""

    def action(t: Any) -> Any:
        optimizer = optimizer_of(t)
        scheduler = t.optim.lr_scheduler.StepLR(optimizer, 1)
        for what in order:
            if what == "replaced":
                optimizer.step = lambda: None
            elif what == "rates":
                scheduler.get_lr()
            elif what == "epoch":
                scheduler.step(5)
            else:
                (optimizer if what == "optimizer" else scheduler).step()
        return scheduler.get_last_lr()

    return action


SAID: dict[str, Callable[[Any], Any]] = {
    "too early": stepped("scheduler", "optimizer"),
    "in order": stepped("optimizer", "scheduler"),
    "replaced step": stepped("optimizer", "replaced", "scheduler"),
    "asked outside": stepped("rates"),
    "with an epoch": stepped("optimizer", "epoch"),
    "no optimizer": lambda t: t.optim.lr_scheduler.StepLR(1, 1),
    "no optimizer for a cycle": lambda t: t.optim.lr_scheduler.OneCycleLR(1, 1),
    "resumed without rates": made("StepLR", 2, last_epoch=3),
    "constant factor": made("ConstantLR", factor=2.0),
    "linear start": made("LinearLR", start_factor=0.0),
    "linear end": made("LinearLR", end_factor=2.0),
    "too few lambdas": made("LambdaLR", [lambda e: 1.0]),
    "no function": made("MultiplicativeLR", 3),
    "too few milestones": lambda t: t.optim.lr_scheduler.SequentialLR(
        o := optimizer_of(t), [t.optim.lr_scheduler.StepLR(o, 1)], [3]
    ),
    "no schedules": made("SequentialLR", [], []),
    "no chained schedules": lambda t: t.optim.lr_scheduler.ChainedScheduler([]),
    "plateau in a sequence": lambda t: t.optim.lr_scheduler.SequentialLR(
        o := optimizer_of(t), [t.optim.lr_scheduler.ReduceLROnPlateau(o)], []
    ),
    "no steps": made("OneCycleLR", 0.1),
    "negative steps": made("OneCycleLR", 0.1, total_steps=-1),
    "part of steps": made("OneCycleLR", 0.1, total_steps=5, pct_start=2.0),
    "unknown annealing": made("OneCycleLR", 0.1, total_steps=5, anneal_strategy="wave"),
    "too few max_lr": made("OneCycleLR", [0.1], total_steps=5),
    "unknown mode": made("CyclicLR", 0.1, 0.2, mode="wave"),
    "restart after nothing": made("CosineAnnealingWarmRestarts", 0),
    "restart shorter": made("CosineAnnealingWarmRestarts", 2, T_mult=0),
    "plateau factor": made("ReduceLROnPlateau", factor=1.0),
    "plateau mode": made("ReduceLROnPlateau", "least"),
    "plateau threshold": made("ReduceLROnPlateau", threshold_mode="other"),
    "plateau minima": made("ReduceLROnPlateau", min_lr=[0.1]),
    "fractions of an epoch": lambda t: (
        lambda s: [[s.step(e), s.get_last_lr()] for e in (0.5, 2.25, 7.75)]
    )(t.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer_of(t), 3, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_schedule_answers_as_torchs(name: str) -> None:
    mine, theirs = said(engine, SAID[name]), said(torch, SAID[name])
    assert mine == theirs
