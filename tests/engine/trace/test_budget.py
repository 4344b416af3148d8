"""A long recording that is written while it runs: which values are written whole, and which stay in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.arrays.session import slot
from engine.replay.program import Edits
from engine.trace.events import Escaped, LeafCreated, OpCalled, Trace, VjpRun, WrittenOutside
from engine.trace.file.budget import SMALL, WrittenValues
from engine.trace.file.streaming import Stream
from engine.trace.file.tracefile import open_trace
from engine.trace.recorder import Recorder
from engine.trace.source import Places
from engine.trace.summary import StoredArray

HERE = str(Path(__file__).parent)


def network(rounds: int, wide: int) -> None:
    """A recurrent network, whose products are worked out when they are read, and a number that leaves for Python."""
    w: Any = engine.ones(wide, wide, requires_grad=True)
    for _ in range(rounds):
        h: Any = engine.ones(4, wide)
        for _ in range(4):
            h = (h @ w / wide).tanh()
        h.sum().backward()
        h.tolist()
        with engine.no_grad():
            w -= 0.01 * w.grad
        w.grad = None


def streamed(path: Path, rounds: int, wide: int, **more: int) -> Recorder:
    """Record the network into a file, with everything written and let go after every op that made something."""
    recorder = Recorder()
    stream = Stream(recorder, str(path), Places(HERE), **more)
    slot.active = recorder
    recorder.pace = lambda: stream._write(float("inf")) and None
    network(rounds, wide)
    stream.finish({})
    return recorder


def in_memory(rounds: int, wide: int) -> Trace:
    with engine.record() as trace:
        network(rounds, wide)
    return trace


def test_recorder_holds_what_the_program_does_and_no_more(tmp_path: Path) -> None:
    held = []
    for rounds in (30, 90):
        recorder = streamed(tmp_path / "t", rounds, 32)
        held.append(sum(v.nbytes for v in recorder.values if isinstance(v, np.ndarray)))
    assert any(isinstance(value, StoredArray) for value in recorder.values)
    assert held[1] < 1.2 * held[0] and held[1] < 600 * 4096
    assert not any(recorder.log[:-1]), "what is written is let go, but for the newest"


def test_the_line_of_an_op_is_known_after_the_op_was_let_go(tmp_path: Path) -> None:
    recorder = Recorder()
    stream = Stream(recorder, str(tmp_path / "t"), Places(HERE))
    slot.active = recorder
    recorder.pace = lambda: stream._write(float("inf")) and None
    y: Any = engine.ones(3, requires_grad=True).exp()
    total = (y * 2).sum()
    y.mul_(3)
    with pytest.raises(RuntimeError) as caught:
        total.backward()
    line = test_the_line_of_an_op_is_known_after_the_op_was_let_go.__code__.co_firstlineno + 5
    assert recorder.forgotten > 3
    assert f"ExpBackward0 stands for the op in test_budget.py, line {line}." in "".join(caught.value.__notes__)
    stream.finish({})


def test_values_that_were_let_go_are_in_the_file_bit_for_bit(tmp_path: Path) -> None:
    streamed(tmp_path / "t", 40, 32)
    found, wanted = open_trace(tmp_path / "t"), in_memory(40, 32)
    assert len(found.values) == len(wanted.values)
    assert all(a.array is not None and a.is_like(b) for a, b in zip(found.values, wanted.values, strict=True))


def test_beyond_the_budget_large_values_are_samples_where_a_replay_makes_them_again(tmp_path: Path) -> None:
    streamed(tmp_path / "t", 3, 80, whole=100_000)
    found, wanted = open_trace(tmp_path / "t"), in_memory(3, 80)
    short = [i for i, value in enumerate(found.values) if value.array is None]
    made = {out.value for e in found.events if isinstance(e, OpCalled) for out in e.outputs}
    sent = {value for e in found.events if isinstance(e, VjpRun) for value in (*e.upstream, *e.cotangents)}
    assert made & {*short} and sent & {*short}
    assert not {e.value for e in found.events if isinstance(e, LeafCreated)} & {*short}
    for i, (mine, whole) in enumerate(zip(found.values, wanted.values, strict=True)):
        assert mine.is_like(whole), i
        assert (mine.array is not None) or (whole.array is not None and whole.array.size > SMALL)
    assert np.prod(found.values[0].shape) > SMALL and found.values[0].array is not None  # the leaf


def test_replay_of_samples_is_the_run_itself(tmp_path: Path) -> None:
    streamed(tmp_path / "t", 2, 80, whole=0)
    again, wanted = engine.replay(open_trace(tmp_path / "t")), in_memory(2, 80)
    assert again.meta["doubt"] is None
    assert all(a.is_like(b) and a.array is not None for a, b in zip(again.values, wanted.values, strict=True))


def test_large_value_that_leaves_for_python_is_doubted_only_where_it_is_another() -> None:
    with engine.record(limit=10) as trace:
        x: Any = engine.ones(5, requires_grad=True)
        y = x.repeat(20) * 2
        y.tolist()
    assert trace.value(next(e.value for e in trace.events if isinstance(e, Escaped))).array is None
    assert engine.replay(trace).meta["doubt"] is None
    leaf = next(e.tensor for e in trace.events if isinstance(e, LeafCreated))
    changed = engine.replay(trace, Edits(leaves={leaf: [1.0, 1.0, 3.0, 1.0, 1.0]}))
    assert changed.meta["doubt"] is not None


def test_recording_within_a_recording_is_read_whole(tmp_path: Path) -> None:
    recorder = Recorder()
    stream = Stream(recorder, str(tmp_path / "t"), Places(HERE))
    slot.active = recorder
    with engine.record() as trace:
        recorder.pace = lambda: stream._write(float("inf")) and None
        network(30, 32)
        assert recorder.forgotten > 500
    network(1, 32)
    stream.finish({})
    wanted = in_memory(30, 32)
    assert [type(event) for event in trace.events] == [type(event) for event in wanted.events]
    assert all(value.array is not None for value in trace.values)
    assert all(a.is_like(b) for a, b in zip(trace.values, wanted.values, strict=True))
    assert trace.names == wanted.names and dict(trace.meta) == {}


def test_what_is_compared_with_writes_through_numpy_is_not_let_go(tmp_path: Path) -> None:
    recorder = Recorder()
    stream = Stream(recorder, str(tmp_path / "t"), Places(HERE))
    slot.active = recorder
    recorder.pace = lambda: stream._write(float("inf")) and None
    x: Any = engine.ones(600)
    elements = x.numpy()
    other: Any = engine.from_numpy(np.zeros(600, "float32"))
    x + other
    for _ in range(2):
        network(30, 32)
        elements[0] += 1
        x + other
    stream.finish({})
    found = open_trace(tmp_path / "t")
    written = [found.values[e.value].array for e in found.events if isinstance(e, WrittenOutside)]
    assert [array[0] for array in written if array is not None] == [2, 3]


def test_array_that_is_several_values_is_let_go_of_all_of_them() -> None:
    own, passed = np.ones(1000), np.zeros(1000)
    values: list[Any] = [np.ones(1000), passed, passed, own, np.ones(2)]
    del passed
    holding = WrittenValues()
    holding._look_at = 1
    for number, value in enumerate(values):
        holding.add(number, value)
    del value
    assert holding.bytes == 3 * 8000 + 16
    holding.let_go(values, compared={0})
    assert [type(one) for one in values] == [np.ndarray, StoredArray, StoredArray, np.ndarray, StoredArray]
    assert values[3] is own and holding.bytes == 2 * 8000
    holding._look_at = 1
    holding.let_go(values)
    assert [type(one) for one in values[:4]] == [StoredArray, StoredArray, StoredArray, np.ndarray]
