"""The page that tests have one after the other is as new for each of them."""

from __future__ import annotations

from typing import Any

from tests.browser.conftest import App, Place, View

LEFT = """[
    ...["(forced-colors: active)", "(prefers-color-scheme: dark)", "(prefers-reduced-motion: no-preference)", "print"]
        .map((query) => matchMedia(query).matches),
    innerWidth, localStorage.length, sessionStorage.length, document.cookie, name, backstep.t(), backstep.state().hover,
]"""
LEAVE = """
    localStorage.setItem("a", "b"), sessionStorage.setItem("a", "b"), document.cookie = "a=b", window.name = "b",
    history.pushState({}, "", "?program=weights&step=1"), window.open("/assets/icon.svg"), 0
"""


def test_what_a_test_leaves_in_a_page_is_not_there_for_the_next_one(browser: Any, app: App) -> None:
    place = Place(browser, app)
    view = View(place.page, app)
    view.open("?program=weights&step=0")
    new = view.js(LEFT)
    view.page.emulate_media(forced_colors="active", color_scheme="dark", reduced_motion="no-preference", media="print")
    view.page.set_viewport_size({"width": 1300, "height": 700})
    view.page.route("**/scene", lambda route: route.abort())
    view.js(LEAVE)
    view.seek(2)
    view.click("x")
    left = view.js(LEFT)
    assert [was for was, now in zip(new, left, strict=True) if was == now] == []
    place.clear()
    view.open("?program=weights&step=0")
    assert view.js(LEFT) == new and len(place.context.pages) == 1
    place.context.close()
