"""Claim: recorded, with values, a chain takes at most twice its time, and the other workloads at most 1.5 times;
with an optimiser it is measured what a step takes, whose writes are recorded too, and what a training of many steps
takes that is recorded into a file: bytes of the file per op, and memory at its peak."""

from __future__ import annotations

import itertools
import os
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import engine
from benchmarks.engine_workloads import of_torch
from benchmarks.measure import ratio, settle, table
from benchmarks.workloads import WORKLOADS, Workload, convolution, mlp, transformer
from engine.trace.file.streaming import Stream
from engine.trace.file.tracefile import open_trace
from engine.trace.recorder import Recorder
from engine.trace.source import Places

STEPS = 40
"""Steps of a training that is recorded into a file."""


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


def training(step: Callable[[], object]) -> None:
    for _ in range(STEPS):
        step()


def into_file(step: Callable[[], object], path: str) -> None:
    """A training recorded as by `backstep run`: written while it runs."""
    stream = Stream(Recorder(), path, Places())
    stream.start()
    training(step)
    stream.finish({})


def peak(run: Callable[[], object]) -> float:
    """Megabytes that Python and numpy take for it, where they take most."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def on_file(name: str, step: Callable[[], object]) -> tuple[str, ...]:
    """A row of the second table."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t")
        recorded, plain = peak(partial(into_file, step, path)), peak(partial(training, step))
        ops = sum(type(event).__name__ == "OpCalled" for event in open_trace(path).events)
        size = os.path.getsize(path)
    return name, f"{ops:,}", f"{size / ops / 1e3:.1f}", f"{size / 1e6:.0f}", f"{recorded:.0f}", f"{plain:.0f}"


def main() -> None:
    settle()
    rows = []
    for workload in WORKLOADS:
        plain = of_torch(engine, workload)
        found = ratio(recorded(plain), plain)
        rows.append((workload.name, found, f"{found.ours * 1e3:.2f}", f"{found.theirs * 1e3:.2f}"))
    filed = []
    for workload, optimizer in itertools.product((mlp(), transformer(), convolution()), ("SGD", "Adam")):
        step = trained(workload, optimizer)
        found = ratio(recorded(step), step)
        name = f"{workload.name}, a step of {optimizer}"
        rows.append((name, found, f"{found.ours * 1e3:.2f}", f"{found.theirs * 1e3:.2f}"))
        filed.append(on_file(f"{workload.name}, {STEPS} steps of {optimizer}", step))
    table(("workload", "recorded / untraced", "recorded, ms", "untraced, ms"), rows)
    print()
    table(("training", "ops", "file, kB per op", "file, MB", "peak, recorded, MB", "peak, untraced, MB"), filed)


if __name__ == "__main__":
    main()
