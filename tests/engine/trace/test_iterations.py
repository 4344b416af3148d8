"""Iterations, counted while a program is recorded, and what is written of those that keep values and of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.arrays.session import slot
from engine.trace.events import BackwardStarted, LeafCreated, OpCalled, Trace
from engine.trace.file import streaming
from engine.trace.file.iterations import Iterations, PassCounter, Selection
from engine.trace.file.streaming import Progress, SizeLimits, Stream
from engine.trace.file.tracefile import open_trace
from engine.trace.recorder import Recorder
from engine.trace.source import Places

WIDE = 100


def numbers(trace: Trace) -> list[int]:
    """The iteration of each backward call."""
    counted = Iterations()
    found = []
    for event in trace.events:
        counted.see(event)
        if isinstance(event, BackwardStarted):
            found.append(counted.number)
    return found


def train(rounds: int) -> None:
    layer: Any = engine.nn.Linear(WIDE, 1)
    optimizer: Any = engine.optim.Adam(layer.parameters())
    for _ in range(rounds):
        loss = layer(engine.ones(2, WIDE)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_an_iteration_ends_with_the_step_of_the_optimiser() -> None:
    with engine.record() as trace:
        train(3)
    assert numbers(trace) == [0, 1, 2]


@pytest.mark.parametrize(
    ("steps", "counts"),
    [
        ("DGDGDG", [1, 1, 1, 2, 2, 3]),  # that G ends a pass is certain when D comes again
        ("DDGDDG", [1, 2, 2, 3, 4, 4]),  # a critic's steps are counted
        ("AAAABBBB", [1, 2, 3, 4, 4, 6, 7, 8]),  # another loop
        ("ABBB", [1, 1, 3, 4]),
    ],
)
def test_a_pass_ends_with_the_last_of_its_steps(steps: str, counts: list[int]) -> None:
    passes, found = PassCounter(), []
    for step in steps:
        passes.see(step)
        found.append(passes.count)
    assert found == counts


def test_two_optimisers_in_one_round_are_one_iteration() -> None:
    net: Any = engine.nn.Linear(2, 1)
    other: Any = engine.nn.Linear(2, 1)
    first, second = engine.optim.SGD(net.parameters(), lr=0.1), engine.optim.SGD(other.parameters(), lr=0.1)
    with engine.record() as trace:
        for _ in range(3):
            net(engine.ones(2)).sum().backward()
            first.step()
            other(engine.ones(2)).sum().backward()
            second.step()
    assert numbers(trace) == [0, 1, 1, 1, 2, 2]  # that the second step ends a round is known in the second one


def test_two_trainings_one_after_the_other_are_counted_on() -> None:
    net: Any = engine.nn.Linear(2, 1)

    def fit(rounds: int, optimizer: Any) -> None:
        for _ in range(rounds):
            net(engine.ones(2)).sum().backward()
            optimizer.step()

    with engine.record() as trace:
        fit(3, engine.optim.SGD(net.parameters(), lr=0.1))
        fit(4, engine.optim.Adam(net.parameters()))
    assert numbers(trace) == [0, 1, 2, 3, 3, 5, 6]  # that the second has a loop is known at the end of its second round


def test_a_second_network_that_is_trained_more_often_is_counted() -> None:
    net: Any = engine.nn.Linear(2, 1)
    optimizer: Any = engine.optim.SGD(net.parameters(), lr=0.1)
    with engine.record() as trace:
        for round_ in range(6):
            if round_ % 3 == 0:
                net(engine.ones(2)).sum().backward()
                optimizer.step()
            net(engine.ones(2)).mean().backward()
            optimizer.step()
    assert numbers(trace)[-1] == 6


def test_without_an_optimiser_backward_calls_count_and_inner_ones_do_not() -> None:
    x: Any = engine.ones(2, requires_grad=True)
    with engine.record() as trace:
        for _ in range(2):
            y = (x * x * x).sum()
            (slope,) = engine.autograd.grad(y, x, create_graph=True)
            slope.sum().backward()
    assert numbers(trace) == [0, 1, 1, 1]


def train_two(rounds: int) -> None:
    """A round makes a step of each of two networks."""
    nets: list[Any] = [engine.nn.Linear(WIDE, WIDE), engine.nn.Linear(WIDE, WIDE)]
    first, second = (engine.optim.SGD(net.parameters(), lr=0.1) for net in nets)
    for _ in range(rounds):
        nets[0](engine.ones(2, WIDE)).sum().backward()
        first.step()
        nets[1](engine.ones(2, WIDE)).sum().backward()
        second.step()


def streamed(path: Path, rounds: int, run: Callable[[int], None] = train, **more: Any) -> tuple[Stream, Trace]:
    recorder = Recorder()
    stream = Stream(recorder, str(path), Places(str(Path(__file__).parent)), **more)
    slot.active = recorder
    run(rounds)
    stream.finish({})
    return stream, open_trace(path)


def test_values_are_whole_in_the_iterations_that_were_chosen(tmp_path: Path) -> None:
    _, trace = streamed(tmp_path / "t", 4, selection=Selection(((1, 2),)))
    counted = Iterations()
    kept: set[tuple[int, bool]] = set()
    for event in trace.events:
        counted.see(event)
        if isinstance(event, OpCalled):
            made = [trace.values[out.value] for out in event.outputs]
            kept |= {(counted.number, value.array is not None) for value in made if value.shape == (1, WIDE)}
        if isinstance(event, LeafCreated):
            assert trace.values[event.value].array is not None
    assert kept == {(0, False), (1, True), (2, False), (3, False)}
    again = engine.replay(trace)
    assert again.meta["doubt"] is None
    assert all(mine.is_like(was) for mine, was in zip(again.values, trace.values, strict=True))


def test_both_networks_of_a_chosen_iteration_have_whole_values(tmp_path: Path) -> None:
    _, trace = streamed(tmp_path / "t", 6, train_two, selection=Selection(((0, 1), (3, 4))))
    outputs = [out for event in trace.events if isinstance(event, OpCalled) for out in event.outputs]
    results = [trace.values[out.value] for out in outputs if out.shape == (2, WIDE)]
    is_whole = [value.array is not None for value in results]
    # the second one begins before it is certain that the first is over
    assert is_whole == [True, True, True, False, False, False, True, True, False, False, False, False]


@pytest.mark.parametrize(("most", "reason"), [(SizeLimits(ops=25), "25 ops"), (SizeLimits(bytes=200_000), "bytes")])
def test_recording_ends_at_its_limit_and_the_program_does_not(tmp_path: Path, most: SizeLimits, reason: str) -> None:
    said: list[str] = []
    stream, trace = streamed(tmp_path / "t", 60, most=most, say=said.append)
    assert stream.cut is not None and stream.cut.kind == "limit" and reason in stream.cut.reason
    assert trace.meta["cut"]["written"] == len(trace.events)
    ops = sum(isinstance(event, OpCalled) for event in trace.events)
    assert ops == 25 if most.ops else (tmp_path / "t").stat().st_size < 250_000
    assert len(said) == 1 and "goes on unrecorded" in said[0]


def test_a_stream_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "PROGRESS_EVERY", 0.0)
    told: list[Progress] = []
    stream = Stream(Recorder(), str(tmp_path / "t"), Places(str(Path(__file__).parent)), tell=told.append)
    stream.start()
    train(3)
    while not (told and told[-1].iterations == 3):
        stream._stop.wait(0.01)
    stream.finish({})
    ops = sum(isinstance(event, OpCalled) for event in open_trace(tmp_path / "t").events)
    assert told[-1].ops == stream.progress.ops == ops and told[-1].bytes <= stream.progress.bytes
