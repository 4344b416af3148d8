"""Networks: a quantity through time that one clicks into, and groups that fold without moving what one looks at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import View, recording

COME = "[...document.querySelectorAll('.series .bar')].filter(bar => !bar.classList.contains('future')).length"


def at_state(view: View, nth: int) -> str:
    found: str = view.js(f"backstep.scene().nodes.filter(n => n.label === 'h' && n.kind === 'tensor')[{nth}].id")
    return found


def open_unfolded(view: View, query: str) -> None:
    """With every round open, so that its states are cards."""
    view.open(query)
    view.page.get_by_label("How the graph is laid out").click()
    view.page.locator('[data-act="unfold-all"]').click()
    view.until("backstep.scene().groups.every(g => !g.folded) && !document.documentElement.dataset.computing")


def test_norms_of_states_are_bars_that_come_as_the_gradient_does(view: View) -> None:
    open_unfolded(view, "?program=rnn_twenty&step=0")
    view.js(f"backstep.select({at_state(view, 20)!r})")
    view.until("document.querySelectorAll('.series .bar').length === 20")
    assert view.js(COME) == 0
    view.seek(64)
    view.until(f"{COME} === 1")
    view.end()
    view.until(f"{COME} === 20")
    heights = view.js("[...document.querySelectorAll('.series .bar i')].map(bar => bar.offsetHeight)")
    assert heights == sorted(heights)
    assert heights[-1] > 10 * heights[0]


def test_a_click_on_a_bar_leads_to_its_round(view: View) -> None:
    open_unfolded(view, "?program=rnn_twenty&step=0")
    view.js(f"backstep.select({at_state(view, 20)!r})")
    view.page.get_by_role("button", name="t = 3: 6.39e-7").click()
    fourth = at_state(view, 4)
    view.until(f"backstep.selection() === {fourth!r}")
    step = view.js("backstep.scene().steps[backstep.t() - 1]")
    assert (step["kind"], step["name"]) == ("vjp", "TanhBackward0")
    view.until("document.querySelector('.series .bar[aria-current]').title.startsWith('t = 3:')")


def test_a_chapter_about_the_inspector_opens_it_where_it_is_closed(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 800})
    view.open("?program=rnn_twenty&step=0")
    assert view.js("document.documentElement.dataset.right") != "open"
    for _ in range(3):
        view.page.keyboard.press("Space")
        view.until("!backstep.playing()")
    view.until("document.documentElement.dataset.right === 'open' && document.querySelectorAll('.series .bar').length")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_of_what_has_come_are_the_colour_of_the_gradient(view: View, theme: str) -> None:
    view.page.emulate_media(color_scheme=theme)
    open_unfolded(view, "?program=rnn_twenty")
    view.js(f"backstep.select({at_state(view, 20)!r})")
    view.end()
    view.until(f"{COME} === 20")
    colours = view.js(
        "[...document.querySelectorAll('.series .bar i')].map(bar => getComputedStyle(bar).backgroundColor)"
    )
    probe = (
        "(() => { const probe = document.body.appendChild(document.createElement('i')); probe.style.color ="
        "'var(--gradient)'; const found = getComputedStyle(probe).color; probe.remove(); return found; })()"
    )
    assert set(colours) == {view.js(probe)}


def test_network_steps_to_its_end_and_back_and_tells_its_story(view: View) -> None:
    view.open("?program=attention_block&step=0")
    steps = view.js("backstep.scene().steps.length")
    view.js("(() => { for (let k = 0; k <= backstep.scene().steps.length; k++) backstep.seek(k); })()")
    assert view.js("backstep.t()") == steps
    view.page.get_by_label("Speed").select_option("4")
    ends = view.js("backstep.scene().program.chapters.map(one => one.step)")
    view.seek(0)
    for number, end in enumerate(ends):
        if number:
            view.page.keyboard.press("Space")  # the text of the next chapter
        view.page.keyboard.press("Space")
        view.until(f"!backstep.playing() && backstep.t() === {end}")
        title = view.js(f"backstep.scene().program.chapters[{number}].title")
        view.until(f"document.querySelector('.story-title').textContent === {title!r}")
    view.seek(0)
    assert view.js("Object.values(backstep.state().nodes).some(node => node.state === 'done')") is False


LOOP = """
import engine as torch

w = torch.ones(2, requires_grad=True)
h = w
for epoch in range(9):  # ten would be a stack
    for _ in range(6):
        h = (h * 0.5).tanh() + 0.1
