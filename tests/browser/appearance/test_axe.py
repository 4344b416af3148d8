"""axe-core on every screen, in both themes: nothing serious or critical; and no text under 12 px."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

from tests.browser.appearance import contrast
from tests.browser.conftest import View
from tests.conftest import SHARED

pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python: pip install 'backstep[test]'")

SELECT = "backstep.select(backstep.scene().nodes.find(n => n.kind === 'op').id)"
TAB = "dash_clientside.set_props('tabs', {value: '%s'})"
# name -> (address, what is done there, what has to be there then)
SCREENS: dict[str, tuple[str, str, str]] = {
    "gallery": ("?", "", "document.querySelector('#gallery .card')"),
    "search without hits": (
        "?",
        "document.getElementById('gallery-search').focus()",
        "document.activeElement.id === 'gallery-search'",
    ),
    "search": (
        "?",
        "const field = document.getElementById('gallery-search'); field.value = 'lstm'; "
        "field.dispatchEvent(new Event('input'))",
        "document.querySelector('#gallery-found .card mark')",
    ),
    "share": (
        "?program=weights",
        "document.getElementById('act-share').click()",
        "document.querySelector('.share[open] section')",
    ),
    "program": ("?program=weights&step=4", "", "backstep.t() > 0"),
    "before the first step": ("?program=weights&step=0", "", "backstep.t() === 0"),
    "error": (
        "?program=second_backward&step=0",
        "backstep.seek(backstep.scene().steps.length)",
        "document.querySelector('#code u.err')",
    ),
    "inspector": ("?program=weights&step=4", SELECT, "document.querySelector('#inspect-body section')"),
    "through time": (
        "?program=rnn_twenty&step=80",
        "backstep.select(backstep.scene().nodes.find(n => n.label === 't = 19').id)",
        "document.querySelector('.series .bar')",
    ),
    "commands": ("?program=weights&step=4", TAB % "commands", "document.querySelector('.commands')"),
    "form of a command": (
        "?program=weights&step=4",
        TAB % "commands" + ", document.querySelector('.command:not([disabled])').click()",
        "document.querySelector('#command-form:not([hidden]) .ag-header-cell')",
    ),
    "events": (
        "?program=weights&step=4",
        TAB % "events",
        "document.querySelector('#events .ag-row .ag-cell') && document.querySelector('#events .ag-header-cell')",
    ),
    "gradient flow": (
        "?program=mini_batches&step=4",
        "document.documentElement.dataset.view === 'run' || document.getElementById('view-run').click()",
        "document.documentElement.dataset.view === 'run' && document.querySelector('#run-labels > *')",
    ),
    "lecture": ("?program=weights&present=1", "", "document.querySelector('#lecture').innerText.trim()"),
    "export menu": (
        "?program=weights",
        "document.querySelector('#act-export:not([aria-expanded=true])')?.click()",
        "document.querySelector('[role=menu]')?.checkVisibility({opacityProperty: true})",
    ),
    "help": ("?program=weights", "backstep.help()", "document.querySelector('.bs-help[open]')"),
    "legend": (
        "?program=weights",
        "document.querySelector('.bs-legend-more').click()",
        "document.querySelector('#bs-signs:not([hidden])')",
    ),
    "explanation": (
        "?program=weights",
        "backstep.emit('explain')",
        "document.querySelector('.explains:not([hidden])')",
    ),
    "search in the graph": (
        "?program=weights",
        "document.querySelector('[data-tool=search]').click()",
        "document.querySelector('.bs-find-note button')",
    ),
    "found in the graph": (
        "?program=log_of_softmax",
        "document.querySelector('[data-tool=search]').click(), "
        "[...document.querySelectorAll('.bs-find-note button')].at(-1).click()",
        "document.querySelector('.bs-found li em')",
    ),
    "tour": ("?program=weights", "backstep.emit('tour')", "document.querySelector('.tour:not([hidden])')"),
    "unknown revision": ("?program=weights&revision=nothing", "", "document.getElementById('notice').textContent"),
    "unknown program": ("?program=nothing", "", "document.getElementById('notice').textContent"),
    "damaged address": ("?program=weights&edits=nothing", "", "document.getElementById('notice').textContent"),
}
READY = "document.documentElement.dataset.ready"
HOME = "(document.documentElement.dataset.page === 'gallery' && document.documentElement.dataset.app)"
AXE = """options => axe.run(document, {...options, resultTypes: ['violations']}).then(found => found.violations
  .filter(one => one.impact === 'serious' || one.impact === 'critical')
  .map(one => [one.id, one.nodes.slice(0, 3).map(node => node.html.slice(0, 160))]))"""
COLOURS = {"runOnly": ["color-contrast"]}
"""The rules that depend on the theme; the others are about the document, which is the same in both."""
SMALL = """() => {
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest('script, style, .unseen, .typesetting, .bs-hidden, mjx-container')) continue;
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (size < 12) found.add(`${size}px: ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return [...found];
}"""


@pytest.fixture(scope="module")
def script() -> str:
    assert version("axe-playwright-python") == "0.1.8", "pinned in pyproject.toml: it carries axe-core 4.12.1"
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


@pytest.fixture
def known(request: pytest.FixtureRequest) -> Iterator[set[str]]:
    """The looks of the controls on all screens so far, including those that other processes have visited."""
    folder = Path(os.environ[SHARED], "controls")
    folder.mkdir(exist_ok=True)
    before = {look for file in folder.glob("*.json") for look in json.loads(file.read_text("utf-8"))}
    looks = set(before)
    yield looks
    file = folder / request.node.name
    file.write_text(json.dumps(sorted(looks - before)), "utf-8")
    file.rename(file.with_suffix(".json"))  # it is whole when it has this name


@pytest.mark.parametrize("screen", list(SCREENS))
def test_screen_has_nothing_serious_or_critical(view: View, script: str, known: set[str], screen: str) -> None:
    address, act, there = SCREENS[screen]
    view.page.goto(f"{view.app.origin}/{address}&theme=light")
    view.until(f"{READY} || document.getElementById('notice').textContent || {HOME}")
    if act:
        view.js(f"{{ {act} }}")
    view.until(there)
    if screen == "search without hits":
        view.page.keyboard.type("zzz")
        view.until("document.querySelector('#gallery-found:not([hidden]) .card-picture[data-drawn]')")
    view.js(script)  # through the debugger: the page's own policy lets no foreign script in
    found = [view.page.evaluate(AXE, {}), contrast.poor(view, known)]
    view.js("document.getElementById('act-theme').click()")
    view.until("document.documentElement.dataset.mantineColorScheme === 'dark'")
    if not view.js(f"Boolean({there})"):
        view.js(f"{{ {act} }}")  # an explanation closes on a click beside it
    view.until(there)
    found += [view.page.evaluate(AXE, COLOURS), contrast.poor(view, known)]
    assert found == [[], [], [], []] and view.js(SMALL) == []
