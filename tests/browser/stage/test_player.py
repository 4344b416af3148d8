"""The founding cases in the browser: stepping, editing, errors in their place, no question to the server meanwhile."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import View

WEIGHTS = "?program=weights"


def grad_after(view: View, label: str, call: int) -> Any:
    """`.grad` of a tensor when the `call`-th backward call has ended."""
    end = view.js(f"backstep.scene().phases.filter(p => p.kind === 'backward')[{call}].end")
    view.seek(end)
    return view.row(label, "grad")


def test_first_program_opens_on_one_hot_and_shows_two_zero_zero_zero(view: View) -> None:
    view.open(WEIGHTS)
    assert grad_after(view, "x", 0) == [2, 0, 0, 0]
    assert [grad_after(view, "x", call) for call in (1, 2, 3)] == [[0, 2, 0, 0], [2, 2, 2, 2], [2, 2, 2, 2]]


def test_stepping_to_the_end_and_back_asks_the_server_nothing(view: View) -> None:
    view.open(WEIGHTS)
    view.click("x")
    view.until("document.querySelector('#inspect-body section')")
    before = view.js("backstep.serverCalls()")
    steps = view.js("backstep.scene().steps.length")
    view.seek(0)
    pictures = [view.state()]
    for step in range(1, steps + 1):
        view.page.keyboard.press("ArrowRight")
        view.until(f"backstep.t() === {step}")
        pictures.append(view.state())
    for step in range(steps - 1, -1, -1):
        view.page.keyboard.press("ArrowLeft")
        view.until(f"backstep.t() === {step}")
        assert view.state()["nodes"] == pictures[step]["nodes"]
    assert view.js("backstep.serverCalls()") == before


def test_selecting_a_seen_element_asks_the_server_nothing(view: View) -> None:
    view.open(WEIGHTS)
    for label in ("x", "z"):
        view.click(label)
        view.until("document.querySelector('#inspect-body section')")
    before = view.js("backstep.serverCalls()")
    view.click("x")
    view.until("document.querySelector('#inspect-head .chip')?.textContent === 'x'")
    assert view.js("backstep.serverCalls()") == before


def test_a_weight_typed_into_the_root_makes_a_new_revision_with_ghosts(view: View) -> None:
    view.open(WEIGHTS)
    view.seek(view.js("backstep.scene().phases.find(p => p.kind === 'backward').start"))
    first = view.revision()
    view.click("z", "seed", 1, times=2)
    view.page.keyboard.type("3")
    view.page.keyboard.press("Enter")
    view.changed(first)
    assert grad_after(view, "x", 0) == [2, 6, 0, 0]
    assert view.js("Object.keys(backstep.scene().previous.values).length") > 0
    assert "Revision 2" in view.page.locator("#revision").inner_text()


GHOSTS = """Object.fromEntries(Object.entries(backstep.scene().previous?.values ?? {}).map(([key, track]) =>
    [key, track.map(([k, id]) => [k, backstep.scene().values[id]?.data])]))"""


def typed(view: View, text: str) -> None:
    """Types into the second cell of the gradient for z, and waits for the revision."""
    before = view.revision()
    view.click("z", "seed", 1, times=2)
    view.page.keyboard.type(text)
    view.page.keyboard.press("Enter")
    view.changed(before)


def test_a_cell_opened_while_the_gradient_travels_stays_open(view: View) -> None:
    view.open(WEIGHTS)
    before = view.revision()
    view.js("backstep.play()")
    view.until("backstep.t() > 0")
    view.click("x", "value", 0, times=2)
    view.until("!backstep.playing()")
    assert view.js("backstep.t() < backstep.scene().steps.length")
    assert view.page.locator(".bs-cell-input").is_visible()
    view.page.keyboard.type("7")
    view.page.keyboard.press("Enter")
    view.changed(before)
    assert view.row("x", "value")[0] == 7


def test_old_values_are_those_of_the_revision_before_and_none_of_what_was_recorded(view: View) -> None:
    view.open(WEIGHTS)
    start = view.js("backstep.scene().phases.find(p => p.kind === 'backward').start")
    revisions, ghosts = [view.revision()], [view.js(GHOSTS)]
    for text in ("3", "5"):
        view.seek(start)
        typed(view, text)
        revisions.append(view.revision())
        ghosts.append(view.js(GHOSTS))
    assert ghosts[0] == {} and ghosts[1] and ghosts[2] and ghosts[1] != ghosts[2]
    for key, places in (("Control+z", (1, 0)), ("Control+Shift+z", (1, 2))):
        for place in places:
            before = view.revision()
            view.page.keyboard.press(key)
            view.changed(before)
            assert (view.revision(), view.js(GHOSTS)) == (revisions[place], ghosts[place])


def test_number_that_is_too_large_is_said_to_be_that(view: View) -> None:
    view.open(WEIGHTS)
    view.seek(view.js("backstep.scene().phases.find(p => p.kind === 'backward').start"))
    view.click("z", "seed", 1, times=2)
    said = view.page.locator(".bs-cell-message")
    for text in ("1e400", "1e39"):
        view.page.keyboard.press("Control+a")
        view.page.keyboard.type(text)
        view.page.keyboard.press("Enter")
        assert said.inner_text() == f"“{text}” is too large for float32: it would be inf. Type inf if that is meant."
    first = view.revision()
    view.page.keyboard.press("Control+a")
    view.page.keyboard.type("inf")
    view.page.keyboard.press("Enter")
    view.changed(first)
    assert grad_after(view, "x", 0)[1] == "inf"


def test_one_hot_takes_one_path_through_the_cells(view: View) -> None:
    view.open(WEIGHTS)
    view.tab("Commands")
    view.page.locator("#command-list .command").first.click()
    view.page.wait_for_selector("#command-grid .ag-cell")
    first = view.revision()
    view.page.locator('[data-preset="one-hot"]').click()
    view.page.locator('#command-grid .ag-cell[col-id="c2"]').first.click()
    view.changed(first)
    view.until("backstep.scene().values[backstep.scene().commands[0].gradient]?.data[2] === 1")
    assert view.revision() != first
    assert grad_after(view, "x", 0) == [0, 0, 2, 0]
    edges = view.js("backstep.scene().edges.filter(e => e.wiring).map(e => e.wiring)")
    assert [[0, 0, 2], [1, 1, 2], [2, 2, 2], [3, 3, 2]] in edges


def test_an_edit_that_leaves_the_error_as_it_is_stays_where_it_is_made(view: View) -> None:
    view.open("?program=second_backward")
    view.seek(0)
    before = view.revision()
    view.click("out", "seed", 1, times=2)
    view.page.keyboard.type("50")
    view.page.keyboard.press("Enter")
    view.changed(before)
    assert view.js("backstep.scene().error") is not None
    assert view.js("backstep.t()") == 0


def test_taking_retain_graph_away_places_the_error_at_its_node_and_the_fix_takes_it_back(view: View) -> None:
    view.open(WEIGHTS)
    view.tab("Commands")
    view.page.locator("#command-list .command").first.click()
    view.page.get_by_role("switch", name="retain_graph").click()
    view.until("backstep.scene().error !== null")
    error = view.js("backstep.scene().error")
    assert error["message"].startswith("Trying to backward through the graph a second time")
    view.seek(error["step"] + 1)
    assert view.state()["nodes"][error["node"]]["state"] == "error"
    shown = view.page.locator("#inspect .error")
    assert "Trying to backward through the graph a second time" in shown.inner_text()
    assert "traceback" in shown.inner_text()
    shown.locator("[data-do=fix]").click()
    view.until("backstep.scene().error === null")
    assert grad_after(view, "x", 0) == [2, 0, 0, 0]


def test_without_zeroing_gradients_accumulate(view: View) -> None:
    view.open("?program=accumulation")
    assert [grad_after(view, "x", call) for call in range(4)] == [
        [2, 0, 0, 0],
        [2, 2, 0, 0],
        [4, 4, 2, 2],
        [6, 6, 4, 4],
    ]


def test_removing_the_zeroing_accumulates_and_undo_and_redo_go_back_and_forth(view: View) -> None:
    view.open(WEIGHTS)
    base = view.revision()
    view.tab("Commands")
    view.page.get_by_role("button", name=re.compile("^Remove: x.grad.zero_")).first.click()
    view.changed(base)
    assert grad_after(view, "x", 1) == [2, 2, 0, 0]
    view.undone(base)


def test_editing_a_leaf_changes_what_is_computed(view: View) -> None:
    view.open("?program=inner_grad")
    before = view.revision()
    view.tab("Commands")
    view.page.locator("#command-list [data-do=leaf]").first.click()
    cell = view.page.locator('#command-grid .ag-cell[col-id="c0"]').first
    cell.dblclick()
    view.page.keyboard.press("Control+a")
    view.page.keyboard.type("5")
    view.page.keyboard.press("Enter")
    view.changed(before)
    leaf = view.js("backstep.scene().nodes.find(n => n.kind === 'tensor' && n.role === 'leaf').label")
    view.seek(1)
    assert view.row(leaf, "value")[0] == 5


def test_reload_and_back_give_the_same_view(view: View) -> None:
    view.open(WEIGHTS)
    base = view.revision()
    view.tab("Commands")
    view.page.get_by_role("button", name=re.compile("^Remove")).nth(1).click()
    view.changed(base)
    edited = view.revision()
    view.seek(5)
    view.js(f"backstep.select({view.node('x')!r})")
    view.until("location.search.includes('step=5') && location.search.includes('select=')")
    view.page.reload()
    view.ready()
    view.until("backstep.t() === 5")
    state = view.state()
    assert (view.revision(), state["selection"]) == (edited, view.node("x"))
    while view.revision() == edited and view.js("history.length") > 1:
        before = view.js("location.search")
        view.page.go_back()
        view.until(f"location.search !== {before!r}")
        view.ready()
        if "edits=" not in view.js("location.search"):
            view.changed(edited)
    assert view.revision() == base


def test_long_edits_go_by_a_revision_and_an_unknown_one_is_explained(view: View) -> None:
    view.open("?program=weights&revision=0123456789abcdef")
    notice = view.page.locator("#notice")
    assert "no longer known" in notice.inner_text()
    notice.get_by_role("link", name="Open the program as recorded").click()
    view.until("window.backstep?.scene?.()?.program.id === 'weights'")


def test_unknown_program_is_explained_and_leads_to_the_gallery(view: View) -> None:
    view.open("?program=no-such")
    assert "This program is not open here" in view.page.locator("#notice").inner_text()
    theme, top = view.page.locator("#act-theme").bounding_box(), view.page.locator("#top").bounding_box()
    assert theme["x"] + theme["width"] == top["x"] + top["width"] - 16, "what cannot be used takes no room"
    view.page.get_by_role("link", name="Open the gallery").click()
    view.page.wait_for_selector("#gallery .card >> visible=true")


def test_click_on_code_selects_what_it_computed_and_the_other_way_round(view: View) -> None:
    view.open(WEIGHTS)
    line = view.page.locator("#code li", has_text="z = 2 * x")
    line.click(position={"x": 45, "y": 10})
    view.until("backstep.selection() !== null")
    assert view.js("backstep.scene().nodes.find(n => n.id === backstep.selection()).label") in ("z", "× 2")
    view.click("x")
    view.until("document.querySelector('#code .picked')")
    assert "tensor" in view.page.locator("#code .picked").inner_text()


def test_click_beside_code_goes_to_the_next_step_of_its_line(view: View) -> None:
    view.open(WEIGHTS)
    steps = view.js("backstep.scene().steps")
    times = [i + 1 for i, step in enumerate(steps) if step["name"] in ("mul", "MulBackward0")]
    line = view.page.locator("#code li", has_text="z = 2 * x")
    number = {"x": 12, "y": 10}
    view.seek(0)
    for t in [*times, times[0]]:
        line.click(position=number)
        view.until(f"backstep.t() === {t}")
    line.click(position=number, modifiers=["Shift"])
    view.until(f"backstep.t() === {times[-1]}")
    assert view.js("backstep.selection()") is None
    assert "Ran once" in line.get_attribute("title")
    line.focus()
    view.page.keyboard.press("Enter")
    view.until(f"backstep.t() === {times[0]}")
    view.page.keyboard.press(" ")
    view.until("backstep.selection() !== null")


def test_current_expression_is_marked_forward_and_backward(view: View) -> None:
    view.open(WEIGHTS)
    steps = view.js("backstep.scene().steps")
    view.seek(1 + next(i for i, step in enumerate(steps) if step["kind"] == "forward" and step["name"] == "mul"))
    assert view.page.locator("#code u.fwd").inner_text() == "2 * x"
    view.seek(1 + next(i for i, step in enumerate(steps) if step["name"] == "MulBackward0"))
    assert view.page.locator("#code u.bwd").inner_text() == "2 * x"
    assert view.page.locator("#code li.call").count() >= 1


def test_inspector_writes_the_arithmetic_out_and_checks_it(view: View) -> None:
    view.open(WEIGHTS)
    view.js("backstep.seek(backstep.scene().steps.findIndex(s => s.name === 'MulBackward0') + 1)")
    view.click("× 2")
    view.until("document.querySelector('#inspect-formula mjx-container')")
    body = "document.querySelector('#inspect-body').innerText"  # written anew when the step's own answer arrives
    view.until(f"['upstream', 'Saved for backward', '_saved_other'].every(text => {body}.includes(text))")
    chips = "[...document.querySelectorAll('#inspect-body .chip.green')]"
    view.until(f"{chips}.filter(chip => chip.textContent.includes('agrees')).length === 1")


def test_events_table_goes_where_it_is_clicked_and_follows(view: View) -> None:
    view.open(WEIGHTS)
    view.tab("Events")
    view.page.locator("#events-grid .ag-row").nth(3).click()
    view.until("backstep.t() === 4")
    view.seek(2)
    view.until("document.querySelector('#events-grid .ag-row-selected .ag-cell')?.textContent === '2'")
    view.page.get_by_label("Filter the events").fill("zero_")
    view.until("[...document.querySelectorAll('#events-grid .ag-row')].every(r => r.textContent.includes('zero_'))")
    assert view.page.locator("#events-grid .ag-row").count() > 0


def test_dark_theme_is_kept_over_a_reload_and_stands_in_the_address(view: View) -> None:
    view.open(WEIGHTS)
    light = view.js("getComputedStyle(document.body).backgroundColor")
    view.page.get_by_label("Light or dark").click()
    view.until("location.search.includes('theme=dark')")
    dark = view.js("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    view.page.reload()
    view.ready()
    assert view.js("getComputedStyle(document.body).backgroundColor") == dark
    assert view.page.locator("[data-mantine-color-scheme=dark]").count() == 1


def test_each_step_is_said_in_the_live_region(view: View) -> None:
    view.open(WEIGHTS)
    said = set()
    for _ in range(4):
        now = view.page.locator("#live").inner_text()
        view.page.keyboard.press("ArrowRight")
        view.until(f"document.getElementById('live').textContent !== {now!r}")
        said.add(view.page.locator("#live").inner_text())
    assert len(said) == 4


def test_an_edit_and_its_undoing_are_said_in_the_live_region(view: View) -> None:
    view.open(WEIGHTS)
    view.page.locator("#stage").focus()
    view.js(f"backstep.select({view.node('z')!r})")
    for key in ("Enter", "5", "Enter"):
        view.page.keyboard.press(key)
    view.until("document.getElementById('live').textContent.startsWith('Revision 2, commands edited. 14 steps.')")
    view.page.keyboard.press("Control+z")
    view.until("document.getElementById('live').textContent.startsWith('Revision 1, as recorded. 14 steps.')")


def test_list_of_nodes_says_what_a_step_has_brought(view: View) -> None:
    """Also with motion, which goes on for a while after the step has begun."""
    view.page.emulate_media(reduced_motion="no-preference")
    view.open(WEIGHTS)
    view.seek(0)
    for step, gradient in ((4, "2 0 0 0"), (5, "0 0 0 0"), (7, "0 2 0 0"), (8, "0 0 0 0")):
        view.seek(step - 1)
        view.page.keyboard.press("ArrowRight")
        view.until(f"backstep.t() === {step}")
        view.until(f"document.querySelector('#bs-node-{view.node('x')}').textContent.endsWith('; gradient {gradient}')")


@pytest.mark.parametrize("width", [1024, 1280, 1920])
def test_nothing_overflows_the_window(view: View, width: int) -> None:
    view.page.set_viewport_size({"width": width, "height": 800})
    view.open(WEIGHTS)
    for box in ("#top", "#left", "#middle", "#timeline"):
        found = view.page.locator(box).bounding_box()
        assert found is not None and found["x"] >= 0 and found["x"] + found["width"] <= width + 0.5
    assert view.js(
        "document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight"
    )


def test_right_panel_slides_over_on_a_narrow_screen(view: View) -> None:
    view.page.set_viewport_size({"width": 1200, "height": 800})
    view.open(WEIGHTS)
    assert not view.page.locator("#right").is_visible()
    wide = view.page.locator("#middle").bounding_box()
    view.page.keyboard.press("]")
    view.page.wait_for_selector("#right", state="visible")
    assert view.page.locator("#middle").bounding_box() == wide
    view.page.keyboard.press("Escape")
    view.page.wait_for_selector("#right", state="hidden")


def test_arrows_step_after_a_tab_was_clicked_and_change_tabs_for_the_keyboard(view: View) -> None:
    view.open(WEIGHTS)
    view.seek(2)
    tabs = view.page.get_by_role("tab")
    tabs.filter(has_text="Events").click()
    view.page.keyboard.press("ArrowRight")
    view.until("backstep.t() === 3")
    view.page.keyboard.press("Home")
    view.until("backstep.t() === 0")
    assert tabs.filter(has_text="Events").get_attribute("aria-selected") == "true"
    view.page.keyboard.press("Tab")
    tabs.filter(has_text="Inspect").focus()
    view.page.keyboard.press("ArrowRight")
    view.until(
        "document.activeElement.matches('[role=tab]') && document.activeElement.textContent.startsWith('Commands')"
    )
    assert view.js("backstep.t()") == 0
