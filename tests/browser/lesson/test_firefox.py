"""Firefox: a lesson file is as in Chromium at every step, with nothing fetched; the app is stepped and edited."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from viz.server.lesson import course
from viz.server.lesson.page import lesson
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

from ..conftest import SETTLE, App, View
from .conftest import lesson_of

pytestmark = pytest.mark.browser

MOMENTS = """async () => {
  const text = (id) => document.getElementById(id).innerText;
  const words = () => [...backstep.picture().text.matchAll(/>([^<]*)<\\/text>/g)].map((match) => match[1]);
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const found = [];
  for (let t = 0; t <= backstep.scene().steps.length; t += 0.5) {
    backstep.seek(t);
    await painted();
    found.push([backstep.state(), ...["story", "code", "inspect-body", "live"].map(text), words()]);
  }
  return JSON.stringify(found);
}"""
"""The texts and pictures after each step and between steps; positions in a picture depend on the browser's fonts."""
ENTER, RIGHT, CONTROL, END = "\ue007", "\ue014", "\ue009", "\ue010"
"""Keys, as WebDriver names them."""


class Firefox:
    """A Firefox without a window, driven by WebDriver BiDi, which it speaks itself: Playwright drives only its own."""

    def __init__(self, program: str, profile: Path) -> None:
        self.process = subprocess.Popen(
            [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": str(profile)},
        )  # fmt: skip
        assert self.process.stderr is not None
        lines = (re.search(r"WebDriver BiDi listening on (ws://\S+)", line) for line in self.process.stderr)
        self.address = next(filter(None, lines))[1]
        self.count = 0
        self.events: list[Any] = []

    def open(self, socket: Any, url: str) -> None:
        self.socket = socket
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]
        self.ask("browsingContext.setViewport", context=self.context, viewport={"width": 1440, "height": 900})
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def ask(self, method: str, **params: Any) -> Any:
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while (answer := json.loads(self.socket.recv(timeout=4 * SETTLE / 1000))).get("id") != self.count:
            self.events.append(answer)
        assert answer["type"] == "success", answer
        return answer["result"]

    def js(self, code: str) -> Any:
        """The text that a JavaScript function gives."""
        target = {"context": self.context}
        found = self.ask("script.evaluate", expression=f"({code})()", target=target, awaitPromise=True)
        assert found["type"] == "success", found
        return found["result"].get("value")

    def until(self, condition: str) -> None:
        look = f"try {{ return Boolean({condition}); }} catch {{ return false; }}"
        frames = "look() ? done('yes') : performance.now() > end ? done('no') : requestAnimationFrame(next)"
        start = f"const look = () => {{ {look} }}; const end = performance.now() + {SETTLE};"
        code = f"() => new Promise(done => {{ {start} const next = () => {frames}; next(); }})"
        assert self.js(code) == "yes", f"did not come true: {condition}"

    def press(self, *keys: str) -> None:
        """Presses keys together."""
        actions = [{"type": "keyDown", "value": key} for key in keys]
        actions += [{"type": "keyUp", "value": key} for key in reversed(keys)]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self.ask("input.performActions", context=self.context, actions=[source])

    def double_click(self, x: float, y: float) -> None:
        click = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        move = {"type": "pointerMove", "x": round(x), "y": round(y)}
        source = {"type": "pointer", "id": "mouse", "actions": [move, *click, *click]}
        self.ask("input.performActions", context=self.context, actions=[source])

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no Firefox was found: apt-get install firefox-esr")
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "user.js").write_text('user_pref("ui.prefersReducedMotion", 1);\n')
    started = Firefox(program, profile)
    yield started
    started.close()


FILM = """async () => {
  const offered = new Promise((done) => {
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => { done(blob); return make(blob); };
  });
  document.getElementById("export-webm").click();
  const video = document.createElement("video");
  video.src = URL.createObjectURL(await offered);
  await new Promise((done, failed) => {
    video.onloadeddata = done;
    video.onerror = () => failed(video.error.message);
  });
  const { width, height } = backstep.view();
  return JSON.stringify([video.duration, video.videoWidth - Math.round(width), video.videoHeight - Math.round(height)]);
}"""
"""The duration of the video that is saved, and how its size differs from the stage's."""


