"""Recordings of one's own, opened in one app by all tests that need no other one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

import engine
from tests.browser.conftest import App, View
from viz.server.http.security import TRACE_PATH, TRACE_TYPE


def recording(script: Path, source: str) -> Path:
    """The trace file of a script with this source, beside it."""
    script.write_text(source, "utf-8")
    with engine.record() as trace:
        exec(compile(source, str(script), "exec"), {"__name__": "__main__"})
    path = script.with_suffix(".backstep")
    trace.save(str(path))
    return path


def opened(view: View, program: str) -> None:
    """Opens a program at its beginning in the document that is there, as the back button does it."""
    address = f"?program={program}&step=0"
    view.js(f"(history.pushState({{}}, '', {address!r}), dispatchEvent(new PopStateEvent('popstate')))")
    view.until(f"backstep.scene()?.program.id === {program!r} && !document.documentElement.dataset.computing")
    view.until("backstep.t() === 0")


@pytest.fixture(scope="session")
def own() -> Iterator[App]:
    """An app into which the tests put recordings; the gallery of the other app stays as it is."""
    started = App()
    yield started
    started.close()


@pytest.fixture
def shown(own: App, opens: Callable[[App], View]) -> Callable[..., View]:
    """Opens a trace file as one that was dropped on the page."""

    def go(path: Path, query: str = "") -> View:
        address = f"{own.origin}{TRACE_PATH}?name={quote(path.name)}"
        with urlopen(Request(address, path.read_bytes(), {"Content-Type": TRACE_TYPE})) as answer:
            program = json.load(answer)["program"]
        view = opens(own)
        view.open(f"?program={program}{query}")
        return view

    return go
