"""The gallery, the keyboard alone, and what a hostile host name gets."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import engine
from tests.browser.conftest import App, View
from viz.server.front.share import network


def focused(view: View) -> str:
    return str(view.js("document.activeElement.dataset?.program ?? document.activeElement.id ?? ''"))


def test_gallery_offers_the_programs_finds_them_by_word_and_opens_them_in_the_page(view: View) -> None:
    view.open()
    cards = view.page.locator("#gallery .card >> visible=true")
    assert cards.count() >= 21
    view.page.get_by_label("Search the gallery").fill("a second backward without retain_grpah")
    view.page.get_by_text("Did you mean graph for “grpah”?").wait_for()
    first = [card.get_attribute("data-program") for card in cards.all()[:3]]
    assert "second_backward" in first
    assert cards.first.locator(".card-why mark").first.inner_text() == "second backward"
    view.page.get_by_label("Search the gallery").fill("qqqq")
    view.page.get_by_text("No program says this").wait_for()
    assert cards.count() > 0
    view.page.keyboard.press("Escape")
    view.page.get_by_role("button", name="Networks").click()
    shown = {card.get_attribute("data-level") for card in cards.all()}
    assert shown == {"Networks"}

    # A card opens its program without loading the page again.
    view.js("window.stayed = true")
    cards.first.click()
    view.until("window.backstep.scene() !== null && location.search.includes('program=')")
    view.page.go_back()
    view.page.wait_for_selector("#gallery .card >> visible=true")
    assert view.js("window.stayed") is True


SAID = "document.querySelector('.hero-say').textContent"
PLAYS = "document.querySelector('#hero [data-do=toggle]').textContent"


def test_first_program_plays_until_it_is_touched_and_its_gradient_can_be_dragged(view: View) -> None:
    view.page.emulate_media(reduced_motion="no-preference")
    view.page.goto(view.app.origin)  # nothing of the app is needed for this
    view.until(f"{SAID}.startsWith('MulBackward0 multiplies the upstream gradient [1 0 0 0]')")
    view.until(f"{SAID}.endsWith('x.grad was None and now holds it.') && {PLAYS} === 'Pause'")
    cell = view.page.get_by_role("spinbutton", name="Gradient of z, element 3 of 4")
    box = cell.bounding_box()
    assert box is not None and view.js("document.documentElement.dataset.app ?? null") is None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.until(f"{PLAYS} === 'Play'")
    view.page.mouse.move(x, y - 56, steps=4)  # 14 px a half
    view.until(f"{SAID}.startsWith('The leaf x receives [2 0 4 0]')")
    assert cell.get_attribute("aria-valuenow") == "2"
    view.page.mouse.up()
    view.until(f"{SAID}.startsWith('MulBackward0 multiplies the upstream gradient [1 0 2 0]')")  # it travels once more
    view.until(f"{SAID}.startsWith('The leaf x receives [2 0 4 0]') && {PLAYS} === 'Play'")
    view.js(
        f"""new MutationObserver((_, seen) => {{
          if (!{SAID}.startsWith('The program sets x.grad to zero')) return;
          seen.disconnect();
          document.querySelector('.hero-cell:not([hidden])').focus();
        }}).observe(document.querySelector('.hero-say'), {{ childList: true, subtree: true }})"""
    )
    toggle = view.page.locator("#hero [data-do=toggle]")
    toggle.click()  # a number that is taken after its call leads back to the end of that call
    view.until(f"{SAID}.startsWith('The leaf x receives [2 0 4 0]') && {PLAYS} === 'Play'")
    toggle.click()
    view.until(f"{PLAYS} === 'Pause'")
    view.page.locator("#gallery-search").press("r")  # whoever types elsewhere has touched the page too
    view.until(f"{PLAYS} === 'Play'")
    view.page.emulate_media(reduced_motion="reduce")


def test_course_whose_first_lesson_plays_nothing_has_its_cards(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("# ## Forward\nimport engine as torch\nx = torch.ones(2, requires_grad=True) * 2\n")
    view = view_of(start("course", str(tmp_path)))
    view.page.goto(view.app.origin)
    view.page.locator("#gallery-groups .card-picture[data-drawn]").wait_for()
    assert not view.page.locator("#hero").is_visible()


def test_first_program_stands_without_motion_is_changed_by_keys_and_makes_room(view: View) -> None:
    view.open()
    view.until(f"{SAID}.endsWith('x.grad was None and now holds it.') && {PLAYS} === 'Play'")
    view.page.get_by_role("spinbutton", name="Gradient of z, element 1 of 4").focus()
    for key in ("PageUp", "ArrowDown"):
        view.page.keyboard.press(key)
    view.until(f"{SAID}.startsWith('The leaf x receives [3 0 0 0]')")
    view.page.keyboard.press("7")
    view.until(f"{SAID}.startsWith('The leaf x receives [14 0 0 0]')")

    view.page.set_viewport_size({"width": 900, "height": 700})  # it is on a narrow page too
    hero = view.page.locator("#hero")
    box = hero.bounding_box()
    assert box is not None and box["y"] + box["height"] <= 700
    view.page.get_by_label("Search the gallery").fill("jacobian")
    view.page.locator("#gallery-found .card").first.wait_for()
    assert not hero.is_visible()
    view.page.keyboard.press("Escape")
    hero.wait_for()


def test_gallery_is_walked_by_keys_and_lists_them_before_the_app_is_there(view: View) -> None:
    view.page.goto(view.app.origin)
    view.until("document.documentElement.dataset.front === 'ready'")
    keys, focus = view.page.keyboard, "document.activeElement"
    keys.press("F1")  # the search has the focus; `?` would be typed
    view.until("document.querySelector('.bs-help')?.open")
    assert not view.page.locator(".bs-help").get_by_role("button", name="Legend").is_visible()
    keys.press("Escape")
    view.until(f"!document.querySelector('.bs-help').open && {focus}.id === 'gallery-search'")
    keys.type("non-scalar")
    keys.press("Tab")  # to the first program, past the picture that plays
    view.until(f"{focus}.dataset.program === 'not_scalar'")
    keys.press("?")
    view.until("document.querySelector('.bs-help').open")
    keys.press("Escape")
    view.until(f"{focus}.dataset.program === 'not_scalar'")
    keys.press("Shift+Tab")
    view.until(f"{focus}.id === 'gallery-search'")


def test_cards_have_the_graph_of_their_program_and_its_number_of_steps(view: View) -> None:
    view.open()
    cards = "document.querySelectorAll('#gallery-groups .card')"
    view.until(f"[...{cards}].slice(0, 4).every(card => card.querySelector('.card-picture').dataset.drawn)")
    inks = view.js(
        f"""[...{cards}].slice(0, 4).map(card => card.querySelector('canvas')).map(canvas => new Set(new Uint32Array(
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)"""
    )
    assert min(inks) > 20
    steps = view.js(f"[...{cards}].slice(0, 2).map(card => card.querySelector('.card-steps').textContent)")
    assert steps == ["14 steps", "11 steps"]
    picture = f"{cards}[0].querySelector('canvas').toDataURL()"
    still = view.js(picture)
    view.page.emulate_media(reduced_motion="no-preference")
    view.page.locator("#gallery-groups .card").first.hover()
    view.until(f"{picture} !== {still!r}")  # its gradient travels once more
    view.page.locator("#gallery-search").hover()
    view.until(f"{picture} === {still!r}")
    view.page.emulate_media(reduced_motion="reduce")


def test_trace_file_is_opened_where_it_is_dropped_and_a_script_gets_its_command(view: View, tmp_path: Path) -> None:
    with engine.record() as trace:
        x = engine.tensor([3.0], requires_grad=True)
        (x * x).backward()
    trace.save(str(tmp_path / "square.backstep"))
    (tmp_path / "my net.py").write_text("import torch\n")
    (tmp_path / "broken.backstep").write_text("no trace")
    view.open()
    field = view.page.locator("#drop input[type=file]")
    field.set_input_files(tmp_path / "my net.py")
    view.page.get_by_text("backstep run 'my net.py'").wait_for()
    field.set_input_files(tmp_path / "broken.backstep")
    view.page.get_by_text("'broken.backstep' is not a trace").wait_for()
    assert view.js("document.querySelector('#drop-said code').textContent") == "backstep run"
    field.set_input_files(tmp_path / "square.backstep")
    view.until("window.backstep?.scene()?.program.title === 'square.backstep'")


def test_first_program_can_be_played_with_the_keyboard_alone(view: View) -> None:
    view.open()
    keys = view.page.keyboard
    for _ in range(24):
        if focused(view) == "weights":
            break
        keys.press("Tab")
    assert focused(view) == "weights"
    keys.press("Enter")
    view.until("window.backstep.scene()?.program.id === 'weights'")
    view.ready()
    keys.press("End")
    view.until("backstep.t() === backstep.scene().steps.length")
    keys.press("Home")
    view.until("backstep.t() === 0")
    keys.press("Space")
    view.until("backstep.t() > 0")
    keys.press("?")
    view.page.wait_for_selector("dialog[open]")
    keys.press("Escape")
    view.page.wait_for_selector("dialog[open]", state="hidden")


def test_everything_that_can_be_clicked_is_reached_by_tab_and_has_a_name(view: View) -> None:
    view.open("?program=weights")
    view.tab("Commands")
    nameless = view.js(
        """[...document.querySelectorAll(':is(#player, #top) :is(button, a, input, select)')]
        .filter(e => e.offsetParent && e.type !== 'hidden')
        .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))
        .filter(e => !(e.title || e.placeholder))
        .map(e => e.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
    seen = set()
    for _ in range(80):
        view.page.keyboard.press("Tab")
        seen.add(str(view.js("document.activeElement.closest('#top, #left, #middle, #right, #timeline')?.id ?? ''")))
        if {"top", "left", "middle", "right", "timeline"} <= seen:
            break
    assert {"top", "left", "middle", "right", "timeline"} <= seen


def test_a_key_goes_from_part_to_part_of_the_page_and_an_error_s_change_is_near(view: View) -> None:
    view.open("?program=not_scalar")
    part = "document.activeElement.closest('#left, #stage, #right, #timeline, #top')?.id"
    for key, *ids in (("F6", "left", "stage", "right", "timeline", "top", "left"), ("Shift+F6", "top", "timeline")):
        for name in ids:
            view.page.keyboard.press(key)
            assert view.js(part) == name
    view.page.keyboard.press("Shift+F6")
    assert view.js("document.activeElement.getAttribute('role')") == "tab"
    view.end()
    change = view.page.get_by_role("button", name="Make this change")
    change.wait_for()
    before = view.revision()
    for _ in range(3):
        view.page.keyboard.press("Tab")
        if view.js("document.activeElement.textContent") == "Make this change":
            break
    view.page.keyboard.press("Enter")
    view.changed(before)
    assert view.js("backstep.scene().error") is None


def test_table_of_steps_is_walked_by_arrows_and_left_by_one_tab(view: View) -> None:
    view.open("?program=weights")
    view.tab("Events")
    view.page.wait_for_selector("#events-grid .ag-row")
    inside = "document.activeElement.closest('#events-grid') !== null"
    view.page.locator("#events-filter").focus()
    view.page.keyboard.press("Tab")
    view.until(inside)
    for _ in range(4):
        view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("Enter")
    view.until("backstep.t() > 1")
    assert view.js(inside)
    view.page.keyboard.press("Shift+Tab")
    view.until("document.activeElement.id === 'events-filter'")
    view.page.keyboard.press("Tab")
    view.until(inside)
    view.page.keyboard.press("Tab")
    view.until("document.activeElement.closest('#timeline, #right, #live') !== null && !(" + inside + ")")


def test_hostile_host_is_refused_by_the_running_app(app: App) -> None:
    where = urlsplit(app.origin)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
    answer: http.client.HTTPResponse
    for path in ("/", "/assets/viz.mjs", "/_dash-layout"):
        connection.request("GET", path, headers={"Host": "evil.example"})
        answer = connection.getresponse()
        assert answer.status == 400 and b"Backstep does not accept this host name" in answer.read()
    body = json.dumps({"output": "details.data"})
    connection.request(
        "POST", "/_dash-update-component", body, {"Content-Type": "text/plain", "Origin": "http://evil.example"}
    )
    answer = connection.getresponse()
    connection.close()
    assert answer.status == 403


def test_share_copies_the_address_and_exports_are_saved(view: View) -> None:
    view.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view.open("?program=weights&step=3")
    view.page.get_by_label("Copy a link to this view").click()
    share = view.page.get_by_role("dialog", name="Share")
    share.get_by_text("This address works on this machine only.").wait_for()
    share.get_by_role("button", name="Save as a lesson").wait_for()
    if network() is not None:
        line = share.locator("code").inner_text()
        assert re.fullmatch(r"backstep --host [\d.]+ --port \d+ --no-browser", line)
        assert (
            share.get_by_role("img").get_attribute("alt")
            == f"QR code of {share.locator('.share-address').inner_text()}"
        )
        view.until("document.querySelector('.share img').naturalWidth > 100")
    share.get_by_role("button", name="Copy the link").click()
    view.until("!document.getElementById('toast').hidden && !document.querySelector('.share')")
    assert "step=3" in view.js("navigator.clipboard.readText()")
    for item, ending in (("Scene as JSON", ".scene.json"), ("Trace file", ".backstep")):
        view.page.get_by_label("Save this revision").click()
        with view.page.expect_download() as download:
            view.page.get_by_role("menuitem", name=item).click()
        assert download.value.suggested_filename.endswith(ending)


@pytest.mark.parametrize("query", ["", "?program=weights", "?program=weights&present=1"])
def test_elements_are_those_of_html(view: View, query: str) -> None:
    """Safari refuses to make an element of another name, which stops the script that asks for it."""
    view.open(query)
    unknown = "[...document.querySelectorAll('*')].filter(one => one instanceof HTMLUnknownElement)"
    assert view.js(f"{unknown}.map(one => one.localName)") == []


def test_all_of_the_gallery_is_printed(view: View) -> None:
    view.open()
    assert len(re.findall(rb"/Type\s*/Page\b", view.page.pdf(format="A4"))) > 4
