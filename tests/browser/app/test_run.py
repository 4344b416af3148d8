"""The run view: a run opens as a whole, and each of its cells leads to the graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import View, recording

TRAINING = """import engine as torch
from engine import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for step in range(12):
    opt.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
"""


@pytest.fixture
def opened(shown: Callable[[Path, str], View], tmp_path: Path) -> Callable[[str], View]:
    """The page of a run, as `backstep run` opens it."""
    return lambda source: shown(recording(tmp_path / "train.py", source), "&view=run")


def test_run_opens_as_a_whole_and_a_cell_leads_to_its_parameter(opened: Callable[[str], View]) -> None:
    view = opened(TRAINING)
    view.until("document.documentElement.dataset.view === 'run'")
    view.until("document.querySelector('#run-figure .heatmaplayer image')")
    assert "12 updates" in view.page.inner_text("#run-head")
    view.page.get_by_text(
        "No known problem shows in these numbers, nor in the graphs of the first iterations."
    ).wait_for()
    assert "12 iterations" in view.page.text_content("#run-words")
    labels = view.page.locator("#run-labels > :not(.loss)")
    assert labels.all_text_contents() == ["− model.2", "weight", "bias", "− model.0", "weight", "bias"]
    view.page.click("#run-labels button >> nth=0")
    assert labels.all_text_contents() == ["+ model.2", "− model.0", "weight", "bias"]

    view.page.focus("#run-grid")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        view.page.keyboard.press(key)
    assert view.page.inner_text("#run-cell").startswith("model.0.weight, step = 2 gradient norm")
    view.page.focus("#sections input")  # no cell is described where the keys are elsewhere
    assert view.page.inner_text("#run-cell") == ""
    view.page.focus("#run-grid")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        view.page.keyboard.press(key)
    view.page.keyboard.press("Enter")
    view.until("document.documentElement.dataset.view === 'graph' && backstep.selection()")
    assert view.js("backstep.scene().section.label") == "step = 2"
    assert view.js("backstep.scene().nodes.find(node => node.id === backstep.selection()).label") == "model.0.weight"
    bottoms = view.js("['#story h1', '#story'].map(one => document.querySelector(one).getBoundingClientRect().bottom)")
    assert bottoms[0] <= bottoms[1] - 16  # the last 16 pixels fade out

    view.page.keyboard.press("r")
    view.until("document.documentElement.dataset.view === 'run'")
    view.page.focus("#run-grid")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        view.page.keyboard.press(key)
    chosen = "backstep.scene().nodes.find(node => node.id === backstep.selection()).label"
    view.until(f"document.documentElement.dataset.view === 'graph' && {chosen} === 'model.0.bias'")
    step = view.js("backstep.scene().steps[backstep.t() - 1]")
    assert (step["kind"], step["at"]) == ("accumulate", view.js("backstep.selection()"))

    view.page.keyboard.press("r")
    view.until("document.documentElement.dataset.view === 'run'")
    box = view.page.locator("#run-figure .nsewdrag").first.bounding_box()
    view.page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 5)
    view.until("document.querySelector('#run-figure .hovertext')")
    view.page.mouse.click(box["x"] + box["width"] - 5, box["y"] + 5)
    view.until("document.documentElement.dataset.view === 'graph' && backstep.scene().section.label === 'step = 11'")


MASKED = """import engine as torch
from engine import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)

    def forward(self, x, mask):
        s = (self.q(x) @ x.transpose(-2, -1)).masked_fill(~mask[:, None, :], float("-inf"))
        return torch.softmax(s, -1) @ x


torch.manual_seed(0)
model = Attention()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(12):
    lengths = torch.tensor([2, 0 if step == 5 else 3])
    opt.zero_grad()
    model(torch.randn(2, 3, 4), torch.arange(3)[None] < lengths[:, None]).sum().backward()
    opt.step()
