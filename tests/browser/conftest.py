"""The app in a process of its own, and a page that fails its test on a console error or a request to elsewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

import engine
from viz.server.http.security import TRACE_PATH, TRACE_TYPE

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--num-raster-threads=1",  # several would only take turns with the other processes that test
    # A page lives for seconds here: what is optimised for the second time it runs costs more than it saves.
    "--js-flags=--invocation-count-for-maglev=2000 --invocation-count-for-turbofan=20000",
]
SETTLE = 30_000
"""Milliseconds that a state may take to come; nothing here sleeps."""


class App:
    """A started `backstep`, or Python code that serves; `lines` is what it printed."""

    def __init__(self, *argv: str, cwd: Path = ROOT, code: str = "") -> None:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed with the app
        self.process = subprocess.Popen(
            [sys.executable, *(["-c", code] if code else ["-m", "viz", "--no-browser"]), *argv],
            cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=self._errors,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": path},
        )  # fmt: skip
        assert self.process.stdout is not None
        self.lines: list[str] = []
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                self.address = found[0]
                break
        else:
            self.process.wait()
            self.process.stdout.close()
            with self._errors:
                self._errors.seek(0)
                told = "".join(self.lines) + self._errors.read()
            raise AssertionError(f"the app did not start: {told[-2000:]}")
        self.origin = self.address.split("/?")[0].rstrip("/")
        # A log that nobody reads fills its pipe, and then the app stands still at its next line.
        self._reader = threading.Thread(target=self.lines.extend, args=[self.process.stdout], daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Ends the app; `lines` is whole then, and the process's status is known."""
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._reader.join()
        for stream in (self.process.stdout, self._errors):
            assert stream is not None
            stream.close()


@pytest.fixture(scope="session")
def app() -> Iterator[App]:
    started = App()
    yield started
    started.close()


@pytest.fixture
def start() -> Iterator[Callable[..., App]]:
    """Starts further apps, for scripts; they end with the test."""
    started: list[App] = []

    def go(*argv: str, cwd: Path = ROOT) -> App:
        started.append(App(*argv, cwd=cwd))
        return started[-1]

    yield go
    for one in started:
        one.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("Playwright is not installed: pip install 'backstep[test]'")
    found = os.environ.get("BACKSTEP_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None
    )
    with sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(executable_path=found, args=FLAGS)
        except Exception as error:  # noqa: BLE001  # whatever keeps a browser from starting is told
            _missing(f"No Chromium could be started ({error!s:.200}). Run: playwright install chromium")
        yield launched
        launched.close()


