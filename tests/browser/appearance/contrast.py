"""Whether all that can be pressed is read in each state: found by what it is, so that a new button is asked too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.browser.conftest import View

SCRIPT = Path(__file__).with_name("contrast.js").read_text("utf-8")
FORCED: dict[str, list[str]] = {
    "": [],
    "hover": ["hover"],
    "focus": ["focus", "focus-visible"],
    "active": ["hover", "active"],
}
"""States in which the browser is told to show what a pointer and the keys would bring about."""


def poor(view: View, known: set[str]) -> list[str]:
    """The elements with too little contrast on the present screen, each with its state.

    What looks like something in `known`, which was on an earlier screen, is not asked again; the others are added.
    """
    view.js(SCRIPT)  # through the debugger, which the page's policy lets in
    known.update(view.js(f"contrast.controls({json.dumps(sorted(known))})"))
    assert known
    devtools = view.page.context.new_cdp_session(view.page)
    devtools.send("DOM.enable")
    devtools.send("CSS.enable")
    root = devtools.send("DOM.getDocument")["root"]["nodeId"]
    nodes = devtools.send("DOM.querySelectorAll", {"nodeId": root, "selector": "[data-probe]"})["nodeIds"]
    found = set()
    for name, classes in FORCED.items():
        for node in nodes if classes else ():  # without any they are as they came
            devtools.send("CSS.forcePseudoState", {"nodeId": node, "forcedPseudoClasses": classes})
        found |= set(_named(view, name))
    devtools.detach()
    return sorted(found)


def _named(view: View, name: str) -> Iterator[str]:
    for state in view.js("contrast.states"):
        for one in view.js(f"contrast.poor({state!r})"):
            yield f"{name} {state}: {one}".strip()
