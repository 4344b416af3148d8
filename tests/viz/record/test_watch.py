"""A script that is recorded again each time it is saved."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from engine.trace.events import LeafCreated, Trace
from viz.record import runner
from viz.record.runner import Script, Watch

from ..helpers.scripts import SMALL, array, wait_for


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script that is slow to start, because others run too, is not said to be still running."""
    monkeypatch.setattr(runner, "LONG", 1000.0)


class Listener:
    """Collects the changes of a watch; `wait(n)` until there were n."""

    def __init__(self) -> None:
        self.changes: list[tuple[int, str]] = []
        self.condition = threading.Condition()

    def __call__(self, watch: Watch) -> None:
        with self.condition:
            self.changes.append((watch.generation, watch.error))
            self.condition.notify_all()

    def wait(self, number: int) -> tuple[int, str]:
        with self.condition:
            assert self.condition.wait_for(lambda: len(self.changes) >= number, 30), self.changes
        return self.changes[-1]


def leaf(watch: Watch) -> list[float]:
    trace = Trace.open(str(watch.trace_path))
    first = next(e for e in trace.events if isinstance(e, LeafCreated))
    return array(trace, first.value).tolist()  # type: ignore[no-any-return]  # numpy says Any


def replace(path: Path, text: str) -> None:
    """Save as editors do: a new file put in place of the old."""
    beside = path.with_suffix(".tmp")
    beside.write_text(text)
    os.replace(beside, path)


def test_watch_records_again_on_save_and_keeps_the_last_good_one(tmp_path: Path) -> None:
    path, heard = tmp_path / "s.py", Listener()
    path.write_text(SMALL)
    with Watch(Script(path), on_change=heard) as watch:
        assert (watch.generation, watch.error, leaf(watch)) == (1, "", [1, 2])
        replace(path, SMALL.replace("[1., 2.]", "[3., 4.]"))
        assert heard.wait(2) == (2, "") and leaf(watch) == [3, 4]
        replace(path, "x = = 3\n")
        assert heard.wait(3) == (2, "s.py line 1: invalid syntax. The last good recording is shown.")
        assert leaf(watch) == [3, 4]
        replace(path, SMALL + "y.backward()\n")
        assert heard.wait(4) == (3, "") and watch.recording is not None and watch.recording.error == "RuntimeError"
        path.unlink()
        assert "no longer exists" in heard.wait(5)[1]
        path.write_text(SMALL)
        assert heard.wait(6) == (4, "")
        assert watch.trace_path is not None
        folder = watch.trace_path.parent
    assert not folder.exists()


def test_watch_looks_at_imported_modules_too(tmp_path: Path) -> None:
    (tmp_path / "values.py").write_text("start = [1., 2.]\n")
    path, heard = tmp_path / "s.py", Listener()
    path.write_text("from values import start\n" + SMALL.replace("[1., 2.]", "start"))
    with Watch(Script(path), on_change=heard) as watch:
        replace(tmp_path / "values.py", "start = [5., 6., 7.]\n")
        assert heard.wait(2) == (2, "") and leaf(watch) == [5, 6, 7]


def test_watch_ends_a_script_that_was_saved_again_while_it_runs(tmp_path: Path) -> None:
    path, heard, mark = tmp_path / "s.py", Listener(), tmp_path / "running"
    path.write_text(SMALL)
    with Watch(Script(path), on_change=heard) as watch:
        replace(path, SMALL + f"open({str(mark)!r}, 'w')\nwhile True:\n    pass\n")
        wait_for(mark.exists)
        replace(path, SMALL.replace("[1., 2.]", "[8.]"))
        assert heard.wait(2)[1] == "" and leaf(watch) == [8]
        replace(path, SMALL + f"open({str(mark)!r} + '2', 'w')\nwhile True:\n    pass\n")
        wait_for((tmp_path / "running2").exists)
    assert threading.active_count() < 20 and watch._process is None


def test_listener_that_fails_does_not_end_the_watch(tmp_path: Path) -> None:
    path, heard = tmp_path / "s.py", Listener()
    path.write_text(SMALL)

    def fail(watch: Watch) -> None:
        heard(watch)
        raise KeyError("listener")

    with Watch(Script(path), on_change=fail):
        replace(path, SMALL + "\n")
        assert heard.wait(2) == (2, "")
        replace(path, SMALL + "\n\n")
        assert heard.wait(3) == (3, "")


def test_watch_says_that_a_script_does_not_end_until_it_is_saved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, heard = tmp_path / "s.py", Listener()
    path.write_text(SMALL)
    with Watch(Script(path), on_change=heard) as watch:
        monkeypatch.setattr(runner, "LONG", 0.0)
        replace(path, "import threading\nthreading.Event().wait()\n")
        assert heard.wait(2) == (1, "s.py is still running. Save it again to stop it.") and leaf(watch) == [1, 2]
        replace(path, SMALL.replace("[1., 2.]", "[3., 4.]"))
        wait_for(lambda: watch.generation > 1 and not watch.error)
        assert leaf(watch) == [3, 4]


def test_watch_says_no_longer_that_a_script_runs_once_a_save_has_ended_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, heard, go = tmp_path / "s.py", Listener(), tmp_path / "go"
    os.mkfifo(go)
    path.write_text(SMALL)
    with Watch(Script(path), on_change=heard) as watch:
        monkeypatch.setattr(runner, "LONG", 0.0)
        replace(path, "import threading\nthreading.Event().wait()\n")
        assert "still running" in heard.wait(2)[1]
        monkeypatch.setattr(runner, "LONG", 1000.0)
        replace(path, f"open({str(go)!r}).read()\n" + SMALL)  # runs until it is told to go on
        assert heard.wait(3) == (1, "")
        go.write_bytes(b"")
        assert heard.wait(4) == (2, "") and leaf(watch) == [1, 2]
