"""A recording that is written while it runs is the one that is read at its end."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.arrays.session import slot
from engine.trace.events import OpCalled, Trace
from engine.trace.file import streaming
from engine.trace.file.database import TraceFileError
from engine.trace.file.streaming import Stream
from engine.trace.file.tracefile import Writer, open_trace, save
from engine.trace.log_reader import read
from engine.trace.module_names import best_name
from engine.trace.recorder import Recorder
from engine.trace.source import Places
from viz import gallery
from viz.server.programs import record_source

from .equality import traces_equal

PROGRAMS = gallery.gallery()
TEXT = """
import engine as torch
x = torch.tensor([1., 2.], requires_grad=True)
def f(v):
    return v * v
y = f(x) + 1
with torch.no_grad():
    w = torch.zeros(3)
    for i in range(4):
        w += i
y.sum().backward()
rows = [x[i] for i in range(2)]
def fill(layer):
    torch.nn.init.ones_(layer.weight)
    return layer
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = fill(torch.nn.Linear(2, 1))
    def forward(self, x):
        return self.layer(x)
model = Net()
model(x)
"""


def streamed(path: Path, text: str) -> tuple[Recorder, Stream]:
    """Run a program with a stream that drains after every op, as an impatient thread would."""
    recorder = Recorder()
    stream = Stream(recorder, str(path), Places(str(path.parent)), ("program",))
    slot.active = recorder
    filename = str(path.parent / "program.py")
    (path.parent / "program.py").write_text(text)

    def watch(frame: object, event: str, argument: object) -> object:
        if event == "line" and slot.active is recorder:
            slot.active = None
            with stream._lock:
                stream._drain()
            slot.active = recorder
        return watch if getattr(frame, "f_code", None) is code else None

    code = compile(text, filename, "exec")
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        exec(code, {"__name__": "__main__"})
    finally:
        sys.settrace(before)
        slot.active = None
    return recorder, stream


def keeping(stream: Stream) -> Stream:
    """A stream whose recorder lets go of nothing, so that both can be compared."""
    stream.recorder.forget = lambda until: None  # type: ignore[method-assign]
    stream._holding.let_go = lambda *_: None  # type: ignore[method-assign]
    return stream


def test_stream_writes_what_is_read_at_the_end(tmp_path: Path) -> None:
    recorder, stream = streamed(tmp_path / "t", TEXT)
    expected = read(recorder.recording, ("program",), {"seed": 1}, root=str(tmp_path))  # what is flushed is let go
    stream.finish({"seed": 1})
    assert recorder.forgotten == len(recorder.log) - 1 and not any(recorder.log[:-1])
    found = open_trace(tmp_path / "t")
    assert traces_equal(found, expected) and len(found.events) > 15
    adds = [e for e in found.events if isinstance(e, OpCalled) and e.name == "add" and e.inplace is not None]
    written = [found.values[e.outputs[0].value].array for e in adds]
    assert [a[0] for a in written if a is not None] == [0, 1, 3, 6]
    assert "model.layer.weight" in found.names.values()


def test_thread_writes_what_is_read_at_the_end(tmp_path: Path) -> None:
    recorder = Recorder()
    stream = keeping(Stream(recorder, str(tmp_path / "t"), Places(str(Path(__file__).parent))))
    stream.start()
    x: Any = engine.ones(50, requires_grad=True)
    for _ in range(200):
        (x * x).sum().backward()
    stream.finish({})
    assert slot.active is None
    assert traces_equal(open_trace(tmp_path / "t"), read(recorder.recording, root=str(Path(__file__).parent)))


def test_gradient_that_is_several_values_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Any] = []
    take = Writer.elements

    def elements(writer: Writer, raw: bytes, dtype: str, shape: tuple[int, ...]) -> bytes:
        taken.append(raw)
        return take(writer, raw, dtype, shape)

    monkeypatch.setattr(Writer, "elements", elements)
    recorder = Recorder()
    stream = keeping(Stream(recorder, str(tmp_path / "t"), Places(str(Path(__file__).parent))))
    monkeypatch.setattr(slot, "active", recorder)
    x: Any = engine.ones(20, requires_grad=True)
    y = x + engine.ones(20, requires_grad=True) + engine.ones(20, requires_grad=True)
    y.backward(engine.ones(20))  # one gradient: passed on by each node, and added to each `.grad`
    with engine.no_grad():
        x.grad *= 2  # of what it was before, each value has a copy
    stream.finish({})
    found = open_trace(tmp_path / "t")
    assert len(taken) < len(found.values) - 2
    assert traces_equal(found, read(recorder.recording, root=str(Path(__file__).parent)))


def test_what_comes_while_a_portion_is_written_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "BATCH", 2)
    recorder = Recorder()
    stream = keeping(Stream(recorder, str(tmp_path / "t"), Places(str(Path(__file__).parent))))
    monkeypatch.setattr(slot, "active", recorder)
    x: Any = engine.ones(2, requires_grad=True) * 2
    y = x * x * x
    while len(recorder.log) % 2 == 0:
        y = y * x  # so that the portion ends within what is written at once
    assert not stream._write(float("inf"))  # the thread stops here, in the middle of what it had found
    y.sum().backward()
    stream.finish({})
    assert traces_equal(open_trace(tmp_path / "t"), read(recorder.recording, root=str(Path(__file__).parent)))


def test_names_are_looked_at_once_however_often_the_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[str] = []

    def choosing(noted: str | None, called: str) -> str:
        chosen.append(called)
        return best_name(noted, called)

    monkeypatch.setattr(streaming, "best_name", choosing)
    recorder = Recorder()
    stream = keeping(Stream(recorder, str(tmp_path / "t"), Places(str(Path(__file__).parent))))
    nets = [engine.nn.Linear(2, 2) for _ in range(30)]
    monkeypatch.setattr(slot, "active", recorder)
    for net in nets:
        net(engine.ones(2))
        stream._write(float("inf"))
    stream.finish({})
    found = open_trace(tmp_path / "t")
    assert {"nets[0].weight", "nets[29].bias"} <= set(found.names.values())
    assert 60 <= len(chosen) < 180
    assert traces_equal(found, read(recorder.recording, root=str(Path(__file__).parent)))


def test_modules_that_the_program_let_go_of_are_freed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    stream = Stream(recorder, str(tmp_path / "t"), Places())
    monkeypatch.setattr(slot, "active", recorder)
    alive: list[weakref.ref[Any]] = []
    for _ in range(3):
        net = engine.nn.Linear(2, 2)
        optimizer = engine.optim.SGD(net.parameters(), lr=0.1)
        net(engine.ones(2)).sum().backward()
        optimizer.step()
        alive += [weakref.ref(net), weakref.ref(net.weight), weakref.ref(optimizer)]
        del net, optimizer
    gc.collect()
    stream.finish({})
    assert not any(one() for one in alive)


def test_fault_of_the_stream_is_told_at_the_end_and_spares_the_program(tmp_path: Path) -> None:
    recorder = Recorder()
    stream = Stream(recorder, str(tmp_path / "t"), Places())
    stream.start()
    engine.ones(2)
    recorder.log.append(("no such kind", -1))
    with pytest.raises(KeyError, match="no such kind"):
        stream.finish({})
    found = open_trace(tmp_path / "t")
    assert found.meta["incomplete"] and len(found.events) == len(recorder.log) - 1


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_trace_of_every_program_comes_back_from_a_file(program: gallery.Program, tmp_path: Path) -> None:
    trace = record_source(program.source, program.path)
    save(trace, tmp_path / "t")
    assert traces_equal(trace, open_trace(tmp_path / "t"))
    assert len(trace.events) >= 2 and set(trace.files) == {program.path.name}


def test_values_over_the_limit_come_back_with_statistics_and_sample(tmp_path: Path) -> None:
    with engine.record(limit=10) as trace:
        x: Any = engine.ones(100, requires_grad=True)
        x.sum().backward()
    save(trace, tmp_path / "t")
    again = Trace.open(str(tmp_path / "t"))
    assert traces_equal(trace, again)
    assert again.values[0].array is None and again.values[0].stats["norm"] == 10 and again.values[0].sample.size <= 64
    assert isinstance(again.values[0].sample, np.ndarray)


def test_stream_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="cannot write"):
        Stream(Recorder(), str(tmp_path / "none" / "t"), Places())
