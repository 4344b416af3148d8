"""Claim: recorded, with values, a chain takes at most twice its time, and the other workloads at most 1.5 times;
with an optimiser it is measured what a step takes, whose writes are recorded too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import engine
from benchmarks.engine_workloads import of_torch
from benchmarks.measure import ratio, settle, table
from benchmarks.workloads import WORKLOADS, Workload, convolution, mlp, transformer


def recorded(run: Callable[[], object]) -> Callable[[], None]:
    """The same run inside a recording; what is recorded is not read."""

    def with_record() -> None:
        with engine.record():
            run()

    return with_record


def trained(workload: Workload, optimizer: str) -> Callable[[], object]:
    """A step of training: the same with an optimiser, whose state is there already."""
    optim = engine.optim
    parameters = {name: engine.tensor(array, requires_grad=True) for name, array in workload.parameters.items()}
    data = {name: engine.tensor(array) for name, array in workload.data.items()}
    kind: Any = {"SGD": partial(optim.SGD, lr=1e-4, momentum=0.9), "Adam": partial(optim.Adam, lr=1e-4)}[optimizer]
    steps = kind(list(parameters.values()))

    def step() -> None:
        steps.zero_grad()
        workload.loss(engine, parameters, data).backward()
        steps.step()

    step()
    return step


def main() -> None:
    settle()
    rows = []
    for workload in WORKLOADS:
        plain = of_torch(engine, workload)
        found = ratio(recorded(plain), plain)
        rows.append((workload.name, found, f"{found.ours * 1e3:.2f}", f"{found.theirs * 1e3:.2f}"))
    for workload in (mlp(), transformer(), convolution()):
        for optimizer in ("SGD", "Adam"):
            step = trained(workload, optimizer)
            found = ratio(recorded(step), step)
            name = f"{workload.name}, a step of {optimizer}"
            rows.append((name, found, f"{found.ours * 1e3:.2f}", f"{found.theirs * 1e3:.2f}"))
    table(("workload", "recorded / untraced", "recorded, ms", "untraced, ms"), rows)


if __name__ == "__main__":
    main()
