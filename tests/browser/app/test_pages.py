"""The tutorial and the how-to pages, followed by hand: what they tell the reader to do leads to what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from docs.make import pages
from tests.browser.conftest import View
from viz.record.runner import SILENT, Script, run_script

SAID = "document.getElementById('live').textContent"
TUTORIAL = (pages.HERE / "tutorial.md").read_text("utf-8")


@pytest.fixture
def opened(shown: Callable[[Path], View], tmp_path: Path) -> Callable[[str], View]:
    """The page of a script of the pages, recorded and opened."""

    def go(name: str) -> View:
        (tmp_path / name).write_text(pages.script_named(name).text, "utf-8")
        return shown(run_script(Script(tmp_path / name), streams=SILENT).trace_path)

    return go


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


def test_page_about_nan_is_right_about_where_the_script_opens(opened: Callable[[str], View]) -> None:
    view = opened("lengths.py")
    title = pages.quoted((pages.HERE / "howto" / "find-a-nan.md").read_text("utf-8"))[0]
    view.until(f"document.querySelector('#story h1').textContent === {title!r}")
    assert "SqrtBackward0" in view.js(SAID)


def test_page_about_retain_graph_is_right_about_the_change_on_offer(opened: Callable[[str], View]) -> None:
    view = opened("losses.py")
    view.until("backstep.t() === backstep.scene().error.step + 1")
    before = view.revision()
    view.page.get_by_role("button", name="Try it: change the call").first.click()
    view.changed(before)
    view.end()
    assert view.row("w", "grad") == [6, 36]