h.sum().backward()
"""
ROUNDS = """
import engine as torch
w = torch.ones(2, requires_grad=True)
h = w
for t in range(30):
    h = (h * 0.5).tanh() + 0.1
h.sum().backward()
"""


def screen(view: View) -> dict[str, tuple[int, int]]:
    found = view.js("Object.fromEntries(backstep.scene().nodes.map(n => [n.id, backstep.screenPos(n.id)]))")
    return {node: (round(at["x"]), round(at["y"])) for node, at in found.items()}


def test_a_group_opens_and_closes_under_the_pointer(shown: Callable[..., View], tmp_path: Path) -> None:
    view = shown(recording(tmp_path / "train.py", LOOP))
    cards = view.js("backstep.scene().nodes.filter(n => n.kind === 'group').map(n => n.label)")
    assert cards[1].startswith("epoch = ")
    group = view.node(cards[1])
    folded = f"backstep.scene().groups.find(g => g.id === {group!r}).folded"
    at = view.js(f"backstep.screenPos({group!r})")
    before = screen(view)
    zoom = at["height"] / view.js(f"backstep.scene().nodes.find(n => n.id === {group!r}).h")
    view.page.mouse.move(at["x"] - at["width"] / 2 + 18 * zoom, at["y"] - at["height"] / 2 + 18 * zoom)
    view.page.mouse.down()
    view.page.mouse.up()
    view.until(f"{folded} === false && !document.documentElement.dataset.computing")
    opened = screen(view)
    left = view.node(cards[0])
    assert opened[left][0] == before[left][0], "what stands before it stays"
    view.page.mouse.down()
    view.page.mouse.up()
    view.until(f"{folded} === true && !document.documentElement.dataset.computing")
    assert screen(view) == before


def test_a_folded_round_tells_of_its_gradient_and_of_its_fellows(shown: Callable[..., View], tmp_path: Path) -> None:
    view = shown(recording(tmp_path / "rounds.py", ROUNDS))
    view.end()
    third = view.node("t = 2")
    view.js(f"backstep.select({third!r})")
    view.until("document.querySelectorAll('.series .bar').length === 30")
    assert "The gradient that came back into it has norm" in view.page.inner_text("#inspect-body")
    assert view.page.locator(".series .bar[aria-current]").get_attribute("title").startswith("t = 2:")


def test_what_happens_now_stands_clear_of_the_legend(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 720})
    view.page.emulate_media(reduced_motion="reduce")
    view.open("?program=attention_block&step=0")
    right, top = view.js("(r => [r.right, r.top])(document.querySelector('.bs-legend').getBoundingClientRect())")
    for step in range(1, view.js("backstep.scene().steps.length") + 1):
        view.page.keyboard.press("ArrowRight")
        view.until(f"backstep.t() === {step}")
        left, low = view.js(
            "(p => [p.x - p.width / 2, p.y + p.height / 2])(backstep.screenPos(backstep.state().active))"
        )
        assert low <= top or left >= right, f"step {step}"


def test_a_stage_that_gets_lower_keeps_what_happens_now_in_view_unless_somebody_has_moved_the_graph(
    view: View,
) -> None:
    """Make the stage lower, as another lane of the timeline or a smaller window does."""
    place = """(({ y, height }, { top, bottom }) => [y - (top + bottom) / 2, y + height / 2 < bottom])(
      backstep.screenPos(backstep.state().active), document.querySelector('.bs-stage').getBoundingClientRect())"""
    view.page.emulate_media(reduced_motion="reduce")

    def resize(height: int) -> None:
        view.page.set_viewport_size({"width": 1280, "height": height})
        box = "document.querySelector('.bs-stage').getBoundingClientRect()"
        view.until(f"innerHeight === {height} && Math.abs(backstep.view().height - {box}.height) < 1")

    for step in (2, 6, 8):
        view.page.set_viewport_size({"width": 1280, "height": 900})
        view.open(f"?program=attention_block&step={step - 1}")
        view.page.keyboard.press("ArrowRight")
        view.until(f"backstep.t() === {step}")
        resize(560)
        view.until(f"{place}[1]")
    resize(900)
    view.page.keyboard.press("Shift+ArrowDown")
    down, _ = view.js(place)
    resize(560)
    view.until(f"Math.abs({place}[0] - {down}) < 1")
