"""Jobs in the background, as the page's requests meet them: one for all who ask the same, and an end that is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dash.background_callback.managers import BaseBackgroundCallbackManager
from werkzeug.test import Client

from viz.cli import main
from viz.server.app import build, guarded
from viz.server.callbacks.register import Background
from viz.server.production.jobs import SharedJobs
from viz.server.production.result_store import BackgroundShelf, VisitorShelf
from viz.server.programs import gallery_programs
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Problem, ResultPending, Store

HEADERS = {"Host": "127.0.0.1:8050", "Origin": "http://127.0.0.1:8050", "Content-Type": "application/json"}


class Notes(dict[str, bytes]):
    """Results in memory."""

    def put(self, key: str, value: bytes, seconds: int) -> None:
        assert seconds > 0
        self[key] = value


class Jobs(SharedJobs, BaseBackgroundCallbackManager):
    """Jobs that are `done` when a test says so."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.begun: list[tuple[str, Any, Any]] = []
        self.running: set[str] = set()
        self.results: dict[str, Any] = {}
        super().__init__([lambda: None])  # type: ignore[no-untyped-call]

    def begin(self, key: str, job_fn: Any, args: Any) -> str:
        self.begun.append((key, job_fn, args))
        self.running.add(str(len(self.begun)))
        return str(len(self.begun))

    def end(self, job: str) -> None:
        self.running.remove(job)

    def done(self) -> None:
        key, function, args = self.begun[-1]
        self.results[key] = function(*args)
        self.running.clear()

    def make_job_fn(self, fn: Any, progress: Any, key: Any = None) -> Any:
        return fn

    def job_running(self, job: str) -> bool:
        return job in self.running

    def result_ready(self, key: str) -> bool:
        return key in self.results

    def clear_cache_entry(self, key: str) -> None:
        self.results.pop(key, None)

    def get_result(self, key: str, job: str) -> Any:
        found = self.results.get(key, self.UNDEFINED)
        if found is not self.UNDEFINED:
            self.terminate_job(job)
        return found

    def get_progress(self, key: str) -> None:
        return None

    def get_updated_props(self, key: str) -> dict[str, Any]:
        return {}


class Classroom:
    """A server of many with such jobs; the process in the background is here too, with a store of its own."""

    def __init__(self) -> None:
        self.jobs = Jobs()
        catalogue = Catalogue(gallery_programs())
        served = Store(catalogue, StoreComputation(), shelf=VisitorShelf(self.jobs.notes, long=1))
        self.client = Client(guarded(build(served, background=Background(self.jobs, "a secret"))))
        behind = Store(catalogue, StoreComputation(), shelf=BackgroundShelf(self.jobs.notes))
        with pytest.MonkeyPatch.context() as patch:  # its functions take the place of those that were registered
            patch.setattr(BaseBackgroundCallbackManager, "managers", [self.jobs])
            build(behind, background=Background(self.jobs, "a secret"))

    def ask(self, output: str, component: str, value: Any, query: str = "") -> Any:
        place = {"id": output.partition(".")[0], "property": output.partition(".")[2]}
        body = {
            "output": output, "outputs": place, "inputs": [{"id": component, "property": "data", "value": value}],
            "changedPropIds": [f"{component}.data"], "state": [],
        }  # fmt: skip
        return self.client.post(f"/_dash-update-component{query}", data=json.dumps(body), headers=HEADERS)

    def begin(self, program: str) -> str:
        """Has a scene made: what is asked with when looking whether it is there."""
        told = self.ask("made-scene.data", "later-scene", {"program": program}).get_json()
        return f"?cacheKey={told['cacheKey']}&job={told['job']}"

    def look(self, query: str) -> Any:
        return self.ask("made-scene.data", "later-scene", None, query).get_json()

    def scene(self, program: str) -> Any:
        ask = json.dumps({"request": 1, "program": program})
        return self.client.post("/scene", data=ask, headers=HEADERS).get_json()


@pytest.fixture(scope="module")
def room() -> Classroom:
    return Classroom()


