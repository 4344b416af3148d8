"""`backstep serve`: bounds on what a visitor may ask, edits that all processes know, and processes that come and go."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engine as torch
from engine.trace.events import Trace
from viz.server.callbacks.answers import scene_answer
from viz.server.lesson import course
from viz.server.programs import from_trace, gallery_programs
from viz.server.store import Catalogue, Problem, Revision, Store

pytest.importorskip("gunicorn")
pytest.importorskip("diskcache")

from tests.browser.conftest import App
from viz.server.production.bounds import Admission, BoundedReplays, Bounds
from viz.server.production.classroom import FolderError, folder_programs
from viz.server.production.revision_file import CHECKED, RevisionFile

EDIT = {"leaves": {"0": [[2, 2, 2, 2]]}, "commands": None}


@pytest.fixture(scope="module")
def weights() -> Trace:
    return next(program for program in gallery_programs() if program.id == "weights").record()


@pytest.mark.parametrize(
    ("bounds", "edits", "says"),
    [
        (Bounds(seconds=0), EDIT, "takes longer than 0 s"),
        (Bounds(entries=2), EDIT, "records more than 2 entries"),
        (Bounds(commands=1), {"leaves": {}, "commands": [{"id": "a", "kind": "zero"}] * 2}, "more than 1 commands"),
    ],
)
def test_replays_end_at_their_bounds(weights: Trace, bounds: Bounds, edits: dict[str, Any], says: str) -> None:
    with pytest.raises(Problem, match=says):
        BoundedReplays(bounds).replay(weights, edits)
    with torch.record() as trace:  # the engine is free for the next one
        torch.ones(1)
    assert len(trace.events) == 1


def test_replay_within_its_bounds_is_the_same(weights: Trace) -> None:
    assert len(BoundedReplays(Bounds()).replay(weights, EDIT).events) == len(weights.events)


def test_places_are_bounded_for_each_client_and_in_all_processes_together(tmp_path: Path) -> None:
    one, other = (Admission(Bounds(in_all=2, per_client=1), tmp_path) for _ in range(2))
    with one.turn("a"):
        with pytest.raises(Problem, match="in a moment"), other.turn("a"):
            pass
        with other.turn("b"), pytest.raises(Problem, match="in a moment"), one.turn("c"):
            pass
    with other.turn("a"), one.turn("b"):
        pass


def test_place_of_a_killed_process_is_free_again(tmp_path: Path) -> None:
    admission = Admission(Bounds(in_all=1), tmp_path)
    holds = "import sys; from viz.server.production.bounds import *\n"
    holds += "with Admission(Bounds(in_all=1), Path(sys.argv[1])).turn('a'):\n print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holds, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"\n"
        with pytest.raises(Problem, match="in a moment"), admission.turn("b"):
            pass
        process.kill()
    with admission.turn("b"):
        pass


def test_only_what_is_computed_needs_a_place(weights: Trace, tmp_path: Path) -> None:
    admission = Admission(Bounds(in_all=0), tmp_path)
    store = Store(Catalogue([from_trace(weights)]), BoundedReplays(Bounds()))
    ask = {"program": "my-trace", "request": 1}
    assert "scene" in scene_answer(store, ask, admission.turn("a"))
    refused = scene_answer(store, {**ask, "edits": EDIT}, admission.turn("a"))
    assert refused["problem"]["kind"] == "busy"


def test_processes_share_revisions_and_forget_the_oldest(tmp_path: Path) -> None:
    path = tmp_path / "revisions.sqlite"
    one, other = RevisionFile(path, limit=5_000), RevisionFile(path, limit=5_000)
    made = [Revision(str(number), "weights", 1, json.dumps({"leaves": "x" * 80}), number) for number in range(CHECKED)]
    for revision in made:
        one.put(revision.id, revision)
    assert other.get(made[-1].id) == made[-1] and other.get(made[0].id) is None
    found: list[Revision | None] = []
    thread = threading.Thread(target=lambda: found.append(one.get(made[-1].id)))
    thread.start()
    thread.join()
    assert found == [made[-1]]


def test_processes_that_start_together_all_get_the_revisions(tmp_path: Path) -> None:
    opens = "import sys\nfrom viz.server.production.revision_file import *\n"
    opens += "for line in sys.stdin:\n RevisionFile(Path(line.strip())); print(flush=True)"
    with contextlib.ExitStack() as ends:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        both = [ends.enter_context(subprocess.Popen([sys.executable, "-c", opens], **pipes)) for _ in range(2)]
        for number in range(100):  # without a lock every third time one of them is refused
            for process in both:
                print(tmp_path / str(number), file=process.stdin)
            assert [next(process.stdout or iter([]), "refused") for process in both] == ["\n", "\n"]


def test_folder_that_cannot_be_offered_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="is not a folder"):
        folder_programs(tmp_path / "none", tmp_path)
    with pytest.raises(FolderError, match="has no lesson"):
        folder_programs(tmp_path, tmp_path)
    (tmp_path / "bad.backstep").write_text("no trace")
    with pytest.raises(FolderError, match=r"cannot be offered: .*bad\.backstep"):
        folder_programs(tmp_path, tmp_path)


@pytest.fixture(scope="module")
def served(weights: Trace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("traces")
    weights.save(str(folder / "mine.backstep"))
    (folder / "chosen.py").write_text(course.SKELETON)
    app = App("serve", str(folder), "--workers", "2")
    yield app
    app.close()
    assert app.process.returncode == 0
    requests = [line for line in map(json.loads, app.lines[1:]) if line.get("path") == "/scene"]
    assert requests and all(line["status"] == 200 and "program" not in json.dumps(line) for line in requests)


def get(app: App, path: str) -> Any:
    """The JSON of an answer; asked once more where the connection breaks off, as the page does."""
    try:
        return json.load(urllib.request.urlopen(app.origin + path, timeout=30))
    except OSError:
        return json.load(urllib.request.urlopen(app.origin + path, timeout=30))


def workers(app: App) -> set[int]:
    path = Path(f"/proc/{app.process.pid}/task/{app.process.pid}/children")
    return {int(child) for child in path.read_text().split()}


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which processes there are")
def test_processes_come_and_go_and_every_question_is_answered(served: App) -> None:
    assert get(served, "/health") == {"status": "ok", "programs": len(gallery_programs()) + 2}
    assert get(served, "/scene?program=my-mine")["scene"]["program"]["title"] == "mine.backstep"
    chapters = get(served, "/scene?program=my-chosen")["scene"]["program"]["chapters"]
    assert [one["title"] for one in chapters] == ["Two numbers, doubled", "Only the first counts"]
    old = workers(served)
    os.kill(min(old), signal.SIGKILL)
    for _ in range(20):
        assert "scene" in get(served, "/scene?program=weights")
    served.process.send_signal(signal.SIGHUP)  # new processes, then the old ones end
    while workers(served) & old:
        assert "scene" in get(served, "/scene?program=weights")
    assert get(served, "/health")["status"] == "ok"
