"""A long run in the browser: one iteration at a time, and the way from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import App, View, dropped
from tests.viz.helpers.shared import shared
from viz.record.runner import SILENT, Script, run_script

TRAIN = """import engine as torch
from engine import nn

torch.manual_seed(0)
model = nn.Sequential(*[nn.Linear(4, 4), nn.Tanh()] * 2, nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 4)
for step in range(9):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
"""


@pytest.fixture(scope="module")
def program(own: App, tmp_path_factory: pytest.TempPathFactory) -> str:
    def record() -> bytes:
        script = tmp_path_factory.mktemp("run") / "run.py"
        script.write_text(TRAIN, "utf-8")
        return run_script(Script(script), streams=SILENT).trace_path.read_bytes()

    return dropped(own, "run.backstep", shared("trace", "of nine iterations", record))


@pytest.fixture
def run(program: str, own: App, opens: Callable[[App], View]) -> View:
    view = opens(own)
    view.open(f"?program={program}&section=0")
    return view


def at(view: View, number: int) -> None:
    """Wait until an iteration is shown."""
    view.until(f"backstep.scene() && backstep.scene().section && backstep.scene().section.at === {number}")


def test_keys_buttons_and_numbers_lead_from_iteration_to_iteration(run: View) -> None:
    head = run.page.locator("#sections")
    assert head.locator("b").inner_text() == "step = 0" and "of 9" in head.inner_text()
    run.page.keyboard.press(".")
    at(run, 1)
    assert head.locator("b").inner_text() == "step = 1"
    head.get_by_role("button", name="Next: step = 2").click()
    at(run, 2)
    head.locator("input").fill("9")
    head.locator("input").press("Enter")
    at(run, 8)
    assert head.get_by_role("button", name="No next section").is_disabled()
    head.locator("input").fill("40")
    head.locator("input").press("Enter")
    assert head.locator("input").input_value() == "9", "there is no fortieth"
    run.page.locator("#stage").focus()
    run.page.keyboard.press(",")
    at(run, 7)


def test_a_step_past_the_end_leads_to_the_next_iteration_which_has_the_same_picture(run: View) -> None:
    run.end()
    run.page.locator("#stage").focus()
    run.page.keyboard.press("ArrowRight")
    at(run, 1)
    run.until("backstep.t() === 0")
    run.page.keyboard.press("ArrowLeft")
    at(run, 0)
    run.until("backstep.t() === backstep.scene().steps.length")

    places = "backstep.scene().nodes.map((node) => [node.id, node.x, node.y])"
    loss = "backstep.scene().values[backstep.scene().nodes.find((n) => n.role === 'root').rows[0].track.at(-1)[1]].data"
    run.page.keyboard.press(".")
    at(run, 1)
    before, value = run.js(places), run.js(loss)
    run.page.keyboard.press(".")
    at(run, 2)
    assert run.js(places) == before
    assert run.js(loss) != value


def test_link_leads_to_its_iteration_and_one_to_none_says_so(
    program: str, own: App, opens: Callable[[App], View]
) -> None:
    view = opens(own)
    view.open(f"?program={program}&section=5&step=3")
    at(view, 5)
    assert view.state()["t"] == 3 and "section=5" in view.page.url
    view.open(f"?program={program}&section=99")
    notice = view.page.locator("#notice")
    notice.wait_for()
    assert "no such iteration" in notice.inner_text() and "has 9" in notice.inner_text()


def test_the_numbers_of_a_run_are_there_before_its_graph_and_a_cell_leads_on(
    program: str, own: App, opens: Callable[[App], View]
) -> None:
    view = opens(own)
    held: list[Callable[[], None]] = []
    view.page.route("**/scene", lambda route: held.append(route.continue_))
    view.page.goto(f"{own.origin}/?program={program}&view=run")
    view.until("document.querySelector('#run-figure .heatmaplayer image')")
    assert "9 updates" in view.page.locator("#run-head").inner_text() and held and not view.js("backstep.scene()")
    cell = view.page.locator("#run-figure .nsewdrag").first.bounding_box()
    assert cell is not None
    view.page.mouse.click(cell["x"] + cell["width"] * 6.5 / 9, cell["y"] + cell["height"] / 2)
    for go_on in held:
        go_on()
    view.page.unroute("**/scene")
    at(view, 6)
    view.until("document.documentElement.dataset.view === 'graph'")


def test_the_row_of_the_run_leads_to_an_iteration_and_prints_come_with_the_time(run: View) -> None:
    row, page = run.page.locator("#run-row"), run.page
    run.until("document.getElementById('run-row').ariaValueText.includes('gradient norm')")  # its numbers have come
    box = row.bounding_box()
    assert box is not None and "step = 0: loss " in str(row.get_attribute("aria-valuetext"))

    def bead(number: int) -> tuple[float, float]:
        return box["x"] + 76 + (number + 0.5) / 9 * (box["width"] - 88), box["y"] + 6

    page.mouse.click(*bead(6))
    at(run, 6)
    page.mouse.move(*bead(6))
    page.mouse.down()
    page.mouse.move(*bead(3), steps=3)
    assert "step = 3: loss " in row.inner_text() and run.js("backstep.scene().section.at") == 6
    page.mouse.move(*bead(2), steps=2)
    page.mouse.up()
    at(run, 2)
    row.focus()
    page.keyboard.press("ArrowRight")
    at(run, 3)
    page.keyboard.press("End")
    at(run, 8)

    printed = page.locator("#code .printed")
    run.seek(0)
    assert printed.count() == 1 and printed.inner_text() == ""
    height = printed.bounding_box()
    run.end()
    assert printed.inner_text().startswith("loss 0.") and printed.bounding_box() == height, "no line moves"
    lane = page.locator(".bs-lane").bounding_box()
    assert lane is not None
    page.mouse.move(lane["x"] + lane["width"] - 12, lane["y"] + lane["height"] - 8)
    assert page.locator(".bs-lane .bs-lane-tip").inner_text().startswith("Printed: loss 0.")


def test_numbers_stand_beside_those_of_the_iteration_before_and_neighbours_are_here(run: View, program: str) -> None:
    label = "backstep.scene().previous?.label"
    page = run.page
    asked: list[int] = []
    come = "performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/scene')).length"
    run.until(f"{come} === 2")  # the first iteration, and the one after it

    def fetched_ahead(request: Any) -> None:
        if request.url.endswith("/scene") and "request" not in request.post_data_json:
            asked.append(request.post_data_json["section"])

    page.on("request", fetched_ahead)
    run.open(f"?program={program}&section=4")
    at(run, 4)
    page.keyboard.press("g")
    run.until(f"{label} === 'step = 3'")
    loss = "backstep.scene().nodes.find((n) => n.role === 'root')"
    old = f"backstep.scene().previous.values[{loss}.id + '|value'].at(-1)[1]"
    before = run.js(f"backstep.scene().values[{old}].data")
    run.until(f"{come} === 3")
    assert sorted(asked) == [3, 5], "the one before, and the next one"
    calls = run.js("backstep.serverCalls()")
    page.keyboard.press(".")
    assert run.js(label) == "step = 4" and run.js("backstep.serverCalls()") == calls, "both were here"
    page.keyboard.press("g")
    assert run.js("backstep.scene().previous === null && backstep.scene().section.at === 5")
    page.keyboard.press("g")
    assert run.js(label) == "step = 4"
    page.keyboard.press(",")
    run.until(f"{label} === 'step = 3'")
    assert run.js(f"backstep.scene().values[{old}].data") == before and 4 not in asked
    page.locator("#run-row").focus()
    page.keyboard.press("Home")
    at(run, 0)
    button = page.get_by_role("button", name="Numbers of the previous iteration")
    assert button.get_attribute("aria-pressed") == "true" and "first section" in str(button.get_attribute("title"))
