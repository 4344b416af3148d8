"""The gallery, the keyboard alone, and what a hostile host name gets."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

from tests.browser.conftest import App, View


def focused(view: View) -> str:
    return str(view.js("document.activeElement.dataset?.program ?? document.activeElement.id ?? ''"))


def test_gallery_offers_the_programs_and_finds_them_by_word(view: View) -> None:
    view.open()
    cards = view.page.locator("#gallery .card >> visible=true")
    assert cards.count() >= 21
    view.page.get_by_label("Search the gallery").fill("retain_graph second")
    view.until("[...document.querySelectorAll('#gallery .card')].some(c => c.hidden)")
    assert 0 < cards.count() < 21
    view.page.get_by_label("Search the gallery").fill("qqqq")
    view.page.wait_for_selector("#gallery-empty >> visible=true")
    assert cards.count() == 0


def test_gallery_opens_a_program_without_loading_the_page_again_and_back_returns(view: View) -> None:
    view.open()
    view.js("window.stayed = true")
    view.page.locator("#gallery .card").first.click()
    view.until("window.backstep.scene() !== null && location.search.includes('program=')")
    view.page.go_back()
    view.page.wait_for_selector("#gallery .card >> visible=true")
    assert view.js("window.stayed") is True


def test_gallery_plays_the_first_call_of_its_first_program_and_opens_it(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 720})
    view.page.emulate_media(reduced_motion="no-preference")
    view.open()
    said = "document.querySelector('#hero span')?.textContent ?? ''"
    view.until(f"{said}.startsWith('MulBackward0 multiplies the upstream gradient [1 0 0 0]')")
    view.until(f"{said}.endsWith('x.grad was None and now holds it.')")
    view.page.locator("#hero").click()
    view.until("backstep.scene()?.program.id === 'weights'")
    view.page.go_back()
    view.until(f"{said}.startsWith('MulBackward0')")  # it plays again for whoever comes back
    view.page.emulate_media(reduced_motion="reduce")


def test_gallery_without_motion_shows_how_the_first_call_ends(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 720})
    view.page.emulate_media(reduced_motion="reduce")
    view.open()
    view.until("document.querySelector('#hero span').textContent.endsWith('now holds it.')")


def test_first_program_can_be_played_with_the_keyboard_alone(view: View) -> None:
    view.open()
    keys = view.page.keyboard
    for _ in range(12):
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
    body = json.dumps({"output": "scene.data"})
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
    view.until("!document.getElementById('toast').hidden")
    assert "step=3" in view.js("navigator.clipboard.readText()")
    for item, ending in (("Scene as JSON", ".scene.json"), ("Trace file", ".backstep")):
        view.page.get_by_label("Save this revision").click()
        with view.page.expect_download() as download:
            view.page.get_by_role("menuitem", name=item).click()
        assert download.value.suggested_filename.endswith(ending)
