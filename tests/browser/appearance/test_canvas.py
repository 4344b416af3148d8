"""The canvas is sharp at every screen density, and no letter is smaller than 12 px."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import App, View

# Notes the size on screen of every text that is painted, in CSS px.
WATCH = """
  window.texts = new Map();
  const paint = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    const size = parseFloat(/([\\d.]+)px/.exec(this.font)[1]) * this.getTransform().a / devicePixelRatio;
    const second = /^[A-Z][A-Za-z]{5,}\u2026$/; // the name of an op's node, of which enough is said to know it
    const isCut = String(text).endsWith("\u2026") && !second.test(text) && this.canvas.closest("#stage");
    if (isCut) window.cut = [...window.cut ?? [], text];
    if (rest.length > 2) window.narrowed = [...window.narrowed ?? [], text];
    texts.set(String(text), Math.min(size, texts.get(String(text)) ?? Infinity));
    return paint.call(this, text, ...rest);
  };
"""
PROGRAMS = ("weights", "three_inputs", "rnn", "second_backward", "log_of_softmax", "jacobian", "ties")


@pytest.mark.parametrize(("width", "density"), [(1280, 1), (1440, 2)])
def test_painted_text_has_twelve_px_and_canvases_have_the_pixels_of_the_screen(
    browser: Any, app: App, width: int, density: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, device_scale_factor=density, reduced_motion="reduce"
    )
    view = View(context.new_page(), app)
    view.page.add_init_script(WATCH)
    small: dict[str, Any] = {}
    try:
        for program in PROGRAMS:
            view.open(f"?program={program}&step=0")
            for step in (0, 1, view.js("Math.ceil(backstep.scene().steps.length / 2) + 0.5")):
                view.seek(step)
                view.painted()
            painted = view.js("[...texts]")
            assert len(painted) > 10, program
            small[program] = [(text, size) for text, size in painted if size < 11.99]
            assert view.js("window.cut ?? []") == [], f"{program}: a label on the graph is cut"
            assert view.js("window.narrowed ?? []") == [], f"{program}: letters are narrowed"
            sharp = view.js(
                "[...document.querySelectorAll('#stage > canvas, #timeline canvas')]"
                ".filter(one => one.offsetWidth).map(one => [one, one.getBoundingClientRect()])"
                ".map(([one, box]) => [one.width / box.width, one.height / box.height])"
            )
            assert len(sharp) == 3 and all(abs(one - density) < 0.02 for pair in sharp for one in pair), program
    finally:
        context.close()
    assert {program: found for program, found in small.items() if found} == {}


def test_the_strip_over_a_root_goes_with_the_program_that_has_this_root(view: View) -> None:
    view.open("?program=anomaly")
    view.end()
    root = view.js("backstep.scene().nodes.find(n => n.rows.some(row => row.key === 'seed')).id")
    view.js(f"backstep.select({root!r})")
    view.until("document.querySelector('.bs-presets:not([hidden])')")
    view.page.keyboard.press("m")
    view.until("backstep.scene().program.id === 'anomaly_fixed' && document.querySelector('.bs-presets').hidden")
    assert not view.js(f"backstep.scene().nodes.some(n => n.id === {root!r})")


def test_one_hot_moves_nothing_under_the_pointer(view: View) -> None:
    view.open("?program=weights&step=4")
    view.js(f"backstep.select({view.node('z')!r})")
    view.until("document.querySelector('.bs-presets:not([hidden])')")
    boxes = "[...document.querySelectorAll('.bs-preset')].map(b => [b.getBoundingClientRect().x, b.offsetWidth])"
    before = view.js(boxes)
    view.page.locator("[data-preset-cell='one-hot']").click()
    view.until("document.querySelector('[data-preset-cell=one-hot]').ariaPressed === 'true'")
    assert view.js(boxes) == before
