"""`import backstep` and `with backstep.record() as trace:`, which record a part of a program."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backstep
import engine
from engine.trace.events import BackwardStarted, ErrorRaised, OpCalled, Trace
from engine.trace.file.iterations import Selection
from engine.trace.file.streaming import Stream
from viz.record.block import selection
from viz.record.runner import WITHOUT_INPUT, Script, run_script


def train(iterations: int) -> engine.Tensor:
    """A training loop whose tensors are larger than the samples that are kept of them."""
    w = engine.zeros(100, requires_grad=True)
    optimizer = engine.optim.SGD([w], lr=0.1)
    for _ in range(iterations):
        optimizer.zero_grad()
        (w - 1).exp().sum().backward()
        optimizer.step()
    return w


def kept(trace: Trace) -> list[bool]:
    """Of each exponential in a training loop, whether its values are kept."""
    found = [event.outputs[0].value for event in trace.events if isinstance(event, OpCalled) and event.name == "exp"]
    return [trace.value(value).array is not None for value in found]


def test_block_is_written_to_its_file_with_positions_in_the_program(tmp_path: Path) -> None:
    path = tmp_path / "run.backstep"
    with backstep.record(path) as trace:
        w = train(2)
        with pytest.raises(RuntimeError, match="still runs"):
            trace.events  # noqa: B018 asking is what is tested
    assert list(backstep.open(path).events) == list(trace.events)
    assert {stack[-1].file for stack in trace.stacks} == {"test_block.py"}
    assert "w" in trace.names.values() and w.grad is not None
    assert list(backstep.replay(trace).events) == list(trace.events)


def test_thread_that_writes_is_not_among_those_of_the_program(tmp_path: Path) -> None:
    before = threading.enumerate()
    with backstep.record(tmp_path / "run.backstep"):
        train(2)
        assert threading.enumerate() == before  # a program may wait until it is the only one
    assert threading.active_count() == len(before)


@pytest.mark.parametrize(
    ("policy", "iterations"),
    [({}, range(6)), ({"record_every": 4}, (0, 1, 4)), ({"steps": range(1, 3)}, (1, 2)), ({"steps": [5]}, (5,)),
     ({"steps": [1], "record_every": 3}, (0, 1, 3))],
)  # fmt: skip
def test_chosen_iterations_keep_their_values(policy: dict[str, Any], iterations: Any) -> None:
    with backstep.record(**policy) as trace:
        train(6)
    assert [number for number, whole in enumerate(kept(trace)) if whole] == list(iterations)


def test_values_are_chosen_by_their_own_events_if_the_program_ends_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that writes had an early goal when the program ended, and wrote all values that were there."""
    set_goal = Stream._set_goal

    def until_the_end(stream: Stream) -> None:
        set_goal(stream)
        assert stream._stop.wait(60)

    monkeypatch.setattr(Stream, "_set_goal", until_the_end)
    with backstep.record(steps=[1]) as trace:
        train(6)
    assert [number for number, whole in enumerate(kept(trace)) if whole] == [1]


def test_error_is_the_last_event_and_passes_through(tmp_path: Path) -> None:
    with pytest.raises(IndexError), backstep.record(tmp_path / "run.backstep") as trace:
        train(1)[100]
    assert isinstance(trace.events[-1], ErrorRaised)
    assert engine.arrays.session.slot.active is None


def test_decorated_function_is_recorded_at_each_call(tmp_path: Path) -> None:
    path = tmp_path / "calls.backstep"
    bare, written = backstep.record(train), backstep.record(path)(train)
    assert bare(2).shape == written(3).shape == (100,)
    calls = [
        [event for event in trace.events if isinstance(event, BackwardStarted)]
        for trace in (vars(bare)["trace"], backstep.open(path))
    ]
    assert [len(found) for found in calls] == [2, 3] and bare.__name__ == "train"


def test_block_in_a_recording_is_its_part(tmp_path: Path) -> None:
    with backstep.record() as outer:
        x = engine.ones(3, requires_grad=True)
        with backstep.record(tmp_path / "inner.backstep") as inner:
            (x * 2).sum().backward()
        x.exp()
    assert list(inner.events) == list(outer.events)[: len(inner.events)]
    assert len(inner.events) < len(outer.events)
    assert list(backstep.open(tmp_path / "inner.backstep").events) == list(inner.events)