def test_those_who_ask_the_same_wait_for_one_job(room: Classroom) -> None:
    assert room.scene("weights") == {"request": 1, "later": True}
    before = len(room.jobs.begun)
    one, other = room.begin("weights"), room.begin("weights")
    assert len(room.jobs.begun) == before + 1 and room.look(one) == room.look(other) == {"multi": True}
    room.ask("gone.id", "gone", 1, f"?cancelJob={one.partition('&job=')[2]}")  # one of them leaves
    assert room.jobs.running
    room.jobs.done()
    assert [room.look(query)["response"] for query in (one, other)] == [{"made-scene": {"data": {}}}] * 2
    assert room.scene("weights")["scene"]["program"]["id"] == "weights"


def test_job_ends_with_the_only_one_who_waits_and_its_end_is_said(room: Classroom) -> None:
    query = room.begin("scaling")
    assert room.ask("gone.id", "gone", 1, "?cancelJob=1~forged").status_code < 300 and room.jobs.running
    assert room.ask("gone.id", "gone", 1, f"?cancelJob={query.partition('&job=')[2]}").status_code < 300
    assert not room.jobs.running
    assert room.look(query)["response"]["made-scene"]["data"]["problem"]["kind"] == "ended"
    again = room.begin("scaling")
    room.jobs.done()
    assert room.look(again)["response"]["made-scene"]["data"] == {}


def test_problem_of_a_job_is_said_as_everywhere(room: Classroom) -> None:
    query = room.begin("no_such_program")
    room.jobs.done()
    assert room.look(query)["response"]["made-scene"]["data"]["problem"]["kind"] == "unknown-program"


def test_costly_file_comes_later(room: Classroom) -> None:
    ask = {"program": "scaling"}
    answer = room.client.post("/export/html", data=json.dumps(ask), headers=HEADERS)
    assert (answer.status_code, answer.get_json()) == (202, {"later": True})
    told = room.ask("made-file.data", "later-file", {**ask, "ending": "html"}).get_json()
    room.jobs.done()
    done = room.client.post("/export/html/progress", data=json.dumps(ask), headers=HEADERS).get_json()
    assert done["replayed"] > 3
    query = f"?cacheKey={told['cacheKey']}&job={told['job']}"
    assert room.ask("made-file.data", "later-file", None, query).get_json()["response"]["made-file"]["data"] == {}
    answer = room.client.post("/export/html", data=json.dumps(ask), headers=HEADERS)
    assert answer.status_code == 200 and 'id="lesson-data"' in answer.text


def test_result_that_is_too_large_is_a_problem() -> None:
    shelf = BackgroundShelf(Notes(), largest=10)
    store = Store(Catalogue(gallery_programs()), StoreComputation(), shelf=shelf)
    with pytest.raises(Problem, match="larger than this server keeps"):
        store.scene(store.revision("weights", None), None, {}, "")
    with pytest.raises(ResultPending):
        VisitorShelf(Notes(), long=1)("asked", lambda: pytest.fail("made"))


def test_disk_keeps_bytes_and_never_pickles(tmp_path: Path) -> None:
    pytest.importorskip("diskcache")
    code = (
        "import sys, pickle\n"
        "from diskcache import Cache, JSONDisk\n"
        "from viz.server.production.on_disk import DiskJobs\n"
        "from pathlib import Path\n"
        "pickle.dumps = pickle.dump = pickle.load = None\n"
        "jobs = DiskJobs(Path(sys.argv[1]), {})\n"
        "jobs.notes.put('a', b'\\x00bytes', 60)\n"
        "jobs.handle.set('b', {'problem': None})\n"
        "assert (jobs.notes.get('a'), jobs.notes.get('none')) == (b'\\x00bytes', None)\n"
        "assert jobs.handle.get('b') == {'problem': None}\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


def test_queue_that_does_not_answer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("celery")
    assert main(["serve", "--queue", "redis://:secret@127.0.0.1:1/0"]) == 2
    said = capsys.readouterr().err
    assert "The Redis at redis://127.0.0.1:1/0 does not answer" in said and "secret" not in said
    assert main(["worker"]) == 2 and "--queue redis://" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["serve", "--queue", "amqp://x"])
    assert "is not a queue" in capsys.readouterr().err
