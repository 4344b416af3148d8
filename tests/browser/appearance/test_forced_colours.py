"""With the system's own colours (forced colours) nothing that is said by a ground or a mask is lost."""

from __future__ import annotations

from tests.browser.conftest import View

GROUND = "getComputedStyle(document.querySelector('{}')).{}"


def test_marked_code_and_icons_are_seen_in_forced_colours(view: View) -> None:
    view.page.emulate_media(forced_colors="active")
    view.open("?program=weights&step=2&theme=light")
    assert view.js("matchMedia('(forced-colors: active)').matches")
    for place in (".code-pane", "#stage", "#timeline"):
        assert view.js(GROUND.format(place, "forcedColorAdjust")) == "none", place
    view.open("?theme=light")
    for place in (".hero-stage", ".card-picture"):
        assert view.js(GROUND.format(place, "forcedColorAdjust")) == "none", place
    view.open("?program=weights&step=2&theme=light")
    icon = view.js(GROUND.format("#act-theme .icon", "backgroundColor"))
    assert icon != view.js(GROUND.format("#act-theme", "backgroundColor"))
