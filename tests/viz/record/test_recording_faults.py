"""A recording that cannot go on keeps what it has, says what is missing, and leaves the script alone."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import engine
from engine.arrays.session import slot
from engine.replay.replay import replay
from engine.trace import log_reader
from engine.trace.events import OpCalled, Trace, WarningGiven
from engine.trace.file import streaming
from engine.trace.file.consistency import open_checked
from engine.trace.file.measures import Meter
from engine.trace.file.outline import BLOCK, outline_in_file
from engine.trace.file.streaming import EarlyEnd, Stream
from engine.trace.file.tracefile import TraceWriteError, Writer, open_trace, tally
from engine.trace.record import record
from engine.trace.recorder import Recorder
from engine.trace.source import Places
from engine.trace.variable_names import Binder, Naming
from viz.reading.library import about
from viz.record import missing_recording, runner
from viz.record.runner import ScriptError, run_script
from viz.server.programs import from_file
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

from ..helpers.scripts import ROOT, SMALL, Capture, Script, kinds, raised, wait_for
from .test_runner import DRIVER

# -- a program that is faster than its recording -----------------------------------------------------------------------


def test_fast_loop_that_is_killed_loses_its_last_moments_only(script: Script) -> None:
    """Nor is it read as a whole when it is opened: all but the events after the last block have their outline."""
    rounds = 16_000
    loop = f"for _ in range({rounds}):\n    x * 2\nimport os\nos.kill(os.getpid(), 9)\n"
    recording, trace = script("import engine as torch\nx = torch.ones(3, requires_grad=True)\n" + loop)
    assert recording.returncode == -signal.SIGKILL and len(trace.events) > rounds / 2
    assert (
        "(signal 9). The recording contains everything up to less than a second before that." in recording.explanation
    )
    outline = outline_in_file(trace)
    assert outline is not None and BLOCK <= outline.measured <= len(outline.kinds) == len(trace.events)


def stream_of(path: Path, events: int, **more: Any) -> tuple[Stream, Any]:
    """A stream that has written nothing yet of so many ops, and their input."""
    recorder = Recorder()
    stream = Stream(recorder, str(path), Places(), **more)
    x: Any = engine.ones(3, requires_grad=True)
    slot.active = recorder
    for _ in range(events):
        x * 2
    slot.active = None
    return stream, x


def test_program_that_is_far_ahead_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "AHEAD", 10)
    stream, _ = stream_of(tmp_path / "t", 100)
    paces: list[object] = []

    def write(seconds: float) -> bool:
        paces.append(stream.recorder.pace)
        return Stream._write(stream, seconds)

    monkeypatch.setattr(stream, "_write", write)
    assert stream._catch_up() and set(paces) == {stream._caught_up.wait}  # at each of several writes, on a busy machine
    assert (
        stream.recorder.pace is None and stream._caught_up.is_set() and stream.event_count == len(stream.recorder.log)
    )
    stream.finish({})


def test_writing_that_is_stopped_says_how_much_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "INTERVAL", 0.0)
    stream, _ = stream_of(tmp_path / "t", 200)
    while not stream.event_count:
        stream._write(0.0)
    stream.stop()
    stream.finish({"script": "s.py"})
    found = open_trace(tmp_path / "t")
    assert (
        stream.cut == EarlyEnd("stopped", len(found.events), len(stream.recorder.log)) and 0 < len(found.events) < 201
    )
    note = from_file(tmp_path / "t").about["note"]
    assert note == f"The recording ends after {len(found.events)} of 201 events: Ctrl-C stopped the writing there."


def test_progress_is_told_while_the_rest_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "INTERVAL", 0.0)
    monkeypatch.setattr(streaming, "TELL_EVERY", 0.0)
    stream, _ = stream_of(tmp_path / "t", 200)
    told: list[tuple[int, int]] = []
    stream.finish({}, lambda written, of: told.append((written, of)))
    assert told and told == sorted(told) and {of for _, of in told} == {201} and stream.cut is None


# -- no room -----------------------------------------------------------------------------------------------------------


def goes_on_unrecorded(stream: Stream, x: Any) -> bool:
    """Whether the next op of the program ends the recording, without an error."""
    slot.active = stream.recorder
    try:
        stream._let_go()
        x * 2
        return slot.active is None and stream.recorder.pace is None
    finally:
        slot.active = None


def test_full_disk_ends_the_recording_and_keeps_what_was_written(tmp_path: Path) -> None:
    said: list[str] = []
    stream, x = stream_of(tmp_path / "t", 50, say=said.append)
    stream._write(9)
    pages = stream._writer._db.execute("PRAGMA page_count").fetchone()[0]
    stream._writer._db.execute(f"PRAGMA max_page_count = {pages}")
    slot.active = stream.recorder
    for _ in range(500):
        x * 2
    slot.active = None
    stream._write(9)
    assert said == ["the recording ends after 51 events: the disk is full. The script goes on unrecorded."]
    assert goes_on_unrecorded(stream, x)
    stream.finish({"script": "s.py"})
    assert len(open_trace(tmp_path / "t").events) == 51 and stream.cut == EarlyEnd(
        "unwritable", 51, None, "the disk is full"
    )


@pytest.mark.parametrize(("free", "kept"), [(10**9, 141), (0, 91)])
def test_recording_takes_no_more_of_its_disk_than_it_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, kept: int
) -> None:
    monkeypatch.setattr(streaming, "disk_usage", lambda folder: SimpleNamespace(free=free))
    said: list[str] = []
    stream, x = stream_of(tmp_path / "t", 90, say=said.append)
    stream._write(9)
    slot.active = stream.recorder
    for _ in range(50):
        x * 2
    slot.active = None
    stream.finish({"script": "s.py"})
    assert len(open_trace(tmp_path / "t").events) == kept
    assert (stream.cut is None) == (free > 0) == (not said)
    if said:
        ends = "the recording ends after 91 events: its disk has only 0 MiB left."
        assert said == [f"{ends} The script goes on unrecorded."] and goes_on_unrecorded(stream, x)
        note = from_file(tmp_path / "t").about["note"]
        assert note.endswith("Free some space there, or keep the values of fewer iterations with --steps or --every.")


def test_memory_has_a_limit_that_is_announced(tmp_path: Path) -> None:
    said: list[str] = []
    stream, x = stream_of(tmp_path / "t", 90, say=said.append, memory=100 * streaming.EVENT_BYTES)
    stream._write(9)
    assert len(said) == 1 and "it will stop, and the script will go on unrecorded" in said[0]
    slot.active = stream.recorder
    for _ in range(50):
        x * 2
    slot.active = None
    stream._write(9)
    assert said[1].startswith("the recording ends after 141 events: it takes") and goes_on_unrecorded(stream, x)
    stream.finish({})
    assert len(open_trace(tmp_path / "t").events) == 141


def test_script_whose_recording_finds_no_room_runs_to_its_end(tmp_path: Path, script: Script, capfd: Capture) -> None:
    limit = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (60_000, {resource.RLIM_INFINITY}))\n"
    loop = "z = 0\nfor i in range(3000):\n    z = z + x * i\nprint('the end', z.tolist()[0])\n"
    recording, trace = script(SMALL + limit + loop)
    assert recording.returncode == 0 and capfd.readouterr().out == "the end 4498500.0\n"
    assert "The recording ends after" in recording.explanation and "The script itself went on." in recording.explanation
    assert "no op" not in recording.explanation and trace.meta["incomplete"]


def test_recording_whose_file_was_taken_away_is_said_to_be_lost(script: Script, tmp_path: Path) -> None:
    gone = f"import os\nos.remove({str(tmp_path / 'trace.backstep')!r})\n"
    (tmp_path / "s.py").write_text(SMALL + gone)
    recording = run_script(runner.Script(tmp_path / "s.py"), tmp_path / "trace.backstep")
    assert recording.explanation == "The recording is lost: its file was deleted while the script ran."
    assert missing_recording.cut("gone", 0) in recording.explanation and recording.returncode == 0


def test_script_whose_recording_cannot_begin_is_not_run(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "s.py").write_text("print('ran')\n")
    with pytest.raises(ScriptError) as refused:
        run_script(runner.Script(tmp_path / "s.py"), tmp_path / "nowhere" / "t.backstep", on_slow=lambda _: None)
    assert str(refused.value).startswith("s.py was not run: Backstep cannot write a trace to '")
    assert "its folder is not there. Give a path" in str(refused.value) and capfd.readouterr() == ("", "")


def test_script_is_not_run_where_the_temporary_folder_has_no_room(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "s.py").write_text("print('ran')\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(ScriptError, match=r"s.py was not run: .* temporary folder .*: File too large. Free some"):
            run_script(runner.Script(tmp_path / "s.py"), tmp_path / "t.backstep")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert capfd.readouterr() == ("", "")


def test_recording_that_cannot_begin_leaves_no_file(tmp_path: Path) -> None:
    """A file that is not a trace is not replaced: once there is room, the same command would be refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.raises(TraceWriteError, match="the system refused the write"):
            Writer(tmp_path / "t.backstep")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_exception_that_cannot_be_shown_is_named(script: Script) -> None:
    odd = "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\n"
    recording, trace = script(odd + SMALL + "raise Odd\n")
    assert recording.error == "Odd" and raised(trace).type == "Odd" and recording.returncode == 1
    assert raised(trace).message == "<exception str() failed>" and "BackwardEnded" in kinds(trace)


