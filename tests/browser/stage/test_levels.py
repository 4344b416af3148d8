"""Levels in time: a folded box is one step, Enter goes into it, Escape out; the timeline of a model zooms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import View, recording

MODEL = """
import engine as torch
from engine import nn

torch.manual_seed(0)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))

    def forward(self, x):
        return x + self.inner(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(4)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.square().mean()

net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
loss = net(torch.randn(4, 8))
loss.backward()
optimizer.step()
"""
TIME = "backstep.t()"
BOX = """(({ spans, nodes }) => spans.filter(s => s.kind === 'backward' && s.row
    && nodes.some(n => n.id === s.group))[1])(backstep.scene())"""  # what goes back through a folded box
SENT = """backstep.state().flows.filter(f => f.back)
    .map(f => backstep.scene().edges.find(e => e.id === f.edge).target)"""  # from where gradients are on their way
SEEN = """(({ left, right, top, bottom }, { x, y, width, height }) =>
    x - width / 2 >= left && x + width / 2 <= right && y - height / 2 >= top && y + height / 2 <= bottom)(
    document.querySelector('.bs-stage').getBoundingClientRect(), backstep.screenPos(backstep.state().active))"""
SIZE = "backstep.screenPos(backstep.state().active).width"
SAID = "document.querySelector('.bs-say').textContent"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording(tmp_path_factory.mktemp("model") / "model.py", MODEL)


@pytest.fixture
def model(shown: Callable[..., View], recorded: Path) -> View:
    return shown(recorded, "&step=0")


def span(view: View, label: str, kind: str) -> Any:
    return view.js(f"backstep.scene().spans.find(s => s.label === {label!r} && s.kind === {kind!r})")


def rests(view: View, t: int) -> None:
    view.until(f"backstep.t() === {t} && !document.documentElement.dataset.computing")


def test_a_box_is_one_step_with_one_sentence_and_one_goes_into_it_and_out(model: View) -> None:
    view, press = model, model.page.keyboard.press
    steps = view.js("backstep.scene().steps.length")
    before = view.js("backstep.serverCalls()")
    times = [0]
    while times[-1] < steps:
        press("ArrowRight")
        view.until(f"{TIME} > {times[-1]}")
        times.append(view.js(TIME))
    assert len(times) < steps / 5
    back, update = view.js(BOX), span(view, "AdamW.step", "write")
    assert {back["start"], back["end"], update["start"]} <= set(times) and times[-2:] == [
        update["start"],
        update["end"],
    ]
    assert "AdamW.step updates 24 parameters." in view.js(SAID)
    for t in reversed(times[:-1]):
        press("ArrowLeft")
        rests(view, t)
    view.seek(back["end"])
    assert back["say"] in view.js(SAID) and back["say"].endswith("its 6 parameters get theirs.")
    state = view.state()
    assert (state["from"], state["step"], state["active"]) == (back["start"], back["end"] - 1, back["group"])
    assert back["group"] in view.js(SENT), "its gradient travels along the edge that one sees"
    assert view.js("backstep.serverCalls()") == before

    size = view.js(SIZE)
    press("Enter")
    view.until(f"!backstep.scene().folded.includes({back['group']!r}) && !document.documentElement.dataset.computing")
    view.until(SEEN)
    assert back["start"] < view.js(TIME) < back["end"]
    press("Shift+ArrowRight")
    inside = view.js(TIME)
    assert f"Step {inside} of {steps}." in view.js(SAID)
    press("Escape")
    view.until(f"backstep.scene().folded.includes({back['group']!r}) && !document.documentElement.dataset.computing")
    rests(view, back["end"])
    view.until(f"{SEEN} && Math.abs({SIZE} - {size}) < 1")
    assert back["say"] in view.js(SAID)

    view.seek(update["end"])
    for _ in range(2):  # a button that was clicked has the focus, and does not keep Enter from the step
        view.page.get_by_role("button", name="Light or dark").click()
    view.page.mouse.move(5, 400)
    view.until("!document.querySelector('.mantine-Tooltip-tooltip')")  # it would take the Escape below
    press("Enter")
    rests(view, update["start"] + 8)
    assert "AdamW.step updates net.blocks.0.inner.0.weight." in view.js(SAID)
    press("Escape")
    rests(view, update["end"])


def test_the_chart_zooms_by_wheel_and_keys_and_a_click_on_a_module_leads_to_its_end(model: View) -> None:
    view, lane = model, model.page.locator(".bs-lane")
    chart = "document.querySelector('.bs-lane canvas').toDataURL()"
    whole = view.js(chart)
    box = lane.bounding_box()
    assert box is not None and box["height"] > 68
    forward, back = span(view, "inner", "forward"), span(view, "loss.backward()", "backward")
    lane.focus()
    view.page.keyboard.press("ArrowRight")
    view.until(f"{TIME} > 0")
    assert lane.get_attribute("aria-valuetext") == view.js(SAID)
    view.seek(0)
    view.page.keyboard.press("+")
    view.until(f"{chart} !== {whole!r}")
    view.page.keyboard.press("0")
    view.until(f"{chart} === {whole!r}")
    left, right = box["x"] + 76, box["x"] + box["width"] - 12
    total = 1.15 * back["end"]  # with the update, which takes up little
    middle = left + (right - left) * (forward["start"] + forward["end"]) / 2 / total
    view.page.mouse.click(middle, box["y"] + 72)
    rests(view, forward["end"])
    assert forward["say"] in view.js(SAID)
    clicked = view.js(chart)
    view.page.mouse.dblclick(middle, box["y"] + 72)
    view.until(f"{chart} !== {clicked!r}")
    rests(view, forward["end"])
    view.page.mouse.wheel(0, 3000)
    view.until(f"{chart} === {clicked!r}")


OPEN = "backstep.scene().groups.filter(g => !g.folded).map(g => g.label)"
CELL = """(({ id, w, h, cells }) => {
    const at = backstep.screenPos(id), zoom = at.width / w;
    return { x: at.x + zoom * ((5.5 - cells.length / 2) * (w - 22) / cells.length), y: at.y + zoom * (84 - h / 2) };
})(backstep.scene().nodes.find(n => n.cells))"""  # the middle of the sixth of twelve cells, which stand in one line


def test_a_stack_of_equal_blocks_opens_at_the_cell_that_is_clicked(shown: Callable[..., View], tmp_path: Path) -> None:
    view = shown(recording(tmp_path / "model.py", MODEL.replace("range(4)", "range(12)")), "&step=0")
    assert view.js(OPEN) == ["blocks × 12", "blocks.0: Block"], "one is open as an example"
    view.js("backstep.fold(backstep.scene().groups.find(g => g.stack).id)")
    view.until("backstep.scene().nodes.filter(n => n.cells).map(n => n.label).join() === 'blocks × 12'")
    cell = view.js(CELL)
    view.page.mouse.click(cell["x"], cell["y"])
    view.until(f"{OPEN}.join() === 'blocks × 12,blocks.5: Block'")
    assert view.js("backstep.scene().nodes.filter(n => n.cells).map(n => n.label)") == ["blocks.0–4", "blocks.6–11"]
    view.page.keyboard.press("j")
    view.until(f"{OPEN}.join() === 'blocks × 12,blocks.6: Block'")
    view.page.keyboard.press("J")
    view.until(f"{OPEN}.join() === 'blocks × 12,blocks.5: Block'")
    view.js("backstep.select(backstep.scene().nodes.find(n => n.cells).id)")
    view.page.get_by_role("button", name="blocks.2", exact=True).click()
    view.until(f"{OPEN}.join() === 'blocks × 12,blocks.2: Block'")
    view.js("backstep.fold(backstep.scene().groups.find(g => g.label === 'blocks.2: Block').id)")
    view.until(f"{OPEN}.length === 0")


def test_two_fingers_zoom_the_chart_and_a_drag_on_its_overview_chooses_and_moves_what_is_seen(model: View) -> None:
    view, mouse = model, model.page.mouse
    chart = "document.querySelector('.bs-lane canvas').toDataURL()"
    box = view.page.locator(".bs-lane").bounding_box()
    assert box is not None
    left, width, top = box["x"] + 76, box["width"] - 88, box["y"]

    def time_at(part: float) -> float:
        """The time under a point of the row of phases, which a press there leads to."""
        mouse.click(left + part * width, top + 28)
        return float(view.js(TIME))

    whole = view.js(chart)
    view.js("document.querySelector('.bs-lane').focus()")
    near, far = time_at(0.3), time_at(0.6)
    mouse.move(left + 0.3 * width, top + 5)
    mouse.down()
    mouse.move(left + 0.6 * width, top + 5, steps=4)
    mouse.up()
    assert abs(time_at(0.04) - near) <= 1 and abs(time_at(0.96) - far) <= 1, "the piece that was marked"
    mouse.move(left + 0.45 * width, top + 5)
    mouse.down()
    mouse.move(left + 0.35 * width, top + 5, steps=4)
    mouse.up()
    assert time_at(0.04) < near - 1 and time_at(0.96) < far - 1, "the piece that is seen was moved"
    view.page.keyboard.press("0")
    view.seek(0)
    view.until(f"{chart} === {whole!r}")

    touch = view.page.context.new_cdp_session(view.page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def fingers(kind: str, *parts: float) -> None:
        points = [{"x": left + part * width, "y": top + 28, "id": nr} for nr, part in enumerate(parts)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    view.seek(3)
    fingers("touchStart", 0.4)
    fingers("touchStart", 0.4, 0.6)
    rests(view, 3)  # the first finger did not move time
    for k in range(1, 5):
        fingers("touchMove", 0.4 - 0.05 * k, 0.6 + 0.05 * k)
    fingers("touchEnd")
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    seen = [time_at(part) for part in (0.2, 0.8)]
    view.page.keyboard.press("0")
    assert all(abs(time_at(part) - time) <= 1 for part, time in zip((0.4, 0.6), seen, strict=True)), (
        "it stays under them"
    )
    view.page.keyboard.press("r")
    view.until("document.querySelector('#run-head h2')?.textContent === 'Gradient flow'")
    view.page.locator("#run-grid").focus()
    view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("Enter")
    view.until("document.documentElement.dataset.view === 'graph' && backstep.selection() !== null")
