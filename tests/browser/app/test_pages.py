"""The tutorial and the how-to pages, followed by hand: what they tell the reader to do leads to what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs import pages
from tests.browser.conftest import App, View

SAID = "document.getElementById('live').textContent"
TUTORIAL = (pages.HERE / "tutorial.md").read_text("utf-8")


def opened(start: Callable[..., App], view_of: Callable[[App], View], name: str, folder: Path) -> View:
    """A script of the pages, recorded and opened."""
    (folder / name).write_text(pages.script_named(name).text, "utf-8")
    app = start("run", name, cwd=folder)
    view = view_of(app)
    view.open(app.address.removeprefix(app.origin).lstrip("/"))
    return view


def test_tutorial_is_followed_to_its_end(view: View) -> None:
    view.open()
    view.page.get_by_text("Start here").click()
    view.until("window.backstep.scene()?.program.id === 'weights' && backstep.t() === 0")
    view.ready()
    promised = {step.number: step for step in pages.steps(TUTORIAL)}
    for number in range(1, view.js("backstep.scene().steps.length") + 1):
        view.page.keyboard.press("ArrowRight")
        view.until(f"backstep.t() === {number}")
        if number in promised:
            view.until(f"{SAID} === 'Step {number} of {promised[number].of}. {promised[number].say}'")
    before = view.revision()
    view.seek(4)
    view.click("z", "seed", 0, times=2)
    view.page.keyboard.type("3")
    view.page.keyboard.press("Enter")
    view.changed(before)
    view.seek(4)
    assert view.row("x", "grad") == [6, 0, 0, 0]
    edited = view.revision()
    view.page.keyboard.press("Control+z")
    view.changed(edited)
    assert view.row("x", "grad") == [2, 0, 0, 0]


def test_page_about_nan_is_right_about_where_the_script_opens(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    view = opened(start, view_of, "lengths.py", tmp_path)
    title = pages.quoted((pages.HERE / "howto" / "find-a-nan.md").read_text("utf-8"))[0]
    view.until(f"document.querySelector('#story h1').textContent === {title!r}")
    assert "SqrtBackward0" in view.js(SAID)


def test_page_about_retain_graph_is_right_about_the_change_on_offer(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    view = opened(start, view_of, "losses.py", tmp_path)
    view.until("backstep.t() === backstep.scene().error.step + 1")
    before = view.revision()
    view.page.get_by_role("button", name="Try it: change the call").first.click()
    view.changed(before)
    view.end()
    assert view.row("w", "grad") == [6, 36]
