"""The panels' sizes: dragged, moved by keys, folded away, kept; and nothing shifts while one reads."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import App, View

WIDTH = "document.getElementById('{}').offsetWidth"
SHIFTS = """
    window.shifts = [];
    new PerformanceObserver(list => {
      for (const one of list.getEntries()) {
        if (!one.hadRecentInput) shifts.push([one.value, ...one.sources.map(s => s.node?.id || s.node?.nodeName)]);
      }
    }).observe({ type: 'layout-shift', buffered: true });
"""


def drag(view: View, name: str, dx: int, dy: int = 0) -> None:
    box = view.page.locator(f"#split-{name}").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.page.mouse.move(x + dx, y + dy, steps=4)
    view.page.mouse.up()


@pytest.mark.parametrize(("name", "sign"), [("left", 1), ("right", -1)])
def test_side_panel_is_dragged_kept_and_reset(view: View, name: str, sign: int) -> None:
    view.open("?program=weights")
    made = view.js(WIDTH.format(name))
    drag(view, name, 60 * sign)
    assert view.js(WIDTH.format(name)) == made + 60
    assert view.js(f"document.getElementById('split-{name}').getAttribute('aria-valuenow')") == str(made + 60)
    view.open("?program=weights")
    assert view.js(WIDTH.format(name)) == made + 60
    view.page.locator(f"#split-{name}").dblclick()
    view.until(f"{WIDTH.format(name)} === {made}")
    view.open("?program=weights")
    assert view.js(WIDTH.format(name)) == made


def test_separators_are_moved_by_keys_within_their_limits(view: View) -> None:
    view.open("?program=weights&step=2")
    split = view.page.locator("#split-left")
    assert split.get_attribute("role") == "separator" and split.get_attribute("aria-orientation") == "vertical"
    split.focus()
    made = view.js(WIDTH.format("left"))
    view.page.keyboard.press("ArrowRight")
    assert view.js(WIDTH.format("left")) == made + 16
    view.page.keyboard.press("ArrowLeft")
    view.page.keyboard.press("ArrowLeft")
    assert view.js(WIDTH.format("left")) == made - 16
    view.page.keyboard.press("Home")
    view.until(f"{WIDTH.format('left')} === 240")
    view.until("document.getElementById('split-left').getAttribute('aria-valuenow') === '240'")
    assert view.js("backstep.t()") == 2, "the arrows of a separator are not those of time"
    view.page.keyboard.press("Delete")
    assert view.js(WIDTH.format("left")) == made


def test_story_and_program_share_their_panel(view: View) -> None:
    view.open("?program=weights")
    before = view.js("document.getElementById('story').offsetHeight")
    drag(view, "story", 0, 80)
    assert abs(view.js("document.getElementById('story').offsetHeight") - before - 80) <= 4
    view.page.locator("#split-story").dblclick()
    view.until(f"document.getElementById('story').offsetHeight === {before}")


def test_panels_fold_away_and_stay_so(view: View) -> None:
    view.open("?program=weights&step=0")
    wide = view.js(WIDTH.format("stage"))
    view.page.keyboard.press("[")
    view.page.keyboard.press("]")
    view.until(f"{WIDTH.format('stage')} > {wide} + 600")
    view.open("?program=weights&step=0")
    assert view.js("[...document.querySelectorAll('#left, #right')].every(one => one.offsetWidth === 0)")
    view.page.get_by_label("Show or hide the left panel ([)").click()
    view.page.get_by_label("Show or hide the right panel (])").click()
    view.until(f"{WIDTH.format('stage')} === {wide}")
    drag(view, "left", -320)  # far under its least width: folded away
    view.until(f"{WIDTH.format('left')} === 0")


def test_right_panel_where_it_is_narrow_moves_nothing_and_fit_counts_with_it(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 800})
    view.open("?program=weights&step=3")
    wide = view.js(WIDTH.format("stage"))
    assert view.js(WIDTH.format("right")) == 0
    place = f"Math.round(backstep.screenPos({view.node('x')!r}).x)"
    before = view.js(place)
    view.click("x")
    view.until(f"{WIDTH.format('right')} > 300")
    view.until(f"{WIDTH.format('stage')} === {wide} - {WIDTH.format('right')}")
    assert view.js(place) == before, "what one clicked stays where it is"
    view.js("backstep.fit()")
    ends = "backstep.scene().nodes.map(n => backstep.screenPos(n.id)).every(p => p.x + p.width / 2 <= right)"
    view.until(f"(right => {ends})(document.getElementById('right').getBoundingClientRect().left)")
    drag(view, "right", -50)
    view.until(f"{WIDTH.format('right')} > 370")
    view.page.keyboard.press("Escape")
    view.until(f"{WIDTH.format('right')} === 0")
    view.until(f"{WIDTH.format('stage')} === {wide} && {place} === {before}")  # and all of it is seen again


@pytest.mark.parametrize("width", [1280, 1440, 1920])
def test_nothing_shifts_while_a_program_opens_or_steps(browser: Any, app: App, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    view = View(context.new_page(), app)
    view.page.add_init_script(SHIFTS)
    view.open("?program=second_backward&step=0")
    for step in range(view.js("backstep.scene().steps.length") + 1):
        view.seek(step)
        view.painted()
    # What the inspector tells may move within it; the panels, the story, the program, the graph and the timeline stay.
    moved = view.js("shifts.filter(([value]) => value > 0.02)")
    boxes = "id => document.getElementById(id).getBoundingClientRect().toJSON()"
    where = f"['stage', 'timeline', 'left', 'right', 'middle', 'story', 'code'].map({boxes})"
    before = view.js(where)
    view.seek(0)
    after = view.js(where)
    context.close()
    assert moved == [] and after == before


def test_three_inputs_are_whole_at_1440(view: View) -> None:
    for program in ("three_inputs", "scalar_root", "matrix_product"):
        view.open(f"?program={program}&step=0")
        assert view.js("backstep.scene().nodes.every(node => backstep.screenPos(node.id).visible)"), program
        assert view.js("document.querySelector('.bs-minimap').hidden"), program


def test_no_minimap_is_seen_before_a_whole_graph(new_view: View) -> None:
    look = "seen.push(!(document.querySelector('.bs-minimap')?.hidden ?? true))"
    what = "{ subtree: true, childList: true, attributes: true }"
    new_view.page.add_init_script(f"window.seen = []; new MutationObserver(() => {look}).observe(document, {what});")
    new_view.open("?program=three_inputs&step=0")
    assert new_view.js("seen.length > 0 && !seen.includes(true)")


@pytest.mark.parametrize("width", [1280, 1440])
def test_no_panel_is_wider_than_its_room(view: View, width: int) -> None:
    view.page.set_viewport_size({"width": width, "height": 800})
    wide = "['story', 'code', 'inspect', 'top', 'timeline'].filter(id => {"
    wide += " const e = document.getElementById(id); return e.scrollWidth > e.clientWidth + 1; })"
    for program in ("mini_batches", "second_derivative", "jacobian", "saved_in_place", "weights"):
        view.open(f"?program={program}&step=0")
        for step in range(0, view.js("backstep.scene().steps.length") + 1, 3):
            view.seek(step)
            assert view.js(wide) == [], f"{program}, step {step}"


def test_what_is_selected_comes_out_from_under_the_panel_and_its_strip_covers_no_card(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 800})
    view.open("?program=added_up&step=6")
    for y in view.js("backstep.scene().nodes.filter(n => n.label === 'y').map(n => n.id)"):
        view.js(f"backstep.select({y!r})")
        view.until(
            f"(() => {{ const at = backstep.screenPos({y!r}); const right = document.querySelector('#right'); "
            "return right.offsetWidth > 0 && at.x + at.width / 2 < right.getBoundingClientRect().left; })()"
        )
        view.until(
            "(() => { const strip = document.querySelector('.bs-presets').getBoundingClientRect(); "
            "return backstep.scene().nodes.every(n => { const at = backstep.screenPos(n.id); return "
            "at.x + at.width / 2 <= strip.left || at.x - at.width / 2 >= strip.right || "
            "at.y + at.height / 2 <= strip.top || at.y - at.height / 2 >= strip.bottom; }); })()"
        )


@pytest.mark.parametrize(("program", "label"), [("broadcast_by_hand_fixed", "×"), ("attention_block", "÷ 1.414")])
def test_a_row_of_a_tensor_is_one_line_of_the_inspector(view: View, program: str, label: str) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 720})
    view.open(f"?program={program}&step=0")
    view.end()
    view.js(f"backstep.select({view.node(label)!r})")
    rows = "[...document.querySelectorAll('#inspect-body .sum-cells:not(.terms, .words)')]"
    view.until(f"{rows}.length > 2")
    lines = view.js(f"{rows}.map(row => new Set([...row.children].map(one => one.getBoundingClientRect().top)).size)")
    assert set(lines) == {1}
    assert view.js("(s => s.scrollWidth <= s.clientWidth)(document.querySelector('#inspect-body .sum'))"), "nor cut off"
