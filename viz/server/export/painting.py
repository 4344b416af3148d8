"""Pictures and films for the command line, painted as the app paints them: by a browser, without a window.

The browser opens a page of ours on the loopback address, the lesson of a program with a job
(assets/js/lesson/painting.mjs), and posts back what it has painted.  No other program is needed, and there is one way
of painting.
"""

from __future__ import annotations

import os
import queue
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

from viz.server.lesson.packing import Lesson
from viz.server.lesson.page import page_with_job
from viz.server.store import Problem, Store

KINDS = {
    "svg": "a picture of the graph",
    "png": "a picture of the graph",
    "gif": "an animation",
    "webm": "a video",
}
"""The formats that can be painted, by the suffixes of their files."""
NAMED = "BACKSTEP_CHROMIUM"
"""The variable that names a browser."""
BROWSERS = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
    "microsoft-edge", "brave-browser", "chrome", "msedge",
)  # fmt: skip
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
"""The places where browsers are installed on systems that do not name them in PATH."""
FLAGS = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--mute-audio", "--force-prefers-reduced-motion",
)  # fmt: skip
PATIENCE = 180
"""Seconds after which a browser that has painted nothing is stopped; a film of 30 s is recorded in real time."""
WINDOW = 1280, 720
"""The pixels of the window that a film shows."""


@dataclass(frozen=True)
class Look:
    """The part of a program that is painted: `size` is `whole`, `16:9`, or the size of a window, as `1280x720`.

    A picture shows the moment after `step` (None: the last one), a film the time from `begin` to `end`, in steps.
    """

    size: str = ""
    theme: Literal["light", "dark"] = "light"
    step: int | None = None
    begin: int | None = None
    end: int | None = None

    def job(self, kind: str) -> dict[str, object]:
        """The look in the form that the page expects. Raises ValueError for a film that ends before it begins."""
        if self.end is not None and self.end <= (self.begin or 0):
            raise ValueError(f"the film would end after step {self.end}, and begin after {self.begin or 0}")
        size = self.size or ("16:9" if kind in ("gif", "webm") else "whole")
        width, height = window(size)
        part = {"whole": "whole", "16:9": "slide"}.get(size, "seen")
        return {
            "kind": kind, "part": part, "width": width, "height": height, "theme": self.theme, "step": self.step,
            "from": self.begin, "to": self.end,
        }  # fmt: skip


def window(size: str) -> tuple[int, int]:
    """The pixels of a size. Raises ValueError if it is not a size.

    >>> window("800x600"), window("whole")
    ((800, 600), (1280, 720))
    """
    if size in ("whole", "16:9"):
        return WINDOW
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal() and 100 <= int(width) <= 8192 and 100 <= int(height) <= 8192):
        raise ValueError(f"{size!r} is not a size: give whole, 16:9, or width and height as in 1280x720")
    return int(width), int(height)


def paint(store: Store, program: str, kind: str, look: Look, section: int | None) -> bytes:
    """A picture or a film of a program, or of a section of its run.

    Raises Problem if no browser is found or if it paints nothing, and ValueError for a look that cannot be painted.
    """
    job, browser = look.job(kind), find_browser()
    data = {**Lesson(store).opening(program, section), "job": job}
    title = str(store.catalogue.find(program).about.get("title", program))
    with answers(page_with_job(title, data).encode()) as (address, answer), running(browser, address) as process:
        return wait_for_answer(answer, process)


def wait_for_answer(answer: queue.Queue[tuple[str, bytes]], process: subprocess.Popen[bytes]) -> bytes:
    """The data that the page sends while its browser runs."""
    for _ in range(PATIENCE):
        try:
            path, body = answer.get(timeout=1)
        except queue.Empty:
            if process.poll() is not None:
                raise _failed(f"The browser ended with status {process.returncode}.") from None
            continue
        if path.endswith("failed"):
            raise _failed(body.decode("utf-8", "replace")[:400])
        return body
    raise _failed(f"The browser painted nothing in {PATIENCE} seconds.")


def find_browser() -> str:
    """The path of a Chromium, Chrome or Edge. Raises Problem if there is none."""
    named = os.environ.get(NAMED)
    places = [named] if named else [*filter(None, map(shutil.which, BROWSERS)), *PLACES]
    path = next((place for place in places if Path(place).is_file()), None)
    if path is None:
        why = f"{named!r} is not one" if named else "none was found"
        text = (
            f"Pictures and films are painted by a browser, and {why}. "
            f"Install Chromium, Chrome or Edge, or name one in {NAMED}. In the app, Export saves the same."
        )
        raise Problem("no-browser", "No browser", text)
    return path


def _failed(text: str) -> Problem:
    return Problem("not-painted", "Nothing was painted", text)


@contextmanager
def answers(page: bytes) -> Iterator[tuple[str, queue.Queue[tuple[str, bytes]]]]:
    """Serves a page on the loopback address, at a path that nobody can guess, and queues the data posted beside it."""
    secret = secrets.token_urlsafe()
    answer: queue.Queue[tuple[str, bytes]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(page if self.path == f"/{secret}/" else b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.startswith(f"/{secret}/"):
                answer.put((self.path, body))
            self.reply(b"")

        def reply(self, body: bytes) -> None:
            self.send_response(200 if body else 204)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Logs nothing: the terminal is the user's."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True, name="painting").start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/{secret}/", answer
        finally:
            server.shutdown()


@contextmanager
def running(browser: str, address: str) -> Iterator[subprocess.Popen[bytes]]:
    """A headless browser that shows an address, with a temporary profile; it is closed at the end of the block."""
    is_root = sys.platform != "win32" and os.geteuid() == 0
    with tempfile.TemporaryDirectory(prefix="backstep-", ignore_cleanup_errors=True) as profile:
        flags = [*FLAGS, f"--user-data-dir={profile}", *(["--no-sandbox"] if is_root else [])]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(
            [browser, *flags, address], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
        try:
            yield process
        finally:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a browser, whose profile is thrown away, and its processes: Debian's `chromium` is a script around it."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
