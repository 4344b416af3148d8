"""Nothing moves under the pointer: what is pressed, and what stands in its panel, stay where they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tests.browser.conftest import View

PROBE = Path(__file__).with_name("steady.js").read_text("utf-8").partition("\n")[2]
RIGHT = "document.documentElement.dataset.right === 'open' || document.getElementById('act-panel').click()"
END = "backstep.seek(backstep.scene().steps.length)"
LAST_OP = f"({END}, backstep.back(true), backstep.step(true))"  # and not the last round
SCREENS = [
    ("?program=weights&step=4", "", ["#top", "#story", "#code", ".bs-tools", ".bs-legend", "#timeline"]),
    ("?program=weights&step=4", "backstep.select(backstep.scene().nodes.find(n => n.label === 'z').id)",
     [".bs-presets", "#inspect"]),
    ("?program=mini_batches&step=4", "commands", ["#command-calls", "#command-form", "#right .mantine-Tabs-list"]),
    ("?program=saved_in_place&step=3", END, ["#inspect", "#story"]),
    ("?program=forgotten_zero&step=3", END, ["#story", "#code"]),
    ("?program=rnn&step=30", LAST_OP, ["#inspect"]),
    ("?program=weights&step=0", "document.querySelector('#code [data-what]').click()", [".callout"]),
    ("", "", [".front-bar", "#gallery"]),
]  # fmt: skip
"""The address, what is done there first, and the panels whose controls are pressed."""


def press_all(view: View, panel: str) -> Iterator[list[str]]:
    """Presses each control of a panel, a switch twice; what moved of the panel each time."""
    done: list[str] = []
    while one := view.js(f"steadily.hold({panel!r}, {done})"):
        done.append(one["name"])
        view.page.mouse.click(*one["at"])
        moved = view.js("steadily.moved()")
        if view.js("steadily.toggled()"):
            view.page.mouse.click(*one["at"])
            moved += view.js("steadily.moved()")
        if view.js("steadily.inTheWay()") and panel != ".callout":
            view.page.keyboard.press("Escape")
            view.js("steadily.steady()")
        yield [f"{panel}: {one['name']}: {what}" for what in moved]


def test_nothing_moves_under_the_pointer(view: View) -> None:
    """Left out are controls that lead elsewhere, reorder a list or bring an error, and those that are used up."""
    view.page.set_viewport_size({"width": 1280, "height": 800})
    found: list[str] = []
    pressed = 0
    for query, first, panels in SCREENS:
        view.open(query)
        view.page.evaluate(f"({PROBE})()")
        if query:
            view.js(RIGHT)
        if first == "commands":
            view.tab("Commands")
        elif first:
            view.js(first)
        for panel in panels:
            view.until(f"steadily.offers({panel!r})")  # some of them come from the server
            view.js("steadily.steady()")
            moved = list(press_all(view, panel))
            assert moved, f"{query}: nothing to press in {panel}"
            pressed += len(moved)
            found += chain.from_iterable(moved)
    assert found == []
    assert pressed > 60