# -- the end of whoever started it -------------------------------------------------------------------------------------

FOREVER = SMALL + "print('running', flush=True)\nwhile True:\n    pass\n"
COMMAND = (  # whoever runs the tests may have it ignore SIGHUP, as nohup does
    "import signal, sys\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "from viz.cli import main\nsys.exit(main(['run', '--no-browser', sys.argv[1]]))\n"
)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_script_ends_with_the_command_that_runs_it(tmp_path: Path, number: signal.Signals, status: int) -> None:
    (tmp_path / "s.py").write_text(FOREVER)
    starter = DRIVER if number == signal.SIGKILL else COMMAND
    command = [sys.executable, "-c", starter, str(tmp_path / "s.py"), str(tmp_path / "t")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "running\n"
        if number == signal.SIGKILL:
            wait_for(lambda: tally(tmp_path / "t").get("BackwardEnded"))
        os.kill(driver.pid, number)
        driver.communicate(timeout=60)  # until nobody has these streams any more: the script has ended too
    assert driver.returncode == status
    assert number != signal.SIGKILL or "Accumulated" in kinds(Trace.open(str(tmp_path / "t")))


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("import sys\nsys.stderr.close()\nsys.exit('bye')\n", 1),
        ("import sys\nclass Odd:\n    def __str__(self):\n        raise ValueError\nsys.exit(Odd())\n", 1),
        ("import sys, signal\nsys.stdout.close()\nsignal.raise_signal(signal.SIGINT)\n", -signal.SIGINT),
        ("class Odd(Exception):\n    @property\n    def __notes__(self):\n        raise ValueError\nraise Odd\n", 1),
    ],
)
def test_script_that_closes_its_streams_or_says_nothing_of_its_end_keeps_recording_and_status(
    script: Script, text: str, status: int
) -> None:
    recording, trace = script(SMALL + text)
    assert recording.returncode == status and "Backstep itself" not in recording.explanation
    assert "BackwardEnded" in kinds(trace) and "incomplete" not in trace.meta


