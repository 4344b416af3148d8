"""A lesson file beside the live page: the same at every moment, offline, from a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from viz.server.components.frame import frame
from viz.server.lesson.notebook import Cell

from ..conftest import App, View
from .conftest import lesson_of

MOMENTS = """async (by) => {
  const text = (id) => document.getElementById(id).innerText;
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const found = [];
  for (let t = 0; t <= backstep.scene().steps.length; t += by) {
    backstep.seek(t);
    await painted();
    const shown = ["story", "code", "inspect-body", "timeline"].map(text);
    found.push(JSON.stringify([backstep.state(), shown, backstep.picture().text]));
  }
  return found;
}"""
"""All that is shown, after each step and between them."""
TAKEN = """async (ask) => {
  const headers = { "Content-Type": "application/json" };
  return (await fetch("/export/html", { method: "POST", headers, body: JSON.stringify(ask) })).text();
}"""
"""The lesson that the live page saves."""
RUN = """import engine as torch
layer = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for step in range(12):
    optimizer.zero_grad()
    x = torch.arange(2.0)
    for _ in range(2):
        x = layer(x).relu()
    x.sum().backward(torch.tensor(1.0))
    optimizer.step()
"""


@pytest.fixture
def alone(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens the lesson of a program from a file, in a browser without a network."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme="light", reduced_motion="reduce", offline=True
    )
    asked: list[str] = []
    wrong: list[str] = []

    def make(program: str, text: str | None = None) -> View:
        path = tmp_path / f"{program}.html"
        path.write_text(text or lesson_of(program))
        page = context.new_page()
        page.on("console", lambda m: wrong.append(m.text))
        page.on("pageerror", lambda e: wrong.append(str(e)))
        page.on("request", lambda request: asked.append(request.url))
        shown = View(page, None)  # type: ignore[arg-type]  # there is none
        page.goto(path.as_uri())
        shown.ready()
        return shown

    yield make
    assert wrong == [] and all(url.startswith("file:") for url in asked)
    context.close()


def test_lesson_is_the_live_page_moment_by_moment_also_after_an_edit(app: App, view: View, alone: Any) -> None:
    view.open("?program=weights")
    taken = alone("weights")
    for one in (view, taken):
        one.js("backstep.select(backstep.scene().nodes[1].id)")
        one.until("document.getElementById('inspect-body').innerText.includes('Saved')")
    assert taken.page.evaluate(MOMENTS, 0.5) == view.page.evaluate(MOMENTS, 0.5)
    for cell in (2, 1):  # the old numbers beside those of the second are those of the first
        for one in (view, taken):
            before = one.revision()
            hot = ",".join("1" if i == cell else "0" for i in range(4))
            one.js(f"backstep.edit({{ command: backstep.scene().commands[0].id, gradient: [[{hot}]] }})")
            one.changed(before)
            one.until("document.getElementById('inspect-body').innerText.includes('Saved')")
        assert taken.page.evaluate(MOMENTS, 3) == view.page.evaluate(MOMENTS, 3)


def keys_panels_and_foreseen_changes(taken: View) -> None:
    page = taken.page
    page.keyboard.press("End")
    taken.until("document.getElementById('inspect-body').innerText.includes('grad can be implicitly created')")
    base = taken.revision()
    page.locator("#inspect-body .error-fix button, #inspect-body button.primary").first.click()
    taken.changed(base)
    assert not taken.js("backstep.scene().error")
    page.keyboard.press("Control+z")
    taken.until(f"backstep.scene().revision.id === {base!r}")
    page.keyboard.press("m")
    taken.until("backstep.scene().program.id === 'not_scalar_fixed'")
    taken.tab("Commands")
    page.locator("button.command").first.click()
    page.locator("#command-presets [data-preset=random]").click()
    taken.until("document.getElementById('notice').innerText.includes('pip install backstep')")
    page.get_by_role("button", name="Go back").click()
    taken.tab("Events")
    page.locator("#events-filter").fill("accumulate")
    page.locator(".event-row:not([hidden])").first.click()
    taken.until("backstep.stop().step.kind === 'accumulate'")
    page.locator("#act-theme").click()
    assert taken.js("document.documentElement.dataset.theme") == "dark"
    page.locator("#act-export").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="Picture (SVG)").click()
    assert saved.value.suggested_filename.endswith(".svg")


SAID = "[backstep.scene().program.id, document.getElementById('lecture').innerHTML]"


def test_lesson_with_an_error_is_the_live_page_also_as_a_lecture_and_plays_without_a_server(
    view: View, alone: Any
) -> None:
    view.open("?program=not_scalar")
    taken = alone("not_scalar")
    both = (view, taken)
    assert taken.page.evaluate(MOMENTS, 1) == view.page.evaluate(MOMENTS, 1)

    for one in both:
        one.seek(0)
        one.page.keyboard.press("p")
        one.until("document.documentElement.dataset.present === 'hall'")
    told: list[str] = []
    while True:  # until the end of the mistake, which is followed by its corrected version
        live, held = (one.js(SAID) for one in both)
        if (len(told) > 1 and told[-1] == told[-2]) or {live[0], held[0]} != {"not_scalar"}:
            break
        assert live == held
        told.append(live[1])
        for one in both:
            one.page.keyboard.press("PageDown")
            one.until("!backstep.playing()")
    assert any("data-right" in caption for caption in told)
    for one in both:
        one.until("backstep.scene().program.id === 'not_scalar_fixed'")
    taken.page.keyboard.press("m")
    taken.until("backstep.scene().program.id === 'not_scalar'")
    taken.page.keyboard.press("Escape")
    taken.until("!document.documentElement.dataset.present")
    keys_panels_and_foreseen_changes(taken)


def test_lesson_of_a_run_is_the_live_page_in_each_iteration_and_with_its_edits(
    start: Callable[..., App], view_of: Callable[[App], View], alone: Any, tmp_path: Path
) -> None:
    (tmp_path / "loop.py").write_text(RUN)
    app = start("run", "loop.py", cwd=tmp_path)
    assert app.address.endswith("/?program=my-loop&view=run"), "of many iterations one sees the whole first"
    view = view_of(app)
    view.open("?program=my-loop")
    view.page.get_by_role("button", name="Graph", exact=True).click()
    taken = alone("my-loop", view.page.evaluate(TAKEN, {"program": "my-loop"}))
    both = (view, taken)
    for _ in range(2):
        for one in both:
            recorded = one.revision()
            one.page.keyboard.press(".")
            one.changed(recorded)
        assert taken.page.evaluate(MOMENTS, 20) == view.page.evaluate(MOMENTS, 20)
        for one in both:
            recorded = one.revision()
            one.js("backstep.edit({ command: backstep.scene().commands.at(-1).id, gradient: 0 })")
            one.changed(recorded)
        assert taken.page.evaluate(MOMENTS, 30) == view.page.evaluate(MOMENTS, 30)
        for one in both:
            edited = one.revision()
            one.page.keyboard.press("Control+z")
            one.changed(edited)


def test_export_counts_the_replays_and_the_frame_for_the_file_is_copied(view: View) -> None:
    page, held = view.page, list[Any]()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.route("**/export/html", lambda route: held.append(route))  # noqa: PLW0108  # a bound method is refused
    page.route("**/export/html/progress", lambda route: route.fulfill(json={"replayed": 12}))
    view.open("?program=scaling")
    page.locator("#act-export").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="Lesson: one file").click()
        page.get_by_text("12 so far").wait_for()
        held[0].continue_()
    page.get_by_text("The lesson is saved").wait_for()
    page.locator("#act-export").click()
    page.get_by_role("menuitem", name="Copy an <iframe>").click()
    page.get_by_text("is copied").wait_for()
    line = view.js("navigator.clipboard.readText()")
    assert line == frame(saved.value.suggested_filename, view.js("backstep.scene().program.title"))


def test_player_in_the_frame_of_a_notebook_plays(context: Any, tmp_path: Path) -> None:
    (tmp_path / "notebook.html").write_text(f"<p>Out[1]:</p>{Cell(lesson_of('scaling'))._repr_html_()}")
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda m: wrong.append(m.text))
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.goto((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#stage").click(position={"x": 40, "y": 90})
    page.keyboard.press("End")
    frame.get_by_text("Step 9 of 9").first.wait_for()
    assert wrong == []


def test_lesson_with_groups_is_the_live_page_and_its_proposed_change_and_run_view_work_without_a_server(
    view: View, alone: Any
) -> None:
    view.open("?program=rnn_twenty")
    taken = alone("rnn_twenty")
    assert taken.page.evaluate(MOMENTS, 10) == view.page.evaluate(MOMENTS, 10)

    base = taken.revision()
    taken.end()
    proposal = taken.page.locator(".chapter:not(.behind) .tries button")
    proposal.click()
    taken.changed(base)
    taken.until("document.querySelector('.chapter:not(.behind) .tries button').innerText.startsWith('Undo')")
    proposal.click()
    taken.until(f"backstep.scene().revision.id === {base!r}")
    taken.page.get_by_role("button", name="Run").click()
    taken.until("document.getElementById('run-head').innerText.includes('Gradient flow')")
    bar = taken.page.locator("#run-figure-place canvas")
    bar.hover(position={"x": 60, "y": 40})
    taken.until("document.querySelector('#run-figure-place canvas').title.includes('gradient norm')")
    bar.click(position={"x": 60, "y": 40})
    taken.until("document.documentElement.dataset.view !== 'run' && backstep.selection() !== null")
