"""Heavy work delays no one: known answers come at once, and long recordings have their own processes."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import engine as torch
from tests.viz.helpers.fixtures import Fake, program
from viz.server import server, store
from viz.server.callbacks.answers import details_answer, graphs_answer, run_answer, scene_answer
from viz.server.programs import from_file
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Json, SceneJob, Store
from viz.server.workers import Workers

PATIENCE = 20
"""Seconds after which a test fails; none waits so long."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    x = torch.tensor([1.0, 2, 3], requires_grad=True)
    with torch.record() as trace:
        for _ in range(3):
            (x * x).sum().backward()
    path = tmp_path_factory.mktemp("trace") / "long.backstep"
    trace.save(str(path))
    return path


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = Workers(1)
    yield made
    made.stop()


@pytest.fixture
def here(file: Path) -> Store:
    return Store(Catalogue([from_file(file)]), StoreComputation())


@pytest.fixture
def far(file: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store for which any recording is long, and which makes no scene itself."""
    monkeypatch.setattr(store, "HEAVY", 1)
    made = Store(Catalogue([from_file(file)]), StoreComputation(), workers)
    monkeypatch.setattr(made.pure, "scene", None)
    monkeypatch.setattr(made.pure, "details", None)
    return made


EDITED = {"leaves": {"0": [4.0, 5.0, 6.0]}, "commands": None}
REFUSED = {"leaves": {"0": [4.0]}, "commands": None}


@pytest.mark.parametrize("more", [
    {}, {"edits": EDITED, "previous": {"edits": None}}, {"edits": EDITED, "previous": {"edits": REFUSED}},
    {"edits": REFUSED}, {"layout": "spring"},
], ids=["recorded", "edited", "edited after a refused one", "refused", "another layout"])  # fmt: skip
def test_a_scene_from_a_worker_is_the_one_that_is_made_here(here: Store, far: Store, more: Json) -> None:
    ask = {"request": 1, "program": "my-long", **more}
    assert plain(scene_answer(far, ask)) == plain(scene_answer(here, ask))


@pytest.mark.parametrize("element", ["t0", "n0", "no such"])
def test_details_from_a_worker_are_those_that_are_made_here(here: Store, far: Store, element: str) -> None:
    ask = {"request": 1, "program": "my-long", "element": element, "edits": EDITED}
    assert plain(details_answer(far, ask)) == plain(details_answer(here, ask))


def test_the_overview_from_a_worker_is_the_one_that_is_made_here(here: Store, far: Store) -> None:
    far.pure.overview = far.pure.graphs = None  # type: ignore[assignment,method-assign]
    found = run_answer(far, "my-long")["overview"].json()
    assert graphs_answer(far, "my-long")["graphs"].json() == graphs_answer(here, "my-long")["graphs"].json()
    assert found == run_answer(here, "my-long")["overview"].json()
    assert found["bytes"] > 0 and [row["name"] for row in found["parameters"]] == ["x"]


def plain(answer: Json) -> Json:
    return {key: part.json() if key in ("scene", "details") else part for key, part in answer.items()}


def test_the_first_scene_of_a_long_recording_is_begun_before_it_is_asked_for(far: Store) -> None:
    far.prepare()
    for thread in threading.enumerate():
        if thread.name == "prepare":
            thread.join(PATIENCE)
    far.workers = None  # nobody is left who could make it
    assert "scene" in scene_answer(far, {"program": "my-long"})


def test_a_worker_that_was_killed_is_said_and_the_next_question_has_another(far: Store, workers: Workers) -> None:
    scene_answer(far, {"program": "my-long"})
    worker = workers._all[0]
    assert worker._process is not None
    process, asked = worker._process, threading.Event()

    def kill(question: Any) -> Any:
        asked.set()
        process.kill()
        return ask(question)

    ask = worker.ask
    worker.ask = kill  # type: ignore[method-assign]
    problem = scene_answer(far, {"program": "my-long", "layout": "circular"}).get("problem")
    worker.ask = ask  # type: ignore[method-assign]
    assert asked.is_set() and (problem is None or problem["kind"] == "ended")
    assert "scene" in scene_answer(far, {"program": "my-long", "layout": "circular"})


def test_the_process_that_has_read_an_iteration_draws_it_again() -> None:
    """Else unfolding a box waits until another process has read the iteration, too."""
    made = Workers(2)
    shown = made._free_worker("a", 0)
    made._idle.append(shown)
    ahead = made._free_worker("a", 1)
    assert ahead is not shown, "while the next iteration is read, the present one can be drawn"
    made._idle.append(ahead)
    for part, same in [(0, shown), (1, ahead), (2, shown), (0, shown), (1, ahead)]:
        again = made._free_worker("a", part)
        made._idle.append(again)
        assert again is same
    other = made._free_worker("b", 0)
    assert other is shown and other.parts == {0}, "the one that has been free for longest"


def test_nothing_is_made_ahead_while_a_process_works_for_somebody(here: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "AHEAD", 0)
    made: list[Any] = []
    monkeypatch.setattr(here, "scene", lambda *asked: made.append(asked))
    here.workers = Workers(2)
    busy = here.workers._free_worker("my-long", "overview")
    for count in (0, 1):
        here.ahead(here.revision("my-long", None), {}, "")
        for thread in threading.enumerate():
            if thread.name == "ahead":
                thread.join(PATIENCE)
        assert len(made) == count
        here.workers._idle.append(busy)


def test_a_file_that_was_replaced_is_not_read_for_the_recording_that_was_opened(
    file: Path, tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "HEAVY", 1)
    copy = tmp_path / "copy.backstep"
    copy.write_bytes(file.read_bytes())
    made = Store(Catalogue([from_file(copy)]), StoreComputation(), workers)
    assert len(made.trace(made.revision("my-copy", None)).events) > 20
    other = tmp_path / "other"
    with torch.record() as trace:
        torch.ones(2, requires_grad=True).sum().backward()
    trace.save(str(other))
    os.replace(other, copy)
    answer = scene_answer(made, {"program": "my-copy"})
    assert len(answer["scene"].json()["steps"]) > 10


class Slow(Fake):
    """A pure side that waits where it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.waits_in = "scene"

    def wait(self, where: str) -> None:
        if where == self.waits_in:
            self.begun.set()
            assert self.go_on.wait(PATIENCE)

    def scene(self, job: SceneJob) -> Any:
        if job.program.id == "heavy":
            self.wait("scene")
        return super().scene(job)

    def replay(self, trace: Any, edits: Any) -> Any:
        self.wait("replay")
        return super().replay(trace, edits)


@pytest.mark.parametrize("where", ["scene", "replay"])
def test_known_answers_do_not_wait_for_one_that_is_made(where: str) -> None:
    pure = Slow()
    pure.waits_in = where
    made = Store(Catalogue([program(), program("heavy"), program("other")]), pure)
    known = scene_answer(made, {"program": "case"})
    edits = {"leaves": {"0": [1.0]}, "commands": None}
    heavy = threading.Thread(target=scene_answer, args=(made, {"program": "heavy", "edits": edits}))
    heavy.start()
    assert pure.begun.wait(PATIENCE)
    assert scene_answer(made, {"program": "case"})["scene"] is known["scene"]
    assert details_answer(made, {"program": "case", "element": "n0"})["details"]
    if where == "scene":  # another scene is made beside it
        assert "scene" in scene_answer(made, {"program": "other", "edits": edits})
    pure.go_on.set()
    heavy.join(PATIENCE)
    assert not heavy.is_alive()


def test_each_request_that_waits_has_a_thread() -> None:
    dispatcher = server.Dispatcher()
    dispatcher.set_thread_count(2)
    together = threading.Barrier(24 + 1)

    class Task:
        def service(self) -> None:
            together.wait(PATIENCE)

    try:
        for _ in range(24):
            dispatcher.add_task(Task())
        together.wait(PATIENCE)
        assert len(dispatcher.threads) <= 24 + 2
    finally:
        dispatcher.shutdown(timeout=1)


def test_answer_that_comes_after_the_end_is_not_an_error() -> None:
    """Ctrl-C while a scene is computed ends without a traceback."""
    script = """
        import os, signal, threading
        from types import SimpleNamespace
        from viz.server import server

        closed = threading.Event()

        def app(environ, start_response):
            os.kill(os.getpid(), signal.SIGTERM)
            closed.wait()
            start_response("200 OK", [("Content-Type", "text/plain")])
            return [b"late"]

        server._server = lambda store, listening, *_: server.http_server(app, [listening])
        listening = server.bind("127.0.0.1", 0)
        with server.socket.create_connection(listening.getsockname()) as visitor:
            visitor.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
            server.serve(None, listening, browser=False)
            closed.set()
            for thread in threading.enumerate():
                if thread.name.startswith("waitress"):
                    thread.join(30)
    """
    ended = subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith("Backstep has stopped.\n")


def test_a_visitor_is_answered_beside_hundreds_of_idle_connections(caplog: pytest.LogCaptureFixture) -> None:
    made = Store(Catalogue([program()]), Fake())
    running = server.start(made, server.bind("127.0.0.1", 0))
    host, _, port = running.url.removeprefix("http://").rstrip("/").partition(":")
    idle = [socket.create_connection((host, int(port)), PATIENCE) for _ in range(300)]
    try:
        with socket.create_connection((host, int(port)), PATIENCE) as visitor:
            visitor.sendall(f"GET /live?program=case HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            assert visitor.recv(100).startswith(b"HTTP/1.1 200 OK")
        assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    finally:
        for one in idle:
            one.close()
        running.close()