def _missing(why: str) -> None:
    """In CI a test that does not run is a failure."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


class View:
    """A page on the app, with the questions that these tests ask."""

    def __init__(self, page: Any, app: App) -> None:
        self.page = page
        self.app = app
        page.set_default_timeout(SETTLE)

    def open(self, query: str = "") -> None:
        self.page.goto(f"{self.app.origin}/{query}")
        if "program=" in query:
            self.ready()
        else:
            self.page.wait_for_selector("html[data-app] #gallery .card")

    def ready(self) -> None:
        self.until("document.documentElement.dataset.ready && !document.documentElement.dataset.computing")
        self.painted()

    def painted(self) -> None:
        """Waits until what is known now is drawn: the stage learns its size in one frame and paints in the next."""
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def until(self, condition: str) -> None:
        """Waits for a JavaScript condition.

        Playwright's own `wait_for_function` evaluates text inside the page, which our Content-Security-Policy forbids.
        """
        look = f"try {{ return Boolean({condition}); }} catch {{ return false; }}"
        frames = (
            "if (look()) done(true); else if (performance.now() > end) done(false); else requestAnimationFrame(next);"
        )
        start = f"const look = () => {{ {look} }}; const end = performance.now() + {SETTLE};"
        code = f"() => new Promise(done => {{ {start} const next = () => {{ {frames} }}; next(); }})"
        for _ in range(3):
            try:
                assert self.page.evaluate(code), f"did not come true: {condition}"
                return
            except Exception as error:
                if "context was destroyed" not in str(error):  # a reload while we wait: look again on the new page
                    raise

    def js(self, code: str) -> Any:
        return self.page.evaluate(code)

    def state(self) -> Any:
        return self.js("backstep.state()")

    def seek(self, t: float) -> None:
        self.js(f"backstep.seek({t})")

    def end(self) -> None:
        self.js("backstep.seek(backstep.scene().steps.length)")

    def node(self, label: str) -> str:
        found = self.js(f"backstep.scene().nodes.find(n => n.label === {label!r})?.id ?? null")
        assert found is not None, f"no node {label!r}"
        return str(found)

    def row(self, label: str, key: str) -> Any:
        """The numbers of a row of a card, at the present time."""
        return self.state()["nodes"][self.node(label)]["rows"][key]

    def revision(self) -> str:
        return str(self.js("backstep.scene().revision.id"))

    def changed(self, before: str) -> None:
        """Waits until another revision is shown."""
        self.until(f"backstep.scene().revision.id !== {before!r} && !document.documentElement.dataset.computing")

    def undone(self, base: str) -> None:
        """Undoes the change of the revision `base`, and makes it again."""
        edited = self.revision()
        self.js("document.activeElement.blur()")  # in a field that is typed into, these keys are the field's own
        self.page.keyboard.press("Control+z")
        self.changed(edited)
        assert self.revision() == base
        self.page.keyboard.press("Control+Shift+z")
        self.changed(base)
        assert self.revision() == edited

    def click(self, label: str, row: str | None = None, cell: int | None = None, times: int = 1) -> None:
        spot = self.js(f"backstep.screenPos({self.node(label)!r}, {row!r}, {cell})".replace("None", "null"))
        self.page.mouse.click(spot["x"], spot["y"], click_count=times)

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=re.compile(name)).click()


LOOK = {"color_scheme": "light", "reduced_motion": "reduce"}
WINDOW = {"width": 1440, "height": 900}
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    made = browser.new_context(viewport=WINDOW, **LOOK)
    yield made
    made.close()


def watch(page: Any, app: App, wrong: list[str]) -> None:
    """Notes what a page must not do: log an error, or ask for something outside."""
    page.on("console", lambda m: wrong.append(f"console: {m.text}") if m.type == "error" else None)
    page.on("pageerror", lambda e: wrong.append(f"exception: {e.message}\n{e.stack}"))

    def asked(request: Any) -> None:
        if not request.url.startswith((app.origin, "data:", "blob:")):
            wrong.append(f"outside: {request.url}")

    page.on("request", asked)


@pytest.fixture
def view_of(context: Any) -> Iterator[Callable[[App], View]]:
    """Opens pages; the test fails where one of them logged an error or asked for something outside."""
    wrong: list[str] = []

    def make(app: App) -> View:
        page = context.new_page()
        watch(page, app, wrong)
        return View(page, app)

    yield make
    assert wrong == []


class Place:
    """The page in which one test after the other opens an app.

    Each opens a new document there.  In a process of the browser that has compiled our scripts before, it costs half of
    what one in a new process does, which a page in a new context has.  What outlives a document is taken away between
    tests; what cannot be is for a page of `new_view`: scripts for every document, and what a DevTools session has set.
    """

    def __init__(self, browser: Any, app: App) -> None:
        self.app = app
        self.context = browser.new_context(viewport=WINDOW, **LOOK)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        watch(self.page, app, self.wrong)
        self.devtools = self.context.new_cdp_session(self.page)

    def clear(self) -> None:
        """Leaves an empty document of the same origin: one of another origin would have another process."""
        page, context = self.page, self.context
        for other in context.pages:
            if other is not page:
                other.close()
        page.unroute_all()
        context.clear_permissions()
        context.clear_cookies()
        page.goto(f"{self.app.origin}/assets/icon.svg")
        page.evaluate("localStorage.clear(), sessionStorage.clear(), window.name = ''")
        self.devtools.send("Page.resetNavigationHistory")
        page.mouse.move(-1, -1)
        page.set_viewport_size(WINDOW)
        page.emulate_media(**LOOK, media="null", forced_colors="null")
        self.wrong.clear()  # a question that was under way when its document was left may be told as one that failed


@pytest.fixture(scope="session")
def places(browser: Any) -> Iterator[dict[App, Place]]:
    made: dict[App, Place] = {}
    yield made
    for place in made.values():
        place.context.close()


@pytest.fixture
def opens(request: pytest.FixtureRequest, browser: Any, places: dict[App, Place]) -> Iterator[Callable[[App], View]]:
    """The page of an app that several tests share; one in which a test failed is not used again."""
    used: list[App] = []

    def go(app: App) -> View:
        place = places.get(app)
        if place is None:
            place = places[app] = Place(browser, app)
        if app not in used:
            used.append(app)
        return View(place.page, app)

    yield go
    for app in used:
        place = places.pop(app)
        wrong = [*place.wrong]
        if wrong or request.node.stash.get(FAILED, False):
            place.context.close()
        else:
            place.clear()
            places[app] = place
        assert wrong == []


@pytest.fixture
def view(opens: Callable[[App], View], app: App) -> View:
    return opens(app)


@pytest.fixture
def new_view(view_of: Callable[[App], View], app: App) -> View:
    """A page in a context of its own."""
    return view_of(app)


def opened(view: View, program: str) -> None:
    """Opens a program at its beginning in the document that is there, as the back button does it."""
    address = f"?program={program}&step=0"
    view.js(f"(history.pushState({{}}, '', {address!r}), dispatchEvent(new PopStateEvent('popstate')))")
    view.until(f"backstep.scene()?.program.id === {program!r} && !document.documentElement.dataset.computing")
    view.until("backstep.t() === 0")


def recording(script: Path, source: str) -> Path:
    """The trace file of a script with this source, beside it."""
    script.write_text(source, "utf-8")
    with engine.record() as trace:
        exec(compile(source, str(script), "exec"), {"__name__": "__main__"})
    path = script.with_suffix(".backstep")
    trace.save(str(path))
    return path


@pytest.fixture(scope="session")
def own() -> Iterator[App]:
    """An app into which the tests put recordings; the gallery of the other app stays as it is."""
    started = App()
    yield started
    started.close()


def dropped(app: App, name: str, trace: bytes) -> str:
    """The program that an app makes of a trace file which is dropped on its page."""
    address = f"{app.origin}{TRACE_PATH}?name={quote(name)}"
    with urlopen(Request(address, trace, {"Content-Type": TRACE_TYPE})) as answer:
        return str(json.load(answer)["program"])


@pytest.fixture
def shown(own: App, opens: Callable[[App], View]) -> Callable[..., View]:
    """Opens a trace file as one that was dropped on the page."""

    def go(path: Path, query: str = "") -> View:
        program = dropped(own, path.name, path.read_bytes())
        view = opens(own)
        view.open(f"?program={program}{query}")
        return view

    return go
