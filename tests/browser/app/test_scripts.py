"""One's own script in the browser: one that raises, one that imports torch, and live coding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import App, View

DOUBLED = """import engine as torch

x = torch.tensor([1., 2.], requires_grad=True)
y = (2 * x).sum()
y.backward()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "lesson.py"
    path.write_text(DOUBLED, "utf-8")
    return path


def opened(view_of: Callable[[App], View], app: App) -> View:
    view = view_of(app)
    view.open(app.address.removeprefix(app.origin).lstrip("/"))
    return view


def test_script_is_recorded_up_to_its_error_which_is_shown_at_its_node(
    start: Callable[..., App], view_of: Callable[[App], View], script: Path
) -> None:
    script.write_text(DOUBLED + "y.backward()\n", "utf-8")
    view = opened(view_of, start("run", str(script), cwd=script.parent))
    assert "lesson.py" in view.page.locator("#code").inner_text()
    error = view.js("backstep.scene().error")
    assert error["message"].startswith("Trying to backward through the graph a second time")
    assert error["node"] is not None and "lesson.py" in error["traceback"]
    view.end()
    assert view.row("x", "grad") == [2, 2]
    assert view.page.locator("#code u.err").count() == 1


def test_script_that_imports_torch_runs_on_the_engine(
    start: Callable[..., App], view_of: Callable[[App], View], script: Path
) -> None:
    script.write_text(DOUBLED.replace("import engine as torch", "import torch"), "utf-8")
    view = opened(view_of, start("run", "--as-torch", str(script), cwd=script.parent))
    view.end()
    assert view.row("x", "grad") == [2, 2]


def test_script_that_records_nothing_is_explained(
    start: Callable[..., App], view_of: Callable[[App], View], script: Path
) -> None:
    script.write_text("print('no tensors')\n", "utf-8")
    view = opened(view_of, start("run", str(script), cwd=script.parent))
    assert "recorded nothing" in view.page.locator("#notice").inner_text()


def test_script_that_ends_itself_is_told_on_the_page(
    start: Callable[..., App], view_of: Callable[[App], View], script: Path
) -> None:
    script.write_text(DOUBLED + "raise SystemExit(3)\n", "utf-8")
    view = opened(view_of, start("run", str(script), cwd=script.parent))
    assert "lesson.py exited in line 6 with status 3." in view.page.locator("#doubt").inner_text()
    assert view.js("backstep.scene().error") is None


def test_each_save_of_a_watched_script_records_it_again_and_keeps_the_place_or_the_last_good_one(
    start: Callable[..., App], view_of: Callable[[App], View], script: Path
) -> None:
    view = opened(view_of, start("run", "--watch", str(script), cwd=script.parent))
    doubt, bar = view.page.locator("#doubt"), view.page.locator("#live-bar")
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
    said = doubt.inner_text()
    assert "line 6: '(' was never closed" in said and "last good recording is shown" in said

    script.write_text(good, "utf-8")
    view.until("!document.getElementById('live-bar').classList.contains('wrong')")
    view.until("document.getElementById('doubt').hidden")

    before = view.revision()
    script.write_text(DOUBLED + "raise SystemExit('enough')\n", "utf-8")  # counts as recorded
    view.changed(before)
    assert doubt.inner_text().startswith("lesson.py exited in line 6 with status 1")
    assert bar.inner_text() == "watching the script"

    before = view.revision()
    script.write_text(DOUBLED, "utf-8")
    view.changed(before)
    view.until("document.getElementById('doubt').hidden")


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


def test_after_a_save_of_a_long_run_the_same_iteration_is_shown_and_what_changed(
    script: Path, start: Callable[..., App], view_of: Callable[[App], View]
) -> None:
    script.write_text(LOOP)
    view = opened(view_of, start("run", "--watch", str(script), cwd=script.parent))
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
