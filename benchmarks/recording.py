"""Claim: recorded, with values, a chain takes at most twice its time, and the other workloads at most 1.5 times;
with an optimiser it is measured what a step takes, whose writes are recorded too, and what a training of many steps
takes that is recorded into a file: its time, also of the two threads apart, bytes of the file per op, and memory at its
peak.  `python -m benchmarks.recording files` measures only the times into a file, and `pauses` those of a recording
that pauses between every 50th iteration."""

from __future__ import annotations

import itertools
import os
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

import benchmarks.engine_workloads as untraced  # first: it sets the threads, before numpy looks
import engine
from benchmarks.measure import ratio, settle, table
from benchmarks.workloads import WORKLOADS, Workload, convolution, mlp, transformer
from engine.trace.file.iterations import Selection
from engine.trace.file.streaming import Stream
from engine.trace.file.tracefile import open_trace, tally
from engine.trace.recorder import Recorder
from engine.trace.source import Places

STEPS = 40
"""Steps of a training that is recorded into a file."""
TURNS = 3


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


def training(step: Callable[[], object], steps: int = STEPS) -> None:
    for _ in range(steps):
        step()


def into_file(run: Callable[[], object], path: str, every: int | None = None) -> None:
    """A training recorded as by `backstep run`: written while it runs; with `every`, as with `--every N --pause`."""
    stream = Stream(Recorder(), path, Places(), selection=Selection(every=every), pauses=every is not None)
    stream.start()
    run()
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
        run = partial(training, step)
        recorded, plain = peak(partial(into_file, run, path)), peak(run)
        ops = sum(type(event).__name__ == "OpCalled" for event in open_trace(path).events)
        size = os.path.getsize(path)
    return name, f"{ops:,}", f"{size / ops / 1e3:.1f}", f"{size / 1e6:.0f}", f"{recorded:.0f}", f"{plain:.0f}"


def network(vocabulary: int, wide: int, heads: int, depth: int, batch: int, length: int) -> Callable[[], object]:
    """A step of training a transformer with AdamW."""
    nn, cross_entropy = engine.nn, engine.nn.functional.cross_entropy
    layers = [nn.TransformerEncoderLayer(wide, heads, 4 * wide, 0.0, batch_first=True) for _ in range(depth)]
    model = nn.Sequential(nn.Embedding(vocabulary, wide), *layers, nn.Linear(wide, vocabulary))
    optimizer = engine.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> None:
        tokens = engine.randint(0, vocabulary, (batch, length))
        optimizer.zero_grad()
        cross_entropy(model(tokens).reshape(-1, vocabulary), tokens.reshape(-1)).backward()
        optimizer.step()

    step()
    return step


SMALL_GPT = "small GPT: 6 blocks, 64 wide, batch 4 x 32"
NETWORKS = {
    SMALL_GPT: ((65, 64, 4, 6, 4, 32), 40),
    "gpt-mini of minGPT: 6 blocks, 192 wide, batch 64 x 128": ((65, 192, 6, 6, 64, 128), 3),
    "BERT: 5.7 million parameters, batch 8 x 64": ((5000, 256, 8, 4, 8, 64), 10),
}
"""What `network` takes, and how many steps are recorded."""


class Training:
    """A training of some steps; `seconds` are those of the processor that its own thread took the last time."""

    def __init__(self, step: Callable[[], object], steps: int) -> None:
        self.run, self.seconds = partial(training, step, steps), 0.0

    def __call__(self) -> None:
        start = time.thread_time()
        self.run()
        self.seconds = time.thread_time() - start


@dataclass(frozen=True)
class Turn:
    """What a training took, in seconds: by the clock, the processor's for its own thread, and the processor's for all
    threads."""

    clock: float
    own: float
    all: float


def turn(way: Callable[[], object], trained: Training) -> Turn:
    """A training, in one of the ways to record it."""
    clock, processor = time.perf_counter(), time.process_time()
    way()
    return Turn(time.perf_counter() - clock, trained.seconds, time.process_time() - processor)


def middle(turns: list[Turn]) -> Turn:
    return Turn(*map(statistics.median, zip(*map(astuple, turns), strict=True)))


def in_turns(name: str) -> tuple[str, ...]:
    """A row of the third table: the same training untraced, recorded in memory and into a file."""
    sizes, steps = NETWORKS[name]
    trained = Training(network(*sizes), steps)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t")
        ways = trained, recorded(trained), partial(into_file, trained, path)
        rounds = [[turn(way, trained) for way in ways] for _ in range(TURNS + 1)][1:]  # the first warms up
        count, size = tally(path), os.path.getsize(path)
    events = sum(count.values()) - count["nodes"]
    alone, memory, file = (middle(list(turns)) for turns in zip(*rounds, strict=True))
    ratios = (memory.clock / alone.clock, file.clock / alone.clock, file.own / alone.own)
    writer = f"{(file.all - file.own) / events * 1e6:.0f}"
    per_op = f"{size / count['OpCalled'] / 1e3:.1f}"
    told = (f"{one:.2f}" for one in ratios)
    return name, f"{alone.clock / steps * 1e3:.1f}", *told, writer, f"{events // steps:,}", per_op


LONG, EVERY = 300, 50
"""The steps of a training whose recording pauses, and how many of them lie between two that are recorded."""


def with_pauses(name: str) -> tuple[str, ...]:
    """A row of the fourth table: the same training untraced, and recorded with pauses."""
    trained = Training(network(*NETWORKS[name][0]), LONG)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t")
        ways = trained, partial(into_file, trained, path, EVERY)
        rounds = [[turn(way, trained) for way in ways] for _ in range(TURNS)]
        size = os.path.getsize(path)
    alone, paused = (middle(list(turns)) for turns in zip(*rounds, strict=True))
    return name, f"{alone.clock:.1f}", f"{paused.clock / alone.clock:.2f}", f"{size / 1e6:.0f}"


FILES = (
    "training", "untraced, ms a step", "in memory / untraced", "into a file / untraced",
    "processor time of its own thread / untraced", "us of the writing thread per event", "events a step",
    "file, kB per op",
)  # fmt: skip


def main() -> None:
    settle()
    if not sys.argv[1:]:
        steps_and_memory()
        print()
    if sys.argv[1:] != ["pauses"]:
        table(FILES, [in_turns(name) for name in NETWORKS])
        print()
    if sys.argv[1:] != ["files"]:
        table(
            (f"{LONG} steps of training", "untraced, s", f"with --every {EVERY} --pause / untraced", "file, MB"),
            [with_pauses(SMALL_GPT)],
        )


def steps_and_memory() -> None:
    """The first two tables."""
    rows = []
    for workload in WORKLOADS:
        plain = untraced.of_torch(engine, workload)
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
