"""Blocks of programs on PyTorch: inside of one another, and with both libraries in one program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import backstep
from engine.trace.events import AnyEvent, BackwardStarted, ErrorRaised, LeafCreated, OpCalled, VjpRun
from viz.scene.details import details
from viz.scene.reading import reading_of

pytestmark = pytest.mark.parity

torch: Any = pytest.importorskip("torch")


def named(events: Any) -> list[str]:
    """What happened, without changes of flags and modes."""
    return [name(one) for one in events if isinstance(one, (OpCalled, LeafCreated, BackwardStarted, ErrorRaised))]


def name(event: AnyEvent) -> str:
    return event.name if isinstance(event, OpCalled) else type(event).__name__


@pytest.mark.parametrize("file", ["inner.backstep", None])
def test_block_in_a_recording_has_its_last_op_and_its_error(tmp_path: Path, file: str | None) -> None:
    with backstep.record(tmp_path / "outer.backstep") as outer:
        x = torch.ones(3, requires_grad=True)
        with backstep.record(file and tmp_path / file) as inner:
            y = x.exp()
        with pytest.raises(RuntimeError), backstep.record() as failed:
            (y * 2) @ torch.ones(2)
        x.sin()
    assert named(inner.events) == ["LeafCreated", "exp"]
    assert named(failed.events)[2:] == ["mul", "LeafCreated", "ErrorRaised"]
    assert named(outer.events) == [*named(failed.events), "sin"]


@pytest.mark.parametrize("file", ["both.backstep", None])
def test_program_that_uses_both_libraries_is_recorded_in_its_order(tmp_path: Path, file: str | None) -> None:
    engine = backstep.engine
    plain = engine.record
    with backstep.record(file and tmp_path / file) as trace:
        x, a = torch.tensor([1.0, 2.0], requires_grad=True), engine.tensor([1.0, 2.0], requires_grad=True)
        y, b = x.exp(), a.exp()
        z, c = y.sum(), b.sum()
        z.backward()
        c.backward()
        d = engine.tensor(x.grad.tolist(), requires_grad=True)
        (d * a).sum().backward()
    steps = ["LeafCreated", "LeafCreated", "exp", "exp", "sum", "sum", *["BackwardStarted"] * 2]
    assert named(trace.events) == [*steps, "LeafCreated", "mul", "sum", "BackwardStarted"]
    vjps = [event for event in trace.events if isinstance(event, VjpRun)]
    assert len(vjps) == 6 and len({one.node for one in vjps}) == 6
    assert x.grad.tolist() == pytest.approx(a.grad.tolist() if d.grad is None else [2.718281828, 7.389056], rel=1e-6)
    for element in reading_of(trace).drawing.items:
        found = details(trace, {}, element).get("compared")
        assert found is None or found["agrees"]
    with plain() as alone:  # nothing is left behind in the engine's recorder
        engine.ones(2, requires_grad=True).sum().backward()
    assert named(alone.events) == ["LeafCreated", "sum", "BackwardStarted"]
