"""Formulas in the inspector: set by MathJax, in as many lines as the panel needs, in letters that one can read."""

from __future__ import annotations

import pytest

from tests.browser.conftest import View

WIDE = {
    "pooling": "n0", "two_layers": "n6", "layer_norm": "n0", "ties_fixed": "n0", "attention_block": "n7",
    "accuracy_as_loss_fixed": "n0", "log_of_softmax_fixed": "n0", "broadcast_loss": "n3",
}  # fmt: skip
FITS = """
    [document.getElementById('inspect-formula-now')]
        .every((place) => place.querySelector('.tex svg') && place.scrollWidth <= place.clientWidth)
"""
EM = """
    [...document.querySelectorAll('#inspect-formula-now mjx-container > svg')]
        .map((svg) => 1000 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)
"""


@pytest.mark.parametrize(("program", "width"), [*((one, 1280) for one in WIDE), ("attention_block", 1920)])
def test_a_wide_formula_is_set_in_lines_instead_of_scrolled(view: View, program: str, width: int) -> None:
    view.page.set_viewport_size({"width": width, "height": {1280: 720, 1920: 1080}[width]})
    view.open(f"?program={program}&step=3&select={WIDE[program]}")
    if width < 1366:
        view.page.keyboard.press("]")
    view.until(FITS)
    assert min(view.js(EM)) >= 15


PROGRAMS = ("three_inputs", "layer_norm", "pooling", "embedding_rows", "attention_block", "second_derivative")
DARK = """
    () => {
        const drawn = [...document.querySelectorAll('#inspect-formula-now .tex [data-term]')];
        const buttons = [...document.querySelectorAll('#inspect-terms button[data-term]')];
        const listed = buttons.map((one) => one.dataset.term);
        const unlit = listed.filter((key) => {
            const term = drawn.find((one) => one.dataset.term === key);
            term?.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
            return !term || !backstep.scene().nodes.some((node) => node.id === backstep.state().lit);
        });
        document.querySelector('#inspect-formula-now').dispatchEvent(new PointerEvent('pointerleave'));
        return [listed.length, ...unlit];
    }
"""


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_tensor_in_a_formula_lights_a_node(view: View, program: str) -> None:
    view.open(f"?program={program}")
    ops = view.js("backstep.scene().nodes.filter((node) => node.kind === 'op' && node.formula.length).map((n) => n.id)")
    assert ops
    for op in ops:
        view.js(f"backstep.select('{op}')")
        view.until("document.querySelector('#inspect-formula-now .tex svg')")
        count, *unlit = view.js(f"({DARK})()")
        assert count and not unlit, (op, unlit)


UNTOLD = """
    [...document.querySelectorAll('#inspect-formula-now .tex [data-term]')]
        .filter((one) => !one.querySelector(':scope > title')?.textContent).map((one) => one.dataset.term)
"""


def test_pointing_at_a_function_or_a_tensor_of_a_formula_says_its_words(view: View) -> None:
    view.open("?program=loss_mixture&select=n6")
    view.until("document.querySelector('#inspect-formula-now .tex svg [data-term=sign]')")
    said = view.js("document.querySelector('#inspect-formula-now .tex [data-term=sign] > title').textContent")
    listed = view.js("document.querySelector('#inspect-terms [data-term=sign]').closest('dt').nextSibling.textContent")
    assert said == listed != ""
    assert view.js(UNTOLD) == []


def test_a_panel_that_is_made_wider_sets_its_formula_anew(view: View) -> None:
    view.page.set_viewport_size({"width": 1920, "height": 1080})
    view.open("?program=layer_norm&step=3&select=n0")
    height = "document.querySelector('#inspect-formula-now mjx-container > svg')?.getBoundingClientRect().height ?? 0"
    view.until(FITS)
    before = view.js(height)
    assert before > 0
    view.page.locator("#split-right").focus()
    for _ in range(20):
        view.page.keyboard.press("ArrowLeft")
    view.until(f"({height}) > 0 && ({height}) < {before}")
    view.until(FITS)
