"""Mistakes in the browser: the fixed program one click or key away, what differs marked, and what the graph says."""

from __future__ import annotations

from tests.browser.conftest import View
from viz.gallery import gallery

MISTAKES = [program for program in gallery() if program.confusion is not None]
SHOWN = "window.backstep.scene()?.program.id"


def signs(view: View, kind: str) -> list[str]:
    found = view.js(f"[...document.querySelectorAll('#code li.{kind}')].map(line => line.textContent.trim())")
    return [str(line) for line in found]


def test_fixed_program_is_one_click_away_and_marks_what_is_new(view: View) -> None:
    view.open("?program=saved_in_place")
    assert signs(view, "added") == signs(view, "gone") == [], "the mistake does not give the answer away"
    view.page.get_by_role("button", name="See it fixed").click()
    view.until(f"{SHOWN} === 'saved_in_place_fixed'")
    assert signs(view, "gone") == ["y *= 2"]
    assert signs(view, "added") == ["y = y * 2", "print(x.grad)"]
    assert view.js("getComputedStyle(document.querySelector('#code li.added'), '::after').content") == '"+"'
    assert "program=saved_in_place_fixed" in view.js("location.search")
    view.page.get_by_role("button", name="Back to the mistake").click()
    view.until(f"{SHOWN} === 'saved_in_place'")


def test_m_goes_there_and_back(view: View) -> None:
    view.open("?program=added_up")
    view.page.keyboard.press("m")
    view.until(f"{SHOWN} === 'added_up_fixed'")
    assert signs(view, "added") == ["x.grad = None"]
    view.page.keyboard.press("m")
    view.until(f"{SHOWN} === 'added_up'")
    view.page.go_back()
    view.until(f"{SHOWN} === 'added_up_fixed'")


def test_gallery_lists_mistakes_with_their_messages_and_not_what_mends_them(view: View) -> None:
    view.open()
    shown = view.js("[...document.querySelectorAll('a[data-program]')].map(card => card.dataset.program)")
    assert [name for name in shown if name.endswith("_fixed")] == []
    assert {program.id for program in MISTAKES} <= set(shown)
    said = view.js("document.querySelector('a[data-program=not_scalar] .card-says').textContent")
    assert said == "RuntimeError: grad can be implicitly created only for scalar outputs"
    silent = view.js("document.querySelector('a[data-program=added_up] .card-says').textContent")
    assert silent.startswith("No message. x.grad is 12")


def test_code_that_is_not_there_is_read_with_its_operators(view: View) -> None:
    view.open("?program=accuracy_as_loss_fixed")
    lines = "getComputedStyle(document.querySelector('#code li.gone{}')).textDecorationLine"
    assert [view.js(lines.format(inner)) for inner in ("", " del")] == ["none", "none"]
    assert view.js("getComputedStyle(document.querySelector('#code li.gone'), '::after').content") == '"−"'
