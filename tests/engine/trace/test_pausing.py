"""A recording that pauses between the iterations that were chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.arrays.session import slot
from engine.trace.events import Accumulated, GroupEntered, OpCalled, Refreshed, Skipped, Trace
from engine.trace.file.iterations import Selection
from engine.trace.file.outline import outline_in_file
from engine.trace.file.streaming import Stream
from engine.trace.file.tracefile import open_trace
from engine.trace.recorder import Recorder
from engine.trace.source import Places

ROUNDS = 12
CHOSEN = Selection(((4, 6),), every=10)


def train(rounds: int = ROUNDS) -> Any:
    engine.manual_seed(0)
    layer: Any = engine.nn.Linear(3, 1)
    optimizer: Any = engine.optim.Adam(layer.parameters(), lr=0.1)
    for _ in range(rounds):
        optimizer.zero_grad()
        (layer(engine.ones(2, 3)) - 5).square().mean().backward()
        optimizer.step()
    return layer


def streamed(path: Path, program: Any = train, chosen: Selection = CHOSEN, pauses: bool = True) -> tuple[Stream, Trace]:
    stream = Stream(Recorder(), str(path), Places(str(Path(__file__).parent)), selection=chosen, pauses=pauses)
    stream.start()
    try:
        program()
    finally:
        stream.finish({})
    return stream, open_trace(path)


def pauses(trace: Trace) -> list[tuple[int, int]]:
    return [(event.iterations, event.number) for event in trace.events if isinstance(event, Skipped)]


def gradients(trace: Trace) -> list[bytes]:
    """Of each iteration that is recorded, the gradient of the weight."""
    weight = next(tensor for tensor, name in trace.names.items() if name == "layer.weight")
    found = [event for event in trace.events if isinstance(event, Accumulated) and event.tensor == weight]
    return [np.asarray(trace.value(event.after).array).tobytes() for event in found]


def test_only_the_first_two_iterations_and_those_that_are_chosen_are_recorded(tmp_path: Path) -> None:
    stream, trace = streamed(tmp_path / "t")
    assert pauses(trace) == [(2, 4), (4, 10), (1, 12)]
    _, whole = streamed(tmp_path / "whole", pauses=False)
    assert gradients(trace) == [gradients(whole)[number] for number in (0, 1, 4, 5, 10)]
    progress = stream.progress
    assert (progress.iterations, progress.skipped, progress.are_updates) == (ROUNDS, 7, True)
    assert stream.refusal is None


def test_program_computes_the_same_and_nothing_of_it_stays_behind(tmp_path: Path) -> None:
    layers: list[Any] = []
    streamed(tmp_path / "t", lambda: layers.append(train()))
    assert slot.active is None and slot.stepped is None
    assert layers[0].weight._array.tobytes() == train().weight._array.tobytes()


def test_what_has_changed_is_read_before_the_model_is_called_again(tmp_path: Path) -> None:
    _, trace = streamed(tmp_path / "t")
    place = next(event.index for event in trace.events if isinstance(event, Skipped))
    called = next(event.index for event in trace.events[place:] if isinstance(event, GroupEntered))
    read = {trace.names[event.tensor] for event in trace.events[place:called] if isinstance(event, Refreshed)}
    assert read == {"layer.weight", "layer.bias"}


def test_replay_goes_on_with_what_a_pause_has_brought(tmp_path: Path) -> None:
    _, trace = streamed(tmp_path / "t")
    again = engine.replay(trace)
    assert list(again.events) == list(trace.events) and again.meta["doubt"] is None
    assert all(mine.is_like(was) for mine, was in zip(again.values, trace.values, strict=True))


def test_the_change_during_a_pause_is_no_update(tmp_path: Path) -> None:
    _, trace = streamed(tmp_path / "t")
    _, whole = streamed(tmp_path / "whole", pauses=False)
    mine, all_of_them = (outline_in_file(one) for one in (trace, whole))
    assert (
        mine is not None and mine.measures is not None and all_of_them is not None and all_of_them.measures is not None
    )
    ratios = all_of_them.measures.updates.ratio.reshape(ROUNDS, 2)
    assert mine.measures.updates.ratio.tolist() == ratios[[0, 1, 4, 5, 10]].ravel().tolist()


def test_memory_that_is_written_in_a_pause_is_not_that_of_a_recorded_value(tmp_path: Path) -> None:
    weights: list[list[float]] = []

    def program() -> None:
        w: Any = engine.zeros(4, requires_grad=True)
        optimizer: Any = engine.optim.SGD([w], lr=1.0)
        for number in range(4):
            (w * 1).sum().backward()
            weights.append(w._array.tolist())
            optimizer.step()
            if number == 2:
                w.data.fill_(-50.0)  # its memory, which a value of the first iterations had

    _, trace = streamed(tmp_path / "t", program, Selection(((3, 4),)))
    products = [event for event in trace.events if isinstance(event, OpCalled) and event.name == "mul"]
    recorded = [np.asarray(trace.value(event.outputs[0].value).array).tolist() for event in products]
    assert recorded == [weights[number] for number in (0, 1, 3)] and weights[3] == [-50.0] * 4


def test_error_in_a_pause_is_the_last_event_with_the_number_of_its_iteration(tmp_path: Path) -> None:
    recorder = Recorder()
    stream = Stream(
        recorder, str(tmp_path / "t"), Places(str(Path(__file__).parent)), selection=Selection(((0, 1),)), pauses=True
    )
    stream.start()
    train(7)
    assert slot.active is None and recorder.go_on is not None
    recorder.go_on()
    recorder.error(ValueError("stop"))
    stream.finish({})
    trace = open_trace(tmp_path / "t")
    assert pauses(trace) == [(5, 7)] and type(trace.events[-1]).__name__ == "ErrorRaised"


@pytest.mark.parametrize("is_new", [False, True])
def test_optimisers_are_told_apart_by_what_they_hold(tmp_path: Path, is_new: bool) -> None:
    def program() -> None:
        tensors: list[Any] = [engine.ones(3, requires_grad=True) for _ in range(2)]
        optimizers = [engine.optim.SGD([one], lr=0.1) for one in tensors]
        for _ in range(6):
            if is_new:
                optimizers = [engine.optim.SGD([one], lr=0.1) for one in tensors]
            sum((one * one).sum() for one in tensors).backward()
            for optimizer in optimizers:
                optimizer.step()

    _, trace = streamed(tmp_path / "t", program, Selection(((4, 5),)))
    assert pauses(trace) == [(2, 4), (1, 6)]


@pytest.mark.parametrize("is_inside", [False, True])
def test_recording_that_cannot_pause_says_why(tmp_path: Path, is_inside: bool) -> None:
    class Trainer(engine.nn.Module):
        def forward(self) -> None:
            train(5)

    def program() -> None:
        if is_inside:
            Trainer()()
        else:
            w: Any = engine.zeros(4, requires_grad=True)
            for _ in range(5):
                (w * 2).sum().backward()

    stream, trace = streamed(tmp_path / "t", program, Selection(((3, 4),)))
    assert pauses(trace) == [] and stream.refusal == ("inside" if is_inside else "no-update")
    assert stream.progress.iterations == 5