# -- a fault of ours in what a recording can do without ----------------------------------------------------------------


NAMED = """import engine as torch
x = torch.tensor([1., 2.], requires_grad=True)
y = x * 2
z = y * 3
w = torch.tensor([3.], requires_grad=True)
loss = (z * w).sum()
loss.backward()
"""


def recorded_beside(tmp_path: Path, text: str = NAMED) -> tuple[Trace, list[str]]:
    """A program recorded into a file as a script is; and what the user is told."""
    file = tmp_path / "program.py"
    file.write_text(text)
    said: list[str] = []
    recorder = Recorder()
    stream = Stream(recorder, str(tmp_path / "t.backstep"), Places(str(tmp_path)), say=said.append)
    stream.start()
    exec(compile(text, str(file), "exec"), {})
    stream.finish({})
    return open_trace(str(tmp_path / "t.backstep")), said


def test_fault_in_naming_costs_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = recorded_beside(tmp_path)
    real = Binder.binding

    def binding(self: Binder, frames: Any, count: int) -> Any:
        if frames[-1].line == 3:
            raise ValueError("planted")
        return real(self, frames, count)

    monkeypatch.setattr(Binder, "binding", binding)
    (tmp_path / "t.backstep").unlink()
    trace, said = recorded_beside(tmp_path)
    assert len(trace.events) == len(whole.events) and "incomplete" not in trace.meta
    assert {*whole.names.values()} - {*trace.names.values()} == {"y"}
    assert len(said) == 1 and "without a name" in said[0] and "ValueError: planted, test_recording_faults" in said[0]
    assert trace.meta["missing"] == said and missing_recording.ended(trace.meta) == said[0]


