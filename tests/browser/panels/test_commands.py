"""The commands panel: adding, moving, flags, inputs, several roots, what is not reached and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.conftest import View, recording
from tests.browser.stage.test_player import grad_after

WEIGHTS = "?program=weights"

SEVERAL = """
import engine as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
a = x * 2
b = x * x
torch.autograd.backward([a, b], [torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])], retain_graph=True)
"""
ROOTS = """
import engine as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
c = torch.tensor([3.0, 3.0])
y = x * c
loss = (y * y).sum()
loss.backward()
"""
LARGE = """
import engine as torch

x = torch.arange(30.0).reshape(5, 6).requires_grad_()
y = x * 2
y.backward(torch.arange(30.0, dtype=torch.float64).reshape(5, 6))
"""


def listed(view: View) -> list[str]:
    return [
        str(one)
        for one in view.js("[...document.querySelectorAll('#command-list .call code')].map(c => c.textContent)")
    ]


def panel(view: View, query: str) -> str:
    """Opens a program with its commands; the id of its revision."""
    view.open(query)
    return open_commands(view)


def open_commands(view: View) -> str:
    """Opens the commands of the program that is there; the id of its revision."""
    view.tab("Commands")
    view.page.wait_for_selector("#command-list .command")
    return view.revision()


def choose(view: View, number: int) -> None:
    view.page.locator("#command-list .command").nth(number).click()
    view.page.wait_for_selector("#command-form >> visible=true")


def test_backward_is_added_at_the_chosen_place_and_its_gradient_edited(view: View) -> None:
    base = panel(view, WEIGHTS)
    view.page.get_by_label("Where to add").select_option(label="after line 5 · loss = z.sum(dim=1)")
    view.page.get_by_role("button", name="+ backward()").click()
    view.changed(base)
    assert listed(view)[:2] == ["loss.backward()", "z.backward(…)"]
    view.tab("Commands")  # the error brought the inspector
    view.page.wait_for_selector("#command-form >> visible=true")
    assert view.js("backstep.scene().error.message").startswith("Trying to backward through the graph a second time")
    assert view.page.locator("#command-list li.unreached").count() > 0, "what the error keeps from running stays listed"
    before = view.revision()
    view.page.get_by_role("switch", name="retain_graph").click()
    view.changed(before)
    assert view.js("backstep.scene().error") is None
    assert grad_after(view, "x", 0) == [2, 2, 2, 2] and grad_after(view, "x", 1) == [4, 2, 2, 2]
    view.undone(before)


def test_run_is_in_view_however_long_the_form_is(view: View) -> None:
    panel(view, WEIGHTS)
    choose(view, 0)
    for height in (900, 800, 720):
        view.page.set_viewport_size({"width": 1440, "height": height})
        view.until("(form => form.scrollHeight > form.clientHeight)(document.getElementById('command-form'))")
        view.js("window.place = document.getElementById('command-run').getBoundingClientRect()")
        at = "place.x + place.width / 2, place.bottom - 2"
        assert view.js(f"document.elementFromPoint({at}).closest('#command-run') !== null"), height


def test_zeroing_is_added_between_two_calls(view: View) -> None:
    base = panel(view, "?program=accumulation")
    where = view.page.get_by_label("Where to add")
    where.select_option(value=view.js("backstep.scene().commands[0].id"))
    view.page.get_by_role("button", name="+ zero the gradients").click()
    view.changed(base)
    assert listed(view)[1] == "x.grad.zero_()"
    assert grad_after(view, "x", 1) == [0, 2, 0, 0]
    view.undone(base)


def test_call_moves_before_its_neighbour_and_to_any_place_that_fits(view: View) -> None:
    base = panel(view, "?program=accumulation")
    first = view.js("backstep.scene().commands.map(c => c.id)")
    assert grad_after(view, "x", 0) == [2, 0, 0, 0]
    view.page.get_by_role("button", name="Later: z.backward").first.click()
    view.changed(base)
    assert view.js("backstep.scene().commands.map(c => c.id)")[:2] == [first[1], first[0]]
    assert grad_after(view, "x", 0) == [0, 2, 0, 0]
    view.undone(base)
    moved = view.revision()
    choose(view, 0)
    place = view.page.get_by_label("Position in the program")
    offered = place.locator("option").all_inner_texts()
    assert any("line 4" in one for one in offered) and not any("at the start" in one for one in offered)
    place.select_option(value=first[2])
    view.changed(moved)
    assert view.js("backstep.scene().commands.map(c => c.id)")[:3] == [first[0], first[2], first[1]]


def test_call_is_duplicated_right_behind_itself(view: View) -> None:
    base = panel(view, "?program=accumulation")
    choose(view, 0)
    view.page.get_by_role("button", name="Duplicate").click()
    view.changed(base)
    assert [grad_after(view, "x", call) for call in (0, 1)] == [[2, 0, 0, 0], [4, 0, 0, 0]]
    view.undone(base)


def test_root_is_chosen_and_takes_a_gradient_of_its_shape(view: View) -> None:
    base = panel(view, WEIGHTS)
    choose(view, 0)
    view.page.get_by_role("textbox", name="Start from").click()
    view.page.locator(".mantine-Select-option >> visible=true", has_text="loss").click()
    view.changed(base)
    assert view.js("backstep.scene().commands[0].root") == view.node("loss")
    assert grad_after(view, "x", 0) == [2, 2, 2, 2]
    view.undone(base)


def test_call_without_a_gradient_raises_torchs_error_and_gets_one_again(view: View) -> None:
    base = panel(view, WEIGHTS)
    choose(view, 0)
    view.page.locator('[data-preset="none"]').click()
    view.changed(base)
    error = "grad can be implicitly created only for scalar outputs"
    assert view.js("backstep.scene().error.message") == error
    view.until("document.querySelector('#code li.change')?.textContent === 'edited: no gradient'")
    view.tab("Commands")
    assert "no gradient" in view.page.locator("#command-list .command").first.inner_text()
    assert view.page.locator('[data-preset="none"]').get_attribute("aria-pressed") == "true"
    assert not view.page.locator("#command-grid").is_visible()
    view.undone(base)
    none = view.revision()
    view.js(f"backstep.select({view.node('z')!r})")
    view.page.locator('[data-preset-cell="ones"]').click()  # the strip on the graph stays with a call that was refused
    view.changed(none)
    assert view.js("backstep.scene().error") is None and grad_after(view, "x", 0) == [2, 2, 2, 2]


def test_root_is_chosen_on_the_graph_by_click_and_by_keys(shown: Callable[..., View], tmp_path: Path) -> None:
    view = shown(recording(tmp_path / "roots.py", ROOTS))
    base = open_commands(view)
    choose(view, 0)
    button = view.page.get_by_role("button", name="Choose on the graph")
    button.click()
    bar = view.page.locator(".bs-choosing-bar")
    assert "Choose where loss.backward() starts" in bar.inner_text()
    view.click("×")
    assert "× is an op. Choose a tensor: y is what it computes." in bar.inner_text()
    view.page.keyboard.press("Escape")
    assert not bar.is_visible() and view.js("document.activeElement.id") == "command-pick"
    view.page.keyboard.press("Enter")
    view.until("backstep.choosing()")
    while view.js("backstep.selection()") != view.node("c"):
        view.page.keyboard.press("Tab")
    view.page.keyboard.press("Enter")
    view.changed(base)
    refused = "element 0 of tensors does not require grad and does not have a grad_fn"
    assert view.js("backstep.scene().error.message") == refused
    view.undone(base)
    view.page.keyboard.press("Control+z")
    view.until(f"backstep.scene().revision.id === {base!r}")
    view.tab("Commands")
    button.click()
    view.click("y", "value", 1)
    view.changed(base)
    assert view.js("backstep.scene().commands[0].root") == view.node("y") == view.js("backstep.selection()")
    assert grad_after(view, "x", 0) == [3, 3] and not view.js("backstep.choosing()")


def test_inputs_say_who_receives_a_gradient(view: View) -> None:
    base = panel(view, "?program=three_inputs")
    choose(view, 0)
    view.page.locator("#command-inputs").focus()
    view.page.keyboard.press("ArrowDown")
    view.page.locator(".mantine-MultiSelect-option >> visible=true", has_text="b").click()
    view.changed(base)
    view.end()
    rows = {label: view.row(label, "grad") for label in "abc"}
    assert rows["a"] is None and rows["c"] is None and rows["b"] is not None
    view.page.keyboard.press("Escape")
    view.undone(base)


def test_create_graph_records_the_backward_too(view: View) -> None:
    base = panel(view, "?program=three_inputs")
    before = view.js("backstep.scene().nodes.length")
    choose(view, 0)
    view.page.get_by_role("switch", name="create_graph").click()
    view.changed(base)
    assert view.js("backstep.scene().nodes.length") > before
    assert view.js("backstep.scene().commands[0].create_graph") is True
    view.undone(base)


def test_keyboard_stays_where_it_is_while_calls_are_chosen_changed_and_moved(view: View) -> None:
    base = panel(view, WEIGHTS)
    press = view.page.keyboard.press
    focus = "(({ dataset, id }) => (dataset.do ? `${dataset.do} ${dataset.id}` : id))(document.activeElement)"
    first, second, third = view.js("backstep.scene().commands.map(({ id }) => id)")[:3]
    view.page.locator(f"[data-do=choose][data-id='{first}']").focus()
    press("Shift+Tab")
    press("Tab")  # the keyboard has come to it
    press("Enter")
    view.page.wait_for_selector("#command-form >> visible=true")
    assert view.js(focus) == f"choose {first}"
    view.page.locator("#command-retain").focus()
    press("Space")
    view.changed(base)
    assert view.js("backstep.scene().commands[0].retain_graph") is False
    view.until(f"{focus} === 'tabs-tab-inspect'")  # the error that it raises is explained there
    press("Control+z")
    view.until(f"backstep.scene().revision.id === {base!r}")
    press("ArrowRight")
    view.page.locator("#command-close").focus()
    press("Enter")
    view.until("document.getElementById('command-form').hidden")
    assert view.js(focus) == f"choose {first}"
    view.page.locator(f"[data-do=remove][data-id='{second}']").focus()
    press("Enter")
    view.changed(base)
    assert view.js(focus) == f"remove {third}"


def test_several_roots_are_shown_and_the_first_ones_gradient_is_edited(
    shown: Callable[..., View], tmp_path: Path
) -> None:
    view = shown(recording(tmp_path / "several.py", SEVERAL))
    base = open_commands(view)
    assert view.js("backstep.scene().commands[0].roots") == [view.node("a"), view.node("b")]
    assert "2 roots: a, b" in view.page.locator("#command-list").inner_text()
    assert grad_after(view, "x", 0) == [2, 4]
    choose(view, 0)
    view.page.wait_for_selector("#command-grid .ag-cell")
    view.page.locator('[data-preset="ones"]').click()
    view.changed(base)
    assert grad_after(view, "x", 0) == [2, 6]
    assert len(view.js("backstep.scene().commands[0].roots")) == 2


def test_gradient_of_thirty_elements_is_fetched_before_it_is_edited(shown: Callable[..., View], tmp_path: Path) -> None:
    view = shown(recording(tmp_path / "large.py", LARGE))
    base = open_commands(view)
    choose(view, 0)
    view.until("document.querySelector('#command-hint').textContent.includes('All 30 elements')")
    corner = '#command-grid .ag-row[row-index="4"] .ag-cell[col-id="c5"]'
    cell = view.page.locator(corner)
    view.until(f"document.querySelector({corner!r})?.textContent === '29'")
    cell.dblclick()
    view.page.keyboard.press("Control+a")
    view.page.keyboard.type("100")
    view.page.keyboard.press("Enter")
    view.changed(base)
    view.end()
    view.js(f"backstep.select({view.node('x')!r})")
    view.tab("Inspect")
    view.until("document.querySelector('#inspect').textContent.includes('200')")
    rows = view.js("backstep.scene().nodes.find(n => n.label === 'x').rows")
    last = next(row for row in rows if row["key"] == "grad")["track"][-1][1]
    grad: Any = view.js(f"backstep.scene().values[{last}].stats")
    assert grad["max"] == 200 and grad["min"] == 0


def test_edit_that_does_not_fit_is_refused_in_words_and_forgotten(view: View) -> None:
    base = panel(view, WEIGHTS)
    leaf = view.node("x")[1:]
    view.js(f"backstep.edit({{ leaf: {leaf!r}, values: [[1, 2, 3]] }})")
    notice = view.page.locator("#notice")
    notice.wait_for(state="visible")
    text = notice.inner_text()
    assert "expected numbers in shape [1, 4]" in text and "found shape [1, 3]" in text and "Nothing was changed" in text
    notice.get_by_role("button", name="Go back").click()
    notice.wait_for(state="hidden")
    assert view.revision() == base and view.row("x", "value") == [1, 2, 3, 4]
    assert "edits=" not in view.js("location.search")


def marked(view: View) -> list[str]:
    return [
        str(one) for one in view.js("[...document.querySelectorAll('#code li.change')].map(line => line.textContent)")
    ]


def test_what_an_edit_changes_stands_in_the_program_and_in_an_address_opened_anew(view: View) -> None:
    base = panel(view, WEIGHTS)
    assert marked(view) == []
    view.js("backstep.edit({ command: 'c0', gradient: [[0, 1, 0, 5]] })")
    view.changed(base)
    edited = view.revision()
    view.page.get_by_role("button", name="Remove: z.backward").nth(1).click()
    view.changed(edited)
    view.seek(4)
    chips = "[...document.querySelectorAll('#command-list .chip.changed')].map(chip => chip.textContent)"
    lines = "[...document.querySelectorAll('#code li.removed')].map(line => line.dataset.line)"

    def says() -> None:
        view.until("document.querySelectorAll('#code li.change').length === 2")
        assert marked(view) == ["edited: gradient [[0 1 0 5]]", "removed"]
        assert view.js(lines) == ["12", "13"]
        assert view.js(chips) == ["edited"]
        view.until("document.querySelector('#inspect-head .chip.changed')")
        assert "edited: gradient [[0 1 0 5]]" in view.page.locator("#inspect-head").inner_text()

    says()
    view.until("location.search.includes('step=4')")  # a step goes into the address after a short rest
    view.page.reload()
    view.ready()
    view.tab("Commands")
    view.page.wait_for_selector("#command-list .command")
    says()


TRAINED = """
import engine as torch
from engine import nn
model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3), nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 2)).sum().backward()
opt.zero_grad(set_to_none=False)
model(torch.ones(1, 2)).sum().backward()
"""


def test_equal_calls_in_a_row_are_one_line_that_unfolds_and_is_removed_as_one(
    shown: Callable[..., View], tmp_path: Path
) -> None:
    view = shown(recording(tmp_path / "zeroed.py", TRAINED))
    base = open_commands(view)
    assert len(listed(view)) == 3 and view.js("backstep.scene().commands.length") == 8
    bunch = view.page.get_by_role("button", name="opt.zero_grad(set_to_none=False)", expanded=False)
    bunch.focus()
    view.page.keyboard.press("Enter")
    view.until("document.querySelectorAll('#command-list .bunch li').length === 6")
    assert view.js("document.activeElement.ariaExpanded") == "true", "the focus stays"
    view.page.locator("#command-list .bunch li").nth(1).get_by_title("Remove").click()
    view.changed(base)
    view.until("document.querySelectorAll('#command-list .bunch li').length === 5")
    view.page.get_by_role("button", name="Remove all 5: opt.zero_grad").click()
    view.until("backstep.scene().commands.length === 2")
    assert len(listed(view)) == 2