def test_lessons_in_firefox_are_those_in_chromium_and_film_and_presenter_work(
    firefox: Firefox, context: Any, tmp_path: Path
) -> None:
    connect = pytest.importorskip("websockets.sync.client").connect
    path = tmp_path / "weights.html"
    path.write_text(lesson_of("weights"))
    page = context.new_page()
    page.goto(path.as_uri())
    with connect(firefox.address + "/session", max_size=None) as socket:
        firefox.open(socket, path.as_uri())
        shows_the_same(firefox, View(page, None))  # type: ignore[arg-type]  # there is no app
        films(firefox)
        said = [one["params"] for one in firefox.events if one["method"] == "log.entryAdded"]
        sent = [one["params"] for one in firefox.events if one["method"] == "network.beforeRequestSent"]
        assert sent and all(one["request"]["url"].startswith(("file:", "data:", "blob:")) for one in sent)
        assert said == []
        asks_before_it_answers_and_has_a_presenter(firefox, tmp_path)


def shows_the_same(firefox: Firefox, other: View) -> None:
    other.ready()
    firefox.until("document.documentElement.dataset.ready && !document.documentElement.dataset.computing")
    edit = "backstep.edit({ command: backstep.scene().commands[0].id, gradient: [[0, 0, 1, 0]] })"
    base = other.revision()
    for _ in range(2):  # as recorded, and edited
        assert json.loads(firefox.js(MOMENTS)) == json.loads(other.page.evaluate(MOMENTS))
        firefox.js(f"() => {{ {edit}; }}")
        other.js(edit)
        firefox.until(f"backstep.scene().revision.id !== {base!r}")
        other.changed(base)
    firefox.js("() => { backstep.seek(0); document.activeElement.blur(); }")
    firefox.press(END)
    firefox.until("backstep.t() === backstep.scene().steps.length")


def films(firefox: Firefox) -> None:
    phase = json.loads(firefox.js("() => { backstep.seek(0); return JSON.stringify(backstep.scene().phases[0]); }"))
    pictures = round((phase["end"] - phase["start"]) * 0.9 * 30) + 30
    duration, *differences = json.loads(firefox.js(FILM))
    assert duration == pytest.approx(pictures / 30) and differences == [0, 0]


def test_app_in_firefox_is_stepped_edited_and_undone(firefox: Firefox, app: App) -> None:
    connect = pytest.importorskip("websockets.sync.client").connect
    ready = "document.documentElement.dataset.ready && !document.documentElement.dataset.computing"
    spot = "backstep.screenPos(backstep.scene().nodes.find(n => n.label === 'z').id, 'seed', 2)"
    with connect(firefox.address + "/session", max_size=None) as socket:
        firefox.open(socket, f"{app.origin}/?program=weights&step=0")
        firefox.until(ready)
        for step in (1, 2):
            firefox.press(RIGHT)
            firefox.until(f"backstep.t() === {step}")
        base = firefox.js("() => backstep.scene().revision.id")
        x, y = json.loads(firefox.js(f"() => {{ const {{ x, y }} = {spot}; return JSON.stringify([x, y]); }}"))
        firefox.double_click(x, y)
        firefox.until("document.activeElement.className === 'bs-cell-input'")
        firefox.press("3")
        firefox.press(ENTER)
        firefox.until(f"backstep.scene().revision.id !== {base!r} && {ready}")
        firefox.press(CONTROL, "z")
        firefox.until(f"backstep.scene().revision.id === {base!r} && {ready}")
        assert [one["params"] for one in firefox.events if one["method"] == "log.entryAdded"] == []


def asks_before_it_answers_and_has_a_presenter(firefox: Firefox, folder: Path) -> None:
    """A lesson of one's own."""
    course.write(folder / "lesson.py")
    path = folder / "lesson.html"
    (own,) = course.course(folder)
    path.write_text(lesson(Store(Catalogue([own]), StoreComputation()), own.id))
    code = "document.getElementById('code').innerText"
    firefox.ask("browsingContext.navigate", context=firefox.context, url=path.as_uri(), wait="complete")
    firefox.until(f"document.documentElement.dataset.ready && {code}.includes('# ? What') && !{code}.includes('# + ')")
    firefox.js("() => backstep.seek(3)")
    firefox.until(f"{code}.includes('# + 2 0')")
    hall, notes = firefox.context, firefox.ask("browsingContext.create", type="tab")["context"]
    url = f"{path.as_uri()}?present=notes"
    firefox.ask("browsingContext.navigate", context=notes, url=url, wait="complete")
    firefox.context = notes
    firefox.until("document.documentElement.dataset.ready && backstep.scene()")
    firefox.context = hall
    firefox.js("() => { backstep.seek(0); document.activeElement.blur(); }")
    firefox.press("p")
    firefox.until("document.documentElement.dataset.present === 'hall'")
    firefox.js("() => backstep.seek(2)")
    firefox.context = notes
    firefox.until("backstep.t() === 2")
