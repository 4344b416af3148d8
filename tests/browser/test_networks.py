"""Networks: a quantity through time that one clicks into, and groups that fold without moving what one looks at."""

from __future__ import annotations

import pytest

from tests.browser.conftest import View

COME = "[...document.querySelectorAll('.series .bar')].filter(bar => !bar.classList.contains('future')).length"


def at_state(view: View, nth: int) -> str:
    found: str = view.js(f"backstep.scene().nodes.filter(n => n.label === 'h' && n.kind === 'tensor')[{nth}].id")
    return found


def test_norms_of_states_are_bars_that_come_as_the_gradient_does(view: View) -> None:
    view.open("?program=rnn_twenty&step=0")
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
    view.open("?program=rnn_twenty&step=0")
    view.js(f"backstep.select({at_state(view, 20)!r})")
    view.page.get_by_role("button", name="round 4: 6.39e-7").click()
    fourth = at_state(view, 4)
    view.until(f"backstep.selection() === {fourth!r}")
    step = view.js("backstep.scene().steps[backstep.t() - 1]")
    assert (step["kind"], step["name"]) == ("vjp", "TanhBackward0")
    view.until("document.querySelector('.series .bar[aria-current]').title.startsWith('round 4')")


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
    view.open("?program=rnn_twenty")
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