def test_fault_in_a_recording_in_memory_costs_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def name_results(self: Naming) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(Naming, "name_results", name_results)
    with record() as trace:
        x: Any = engine.tensor([1.0], requires_grad=True)
        (x * 2).backward()
    with pytest.warns(RuntimeWarning, match="without a name that Backstep could not find"):
        assert kinds(trace)
    assert trace.meta["missing"]


@pytest.mark.parametrize(
    ("where", "part"), [((Meter, "see"), "a number of the run view"), ((streaming, "_form"), "a value")]
)
def test_fault_in_numbers_costs_the_numbers(
    where: tuple[Any, str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("planted")

    whole, _ = recorded_beside(tmp_path)
    (tmp_path / "t.backstep").unlink()
    monkeypatch.setattr(*where, broken)
    trace, said = recorded_beside(tmp_path)
    monkeypatch.undo()
    assert kinds(trace) == kinds(whole) and trace.names == whole.names
    assert len(said) == 1 and f"without {part} that" in said[0]
    assert said[0] in from_file(tmp_path / "t.backstep").about["note"]


WRITTEN = """import engine as torch
x = torch.tensor([1., 2.], requires_grad=True)
w = torch.tensor([3., 4.], requires_grad=True)
y = x * w
y[0:1].mul_(3)
h = y.relu()
h.register_hook(lambda g: g * 2)
loss = (h * h).sum()
loss.backward()
w.grad.zero_()
with torch.no_grad():
    w -= 0.1 * w.grad
print(loss.item())
"""


def broken_at(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading of one entry of a log fails."""
    for kind, real in list(log_reader.HANDLERS.items()):

        def handler(reader: Any, *fields: Any, real: Any = real) -> Any:
            if reader.index == place:
                raise KeyError("planted")
            return real(reader, *fields)

        monkeypatch.setitem(log_reader.HANDLERS, kind, handler)
        if real in log_reader.INSTEAD:
            monkeypatch.setitem(log_reader.INSTEAD, handler, log_reader.INSTEAD[real])


def test_fault_in_reading_an_entry_costs_that_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever it is, the trace fits together and is as long; a write of a view and of its base are lost together."""
    whole, _ = recorded_beside(tmp_path, WRITTEN)
    assert {"CodeEntered", "HookRan", "ModeChanged", "Escaped", "Accumulated"} <= set(kinds(whole))
    for place in range(len(whole.events)):
        (tmp_path / "t.backstep").unlink()
        with monkeypatch.context() as patch:
            broken_at(place, patch)
            trace, said = recorded_beside(tmp_path, WRITTEN)
        open_checked(str(tmp_path / "t.backstep"), 1000)
        lost = trace.events[place]
        assert isinstance(lost, type(whole.events[place]) | OpCalled | WarningGiven)
        changed = [a.index for a, b in zip(whole.events, trace.events, strict=True) if type(a) is not type(b)]
        assert changed in ([], [place]) and "incomplete" not in trace.meta
        assert len(said) == 1 and "without facts about an event" in said[0] and trace.meta["missing"] == said


def test_op_that_could_not_be_read_is_a_node_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = recorded_beside(tmp_path)
    (tmp_path / "t.backstep").unlink()
    place = next(event.index for event in whole.events if isinstance(event, OpCalled))
    broken_at(place, monkeypatch)
    trace, _ = recorded_beside(tmp_path)
    monkeypatch.undo()
    was, lost = whole.events[place], trace.events[place]
    assert isinstance(was, OpCalled) and isinstance(lost, OpCalled) and was.node is not None and lost.node is not None
    assert (lost.inputs, lost.outputs, lost.node.edges) == (was.inputs, was.outputs, was.node.edges)
    assert trace.events[place + 1 :] == whole.events[place + 1 :]
    assert about(trace, lost).startswith("Not seen: Backstep itself has failed in reading it (KeyError: 'planted', ")
    program = from_file(tmp_path / "t.backstep")
    store = Store(Catalogue([program]), StoreComputation())
    scene = store.scene(store.revision(program.id, None), None, {}, "").json()
    assert lost.name == "torch::mul" and "mul 2" in {node["label"] for node in scene["nodes"]}
    with pytest.raises(ValueError, match="it cannot be run again"):
        replay(trace)