"""


def test_rows_fill_a_high_window_and_a_narrow_bar_keeps_its_last_button(opened: Callable[[str], View]) -> None:
    view = opened(TRAINING)
    last = "document.querySelector('#run-labels > :last-child')"
    view.until(last)
    for width, height, least in ((1440, 900, 36), (1920, 1080, 50), (1440, 900, 36)):
        view.page.set_viewport_size({"width": width, "height": height})
        view.until(f"{last}.offsetHeight >= {least} && {last}.offsetHeight <= {least + 6}")
        view.until(f"document.querySelector('#run-figure .main-svg').clientHeight > {last}.offsetTop + {least}")
    names = "document.getElementById('run-labels')"  # among them `attention.output.LayerNorm.weight`
    view.until(f"{names}.offsetWidth === 288")
    end = "document.getElementById('act-panel').getBoundingClientRect().right"
    view.page.set_viewport_size({"width": 900, "height": 800})
    view.until(f"{end} < innerWidth && document.querySelector('#sections input').offsetWidth")
    view.page.set_viewport_size({"width": 840, "height": 800})
    view.until(f"{end} < innerWidth")


def test_a_lecture_that_begins_in_the_run_view_shows_the_graph(
    shown: Callable[[Path, str], View], tmp_path: Path
) -> None:
    view = shown(recording(tmp_path / "train.py", TRAINING), "&view=run&present=1")
    view.until("document.getElementById('lecture').innerText.trim()")
    view.until("document.getElementById('stage').checkVisibility({ visibilityProperty: true })")
    view.page.keyboard.press("Escape")
    view.until("document.getElementById('run').checkVisibility({ visibilityProperty: true })")
    assert not view.js("document.getElementById('stage').checkVisibility({ visibilityProperty: true })")


def test_first_nan_of_a_run_leads_to_the_op_in_its_module(opened: Callable[[str], View]) -> None:
    view = opened(MASKED)
    chosen = "backstep.scene().nodes.find(node => node.id === backstep.selection())"
    for finding in ("The loss is nan", "first nan: softmax, in step = 5"):
        view.page.get_by_role("button", name=f"Go there: {finding}").click()
        view.until("document.documentElement.dataset.view === 'graph' && backstep.selection()")
        view.until(f"{chosen}?.sub === 'SoftmaxBackward0'")
        assert view.js("backstep.scene().section.label") == "step = 5"
        assert "All 3 numbers of s[1, 0, :] are −inf" in view.page.inner_text("#left")
        view.page.keyboard.press("Escape")
        view.page.keyboard.press("r")
        view.until("document.documentElement.dataset.view === 'run'")
    assert view.page.locator("#run-findings > p").count() == 0
    labels = view.page.locator("#run-findings summary").all_text_contents()
    assert labels == ["first nan: softmax, in step = 5", "The loss is nan"], "the cause before its consequence"
    view.page.get_by_text("The loss is nan in step = 5. Before that, it goes from").wait_for()
    heading = view.page.locator("#run-findings summary").first
    before = heading.bounding_box()
    heading.click()
    assert heading.bounding_box() == before, "opened and closed, it stays under the pointer"


BROADCAST = TRAINING.replace("model(x) - y", "model(x) - y[:, 0]")
"""Its graphs have a finding."""


ZEROS = TRAINING.replace("opt = ", "torch.nn.init.constant_(model[0].weight, 1e3)\nopt = ")
"""A saturated tanh sends only zeros: the numbers show these, and the graphs the tanh."""


@pytest.mark.parametrize(
    ("source", "before", "after"),
    [
        (TRAINING, [], []),
        (BROADCAST, [], ["256 differences, not 16, in step = 0"]),
        (ZEROS, ["2 parameters receive only zeros"], ["2 parameters get only zeros, in step = 0"]),
    ],
    ids=["none", "one", "instead of another"],
)
def test_findings_that_come_late_leave_the_grid_where_it_is_while_it_is_used(
    opened: Callable[[str], View], source: str, before: list[str], after: list[str]
) -> None:
    view = opened(source)
    page = view.page
    address = page.url
    page.goto("about:blank")  # the page that was opened may still ask, and its answer is not awaited here
    waiting: list[Callable[[], None]] = []
    page.route("**/run/graphs?*", lambda route: waiting.append(route.continue_))
    with page.expect_request("**/run/graphs?*"):
        page.goto(address)
    view.until("document.querySelector('#run-figure .heatmaplayer image')")
    labels, grid = view.page.locator("#run-findings summary"), view.page.locator("#run-grid")
    view.page.get_by_text("Looking for mistakes").wait_for()
    assert labels.all_inner_texts() == before
    top = grid.bounding_box()["y"]
    grid.hover()
    waiting[0]()
    view.page.get_by_text("Looking for mistakes").wait_for(state="detached")
    assert labels.all_inner_texts() == after
    assert grid.bounding_box()["y"] == pytest.approx(top, abs=1)
    assert view.page.locator("#run-findings details[open]").count() == len(before)


def test_finding_that_comes_late_is_open_where_nobody_uses_the_grid(opened: Callable[[str], View]) -> None:
    view = opened(BROADCAST)
    view.page.locator("#run-findings details[open] p").wait_for()


def test_findings_are_listed_once_though_the_view_was_opened_twice_before_they_came(
    opened: Callable[[str], View],
) -> None:
    view = opened(BROADCAST)
    labels = view.page.locator("#run-findings summary")
    labels.first.wait_for()
    view.until("!document.querySelector('#run-findings > p')")
    once = labels.all_inner_texts()
    waiting: list[Callable[[], None]] = []
    view.page.route("**/run?*", lambda route: waiting.append(route.continue_))
    view.page.reload()
    view.until("backstep.scene()")
    for _ in range(2):
        view.page.click("#view-graph")
        view.page.click("#view-run")
    for go_on in waiting:
        go_on()
    view.page.unroute("**/run?*")
    labels.first.wait_for()
    view.until("!document.querySelector('#run-findings > p')")
    assert labels.all_inner_texts() == once


def test_a_loss_that_explodes_has_a_logarithmic_scale(opened: Callable[[str], View]) -> None:
    view = opened(TRAINING.replace("lr=0.05", "lr=1.5"))
    view.page.get_by_text("logarithmic scale").wait_for()
    view.until("[...document.querySelectorAll('#run-figure .y2tick')].length >= 3")
    labels = view.js("[...document.querySelectorAll('#run-figure .y2tick')].map(one => one.textContent)")
    assert all(label in ("1", "10", "100", "1000") or label.startswith("1e") for label in labels), labels
