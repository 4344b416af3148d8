"""Slow requests on a server for many, with real jobs: processes on this machine, or Celery's with a real Redis."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import ROOT, SETTLE, App, View
from tests.viz.helpers.scripts import wait_for

redis = pytest.importorskip("redis")
psutil = pytest.importorskip("psutil")
for library in ("gunicorn", "diskcache", "celery"):
    pytest.importorskip(library)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(sys.platform != "linux", reason="Debian's redis-server, and processes as Linux has them"),
]

SERVE = """
import socket
import sys
from viz.server.production.bounds import Bounds
from viz.server.production.serve import serve

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
serve("127.0.0.1", port, 2, bounds=Bounds(long=1), queue_at=sys.argv[1])
"""
"""A server that has every scene made in the background, at a port that no other one tries."""


def ended(process: subprocess.Popen[Any]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()


@pytest.fixture
def redis_address(tmp_path: Path) -> Iterator[str]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no redis-server was found: apt-get install redis-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert any("eady to accept connections" in line for line in process.stdout)
    yield f"redis://127.0.0.1:{port}/0"
    ended(process)


@pytest.fixture
def worker(redis_address: str) -> Iterator[str]:
    """A `backstep worker` at a Redis: the address of that."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "viz", "worker", "--workers", "1", "--queue", redis_address],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if " ready." in line:
            break
    else:
        raise AssertionError("".join(lines)[-3000:])
    yield redis_address
    ended(process)


@pytest.fixture(params=["disk", "redis"])
def queue(request: pytest.FixtureRequest) -> str:
    return "disk" if request.param == "disk" else str(request.getfixturevalue("worker"))


def there(view: View, condition: str) -> None:
    """Waits as long as a job may take on a machine that is busy with other tests."""
    for left in reversed(range(4)):
        try:
            view.until(condition)
            break
        except AssertionError:
            if not left:
                raise


def jobs(served: App) -> list[Any]:
    """The processes of the jobs that run now."""
    found = []
    for one in psutil.Process(served.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "viz.server.production.job" in one.cmdline():
                found.append(one)
    return found


READY = (
    "window.backstep?.scene() && document.documentElement.dataset.ready && !document.documentElement.dataset.computing"
)
LOOKS = "performance.getEntriesByType('resource').filter(entry => entry.name.includes('cacheKey')).length"
GO = "((id) => { history.pushState({}, '', `/?program=${id}`); dispatchEvent(new PopStateEvent('popstate')); })"
SCENE = "() => JSON.stringify({ ...backstep.scene(), program: null })"


def test_long_scenes_and_lessons_are_made_in_the_background(
    queue: str, view_of: Callable[[App], View], view: View
) -> None:
    served = App(queue, code=SERVE)
    one, other = view_of(served), view_of(served)
    try:
        for page in (one, other):  # both wait for the same job
            page.page.goto(f"{served.origin}/?program=weights")
        view.open("?program=weights")
        for page in (one, other):
            there(page, READY)
            assert page.page.evaluate(SCENE) == view.page.evaluate(SCENE)
        assert one.js(LOOKS) > 0
        if queue == "disk":  # who goes back before it is there ends the job
            looks = one.js(LOOKS)
            one.js(GO + "('two_layers')")
            there(one, f"{LOOKS} > {looks}")
            with one.page.expect_request(lambda request: "cancelJob" in request.url):
                one.js(GO + "('weights')")
            there(one, READY)
            wait_for(lambda: not jobs(served))  # the one that was left is ended, and that of before has ended
            looks = one.js(LOOKS)
            one.js(GO + "('rnn_twenty')")
            wait_for(lambda: jobs(served))
            for held in jobs(served):
                held.suspend()  # it cannot end by itself
            there(one, f"{LOOKS} > {looks}")
            one.page.goto("about:blank")  # as if the tab were closed
            wait_for(lambda: not jobs(served))
            return
        one.page.locator("#act-export").click()
        with one.page.expect_download(timeout=4 * SETTLE) as saved:
            one.page.get_by_role("menuitem", name="Lesson: one file").click()
            one.page.get_by_text("so far").wait_for()  # another process counts
        assert 'id="lesson-data"' in Path(saved.value.path()).read_text("utf-8")
        one.js("backstep.edit({ command: backstep.scene().commands[0].id, gradient: [[0, 1, 0, 0]] })")
        there(one, "backstep.scene().revision.base")
        known = redis.Redis.from_url(queue)
        assert known.exists(f"backstep:edits:{one.revision()}")
        kept = [key for key in known.scan_iter("backstep:*") if key != b"backstep:secret"]
        assert kept and all(known.ttl(key) > 0 for key in kept)
    finally:
        for page in (one, other):
            page.page.close()  # a page that is left open logs that its server is gone
        served.close()