def test_recording_that_has_begun_goes_on_if_it_is_started_again() -> None:
    """As in a Trainer that accumulates gradients: of several batches each begins the same step."""
    recording = backstep.record()
    x = engine.ones(2, requires_grad=True)
    trace = recording.start()
    x.sum().backward()
    assert recording.start() is trace
    x.sum().backward()
    recording.stop()
    recording.stop()
    assert sum(isinstance(event, BackwardStarted) for event in trace.events) == 2
    assert engine.arrays.session.slot.active is None


@pytest.mark.parametrize("path", [None, "outer.backstep"])
def test_recordings_that_end_in_another_order_leave_none_active(tmp_path: Path, path: str | None) -> None:
    """As those of two threads, or of two callbacks, do."""
    first, second = backstep.record(path and tmp_path / path), backstep.record()
    whole = first.start()
    x = engine.ones(3, requires_grad=True)
    part = second.start()
    x.exp()
    often = gc.get_threshold()
    first.stop()
    assert engine.arrays.session.slot.active is None
    assert gc.get_threshold() != often or path
    x.sin()
    second.stop()
    assert engine.arrays.session.slot.active is None
    assert [type(event).__name__ for event in part.events] == ["LeafCreated", "OpCalled"]
    assert list(part.events) == list(whole.events)


@pytest.mark.parametrize(
    "policy",
    [{"record_every": 0}, {"record_every": "7"}, {"record_every": True}, {"steps": []}, {"steps": [-1]},
     {"steps": [0.5]}, {"steps": 3}, {"steps": "100:103"}, {"steps": range(-1, 4)}, {"steps": ["a", 1]}],
)  # fmt: skip
def test_numbers_that_are_no_iterations_are_refused(policy: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="give"):
        backstep.record(**policy)


def test_iterations_may_be_numpys_numbers_and_a_range_without_an_end_in_sight() -> None:
    assert selection(np.int64(4), np.array([1, 2])) == Selection(((1, 3),), 4)
    assert selection(None, range(100, 10**12)) == Selection(((100, 10**12),))


def test_file_that_is_not_a_trace_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_text("weights")
    with pytest.raises(ValueError, match="is not a trace"):
        backstep.record(tmp_path / "model.pt")


def test_script_that_is_run_can_import_it(tmp_path: Path) -> None:
    """Also in a checkout that is not installed: the interpreter sees the packages and nothing of ours."""
    script = tmp_path / "lesson.py"
    script.write_text(
        "import backstep\nfrom backstep import engine as torch\n"
        f"with backstep.record({str(tmp_path / 'part.backstep')!r}) as trace:\n"
        "    torch.ones(2, requires_grad=True).sum().backward()\n"
        "backstep.show(trace)\n"
    )
    recording = run_script(Script(script), tmp_path / "lesson.backstep", streams=WITHOUT_INPUT)
    assert (recording.returncode, recording.explanation) == (0, "")
    assert len(backstep.open(tmp_path / "part.backstep").events) == 6


def test_gradients_of_a_function_are_checked() -> None:
    x = engine.tensor([0.5, 2.0], dtype=engine.float64, requires_grad=True)
    assert backstep.check(lambda x: x.exp().sum(), [x])
    assert not backstep.check(lambda x: (x.detach() * x).sum(), x, raise_exception=False)


def test_names_are_those_that_it_lists() -> None:
    assert all(hasattr(backstep, name) for name in backstep.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'recrod'"):
        backstep.recrod  # noqa: B018 asking is what is tested


@pytest.mark.parity
def test_gradients_of_torchs_tensors_are_checked_by_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    assert backstep.check(lambda x: x.exp().sum(), x)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        backstep.check(lambda x: (x.detach() * x).sum(), x)


def test_replay_says_that_it_expects_a_trace() -> None:
    for given in ("run.backstep", Path("run.backstep"), None):
        with pytest.raises(TypeError, match=r"expects a trace, found .*backstep\.open"):
            backstep.replay(given)  # type: ignore[arg-type]


def test_block_pauses_and_records_an_error_of_an_iteration_that_it_skips(tmp_path: Path) -> None:
    path = tmp_path / "run.backstep"

    def program() -> None:
        train(7)
        raise ArithmeticError("stop")

    with pytest.raises(ArithmeticError), backstep.record(path, steps=[3], pause=True) as trace:
        program()
    assert kept(trace) == [True] * 3
    assert [type(event).__name__ for event in trace.events[-2:]] == ["Skipped", "ErrorRaised"]
    with pytest.raises(ValueError, match="pause=True needs record_every or steps"):
        backstep.record(path, pause=True)
