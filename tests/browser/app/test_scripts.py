"""One's own script in the browser: one that raises, one that imports torch, and live coding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.browser.app.test_room import CUT
from tests.browser.conftest import App, View
from viz.record.runner import SILENT, Script, run_script

LONG = "a_rather_long_name_of_my_own_training_script.py"
DOUBLED = """import engine as torch

x = torch.tensor([1., 2.], requires_grad=True)
y = (2 * x).sum()
y.backward()
"""


LOOP = """import engine as torch
w = torch.ones(20, requires_grad=True)
for step in range(12):
    h = w
    for _ in range(30):
        h = h * 1.1
    loss = h.sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
"""


def test_how_a_script_ended_is_told_on_its_page(shown: Callable[[Path], View], tmp_path: Path) -> None:
    script = tmp_path / "lesson.py"

    def opened(source: str) -> View:
        script.write_text(source, "utf-8")
        return shown(run_script(Script(script), streams=SILENT).trace_path)

    view = opened(DOUBLED + "y.backward()\n")
    assert "lesson.py" in view.page.locator("#code").inner_text()
    error = view.js("backstep.scene().error")
    assert error["message"].startswith("Trying to backward through the graph a second time")
    assert error["node"] is not None and "lesson.py" in error["traceback"]
    view.end()
    assert view.row("x", "grad") == [2, 2]
    assert view.page.locator("#code u.err").count() == 1

    view = opened(DOUBLED + "raise SystemExit(3)\n")
    assert "lesson.py exited in line 6 with status 3." in view.page.locator("#doubt").inner_text()
    assert view.js("backstep.scene().error") is None

    view = opened("print('no tensors')\n")
    assert "recorded nothing" in view.page.locator("#notice").inner_text()


def test_each_save_of_a_watched_script_records_it_again_and_keeps_the_place_or_the_last_good_one(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    script = tmp_path / LONG
    script.write_text(DOUBLED, "utf-8")
    app = start("run", "--as-torch", "--watch", str(script), cwd=tmp_path)
    view = view_of(app)
    view.open(app.address.removeprefix(app.origin).lstrip("/"))
    doubt, bar = view.page.locator("#doubt"), view.page.locator("#live-bar")
    view.page.set_viewport_size({"width": 1280, "height": 720})
    assert view.page.locator("#crumbs h1").inner_text() == LONG and view.js(CUT) == [], "little room"
    assert view.js("document.querySelector('#live-bar .dot').getBoundingClientRect().width") == 8

    view.seek(2)
    before = view.revision()
    calls = view.js("backstep.serverCalls()")
    good = DOUBLED.replace("2 * x", "3 * x")
    script.write_text(good, "utf-8")
    view.changed(before)
    assert view.js("backstep.t()") == 2
    assert view.js("backstep.serverCalls()") == calls + 1
    view.until("document.querySelector('#story .since')?.innerText.startsWith('Since the last save: line')")
    view.end()
    assert view.row("x", "grad") == [3, 3]

    before = view.revision()
    script.write_text(DOUBLED + "y.backward(\n", "utf-8")
    view.until("document.getElementById('live-bar').classList.contains('wrong')")
    assert view.revision() == before
    view.until(  # it stands in the legend's place and covers nothing of the graph
        """(() => {
          const rect = (one) => document.querySelector(one).getBoundingClientRect();
          const [note, legend] = ['#doubt', '.bs-legend'].map(rect);
          return Math.abs(note.bottom - legend.bottom) < 2 && backstep.scene().nodes.every(({ id }) => {
            const { y, height } = backstep.screenPos(id);
            return y + height / 2 < note.top;
          });
        })()"""
    )
    said = doubt.inner_text()
    assert "line 6: '(' was never closed" in said and "last good recording is shown" in said

    script.write_text(good, "utf-8")
    view.until("!document.getElementById('live-bar').classList.contains('wrong')")
    view.until("document.getElementById('doubt').hidden")

    before = view.revision()
    script.write_text(DOUBLED + "raise SystemExit('enough')\n", "utf-8")  # counts as recorded
    view.changed(before)
    assert doubt.inner_text().startswith(f"{LONG} exited in line 6 with status 1")
    assert bar.inner_text() == "watching the script"

    before = view.revision()
    script.write_text(DOUBLED.replace("import engine as torch", "import torch"), "utf-8")
    view.changed(before)
    view.until("document.getElementById('doubt').hidden")
    view.end()
    assert view.row("x", "grad") == [2, 2]

    before = view.revision()
    script.write_text(LOOP)
    view.changed(before)

    page, since = view.page, view.page.locator("#story .since")
    page.locator("#view-graph").click()
    page.locator("#sections input").fill("10")
    page.locator("#sections input").press("Enter")
    view.until("backstep.scene().section.at === 9")
    script.write_text(LOOP.replace("0.01", "0.02"))
    since.get_by_text("in step = 9").wait_for()
    assert "line 10 changed; loss " in since.inner_text() and view.js("backstep.scene().section.at") == 9
    script.write_text(LOOP.replace("range(12):\n    h", "range(8):\n    h"))
    since.get_by_text("8 sections instead of 12").wait_for()
    assert view.js("backstep.scene().section.at") == 0 and not page.locator("#notice").is_visible()
