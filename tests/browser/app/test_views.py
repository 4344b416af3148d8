"""Addresses, layouts, folds, files and recordings: every way to a view, and back to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import engine
import viz
from tests.browser.conftest import App, View, recording
from viz.layout.choice import NAMES
from viz.server.server import RunningServer

WEIGHTS = "?program=weights"
FOLDED = "backstep.scene().groups.filter(g => g.folded).length"
CHAIN = """
import engine as torch

x = torch.ones(3, requires_grad=True)
y = x
for _ in range(200):
    y = y * 1.01
y.sum().backward()
"""
WIDE = """
import engine as torch

x = torch.ones(20, 30, requires_grad=True)
y = x * 2
y.sum().backward()
"""


def menu(view: View, opener: str, item: str) -> None:
    view.page.get_by_label(opener).click()
    view.page.locator(item).click()


def test_folds_stand_in_the_address_and_come_back_with_it(view: View) -> None:
    view.open("?program=forgotten_zero")
    assert view.js(FOLDED) == 0
    menu(view, "How the graph is laid out", '[data-act="fold-all"]')
    view.until(f"{FOLDED} > 0 && location.search.includes('folds=')")
    folded = view.js(FOLDED)
    view.page.reload()
    view.ready()
    assert view.js(FOLDED) == folded
    group = view.js("backstep.scene().nodes.find(n => n.kind === 'group').id")
    view.js(f"backstep.fold({group!r})")
    view.until(f"{FOLDED} < {folded}")
    view.page.go_back()
    view.until(f"{FOLDED} === {folded}")


def test_each_layout_of_the_menu_places_every_node_apart(view: View) -> None:
    view.open("?program=three_inputs")
    for name in reversed(NAMES):  # the first one is there already
        menu(view, "How the graph is laid out", f"#layout-{name}")
        view.until(f"backstep.scene().layout === {name!r} && !document.documentElement.dataset.computing")
        boxes = view.js("backstep.scene().nodes.map(n => [n.x - n.w / 2, n.y - n.h / 2, n.x + n.w / 2, n.y + n.h / 2])")
        for i, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[:i]:
                assert left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1], name
        if name != "layered":
            assert f"layout={name}" in view.js("location.search")
        view.page.get_by_label("How the graph is laid out").click()
        view.page.wait_for_selector("[role=menuitemradio][aria-checked=true]")
        ticked = view.js("[...document.querySelectorAll('[aria-checked=true]')].map(item => item.dataset.value)")
        assert ticked == [name] and view.page.locator("[role=menuitemradio]").count() == len(NAMES)
        view.page.keyboard.press("Escape")


def test_layout_that_would_take_too_long_is_refused_in_words(shown: Callable[[Path], View], tmp_path: Path) -> None:
    view = shown(recording(tmp_path / "chain.py", CHAIN))
    menu(view, "How the graph is laid out", '[data-act="unfold-all"]')
    view.until("backstep.scene().nodes.length > 130 && !document.documentElement.dataset.computing")
    menu(view, "How the graph is laid out", "#layout-kamada_kawai")
    view.until("document.getElementById('toast').textContent.includes('offered up to')")
    assert view.js("backstep.scene().layout").startswith("layered")


def test_recording_is_shown_and_the_gallery_stands_beside_it(view_of: Callable[[App], View]) -> None:
    with engine.record() as trace:
        w = engine.tensor([1.0, 2.0], requires_grad=True)
        (w * w).sum().backward()
    running = viz.show(trace, "my lesson", browser=False, block=False)
    assert isinstance(running, RunningServer)
    try:
        shown = App.__new__(App)
        shown.address, shown.origin = running.url, running.url.split("/?")[0]
        view = view_of(shown)
        view.open("?" + running.url.split("/?")[1])
        view.end()
        assert view.row("w", "grad") == [2, 4]
        view.page.locator("#crumbs a").click()
        view.page.wait_for_selector('#gallery .card[data-program="weights"] >> visible=true')
        assert view.page.locator('#gallery .card[data-program="my-my-lesson"]').count() == 1
    finally:
        running.close()


def test_note_that_was_hidden_stays_hidden_while_the_graph_is_used(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    files = [recording(tmp_path / f"{name}.py", WIDE) for name in ("one", "other")]
    app = start("open", *map(str, files))
    view = view_of(app)
    view.open("?" + app.address.split("/?")[1])
    note = view.page.locator("#doubt")
    assert note.inner_text().startswith("Opened together with: other")
    note.get_by_label("Hide this note").click()
    before = view.js("backstep.scene().layout")
    menu(view, "How the graph is laid out", "#layout-multipartite")
    view.until(f"backstep.scene().layout !== {before!r} && !document.documentElement.dataset.computing")
    assert not note.is_visible()
    note_of = "[...document.querySelectorAll('#doubt a')].map(a => a.search)"
    view.open(view.js(note_of)[0])
    view.until("!document.getElementById('doubt').hidden")


def test_back_and_forward_go_through_programs(view: View) -> None:
    view.open()
    for name in ("weights", "accumulation"):
        view.page.locator(f'#gallery .card[data-program="{name}"]').click()
        view.until(f"window.backstep.scene()?.program.id === {name!r} && location.search.includes({name!r})")
        view.ready()
        if name == "weights":
            view.page.locator("#crumbs a").click()
            view.page.wait_for_selector("#gallery .card >> visible=true")
    view.page.go_back()
    view.page.wait_for_selector("#gallery .card >> visible=true")
    view.page.go_back()
    view.until(
        "document.documentElement.dataset.page === 'player' && window.backstep.scene()?.program.id === 'weights'"
    )
    view.ready()
    assert view.page.locator("#crumbs h1").inner_text().startswith("What do the weights")
    view.page.go_forward()
    view.page.wait_for_selector("#gallery .card >> visible=true")
    view.page.go_forward()
    view.until(
        "document.documentElement.dataset.page === 'player' && window.backstep.scene()?.program.id === 'accumulation'"
    )


def test_long_edits_stand_in_the_address_as_the_id_of_their_revision(
    shown: Callable[[Path], View], tmp_path: Path
) -> None:
    view = shown(recording(tmp_path / "wide.py", WIDE))
    base = view.revision()
    leaf = view.node("x")[1:]
    view.js(f"backstep.edit({{ leaf: {leaf!r}, values: Array.from({{ length: 20 }}, () => Array(30).fill(0.123)) }})")
    view.changed(base)
    edited = view.revision()
    view.until(f"location.search.includes('revision={edited}') && !location.search.includes('edits=')")
    assert len(view.js("location.search")) < 300
    view.page.reload()
    view.ready()
    assert view.revision() == edited
    view.end()
    assert view.js("backstep.scene().nodes.find(n => n.label === 'y').shape") == [20, 30]
    view.open(f"?program={view.js('backstep.scene().program.id')}&revision={edited[::-1]}")
    assert "no longer known" in view.page.locator("#notice").inner_text()


def test_gallery_is_searched_and_opened_by_keyboard(view: View) -> None:
    view.open()
    view.until("document.activeElement.id === 'gallery-search'")
    view.page.keyboard.type("jacobian")
    view.until("document.querySelector('#gallery-found:not([hidden]) .card mark')")
    view.page.keyboard.press("ArrowDown")
    view.until("document.activeElement.matches('#gallery-found .card')")
    assert "jacobian" in view.js("document.activeElement.querySelector('.card-why').textContent").lower()
    name = view.js("document.activeElement.dataset.program")
    view.page.keyboard.press("Enter")
    view.until(f"window.backstep.scene()?.program.id === {name!r}")


def test_panel_slides_over_at_1024_and_goes_with_escape(view: View) -> None:
    view.page.set_viewport_size({"width": 1024, "height": 768})
    view.open(WEIGHTS)
    assert view.page.locator("#right").is_visible() is False
    stage = view.js("document.getElementById('stage').getBoundingClientRect().width")
    view.page.keyboard.press("]")
    view.page.locator("#right").wait_for(state="visible")
    box = view.js("document.getElementById('right').getBoundingClientRect().toJSON()")
    assert box["right"] <= 1024 and box["left"] > 0
    right = "document.getElementById('stage').getBoundingClientRect().right"
    view.until(f"Math.abs({right} - {box['left']}) <= 1")  # what is left of the stage is all of it
    view.page.keyboard.press("Escape")
    view.page.locator("#right").wait_for(state="hidden")
    view.until(f"document.getElementById('stage').getBoundingClientRect().width === {stage}")


def test_what_has_the_focus_is_seen_in_both_themes_and_tab_leads_through_and_out(view: View) -> None:
    view.open(f"{WEIGHTS}&theme=light")
    view.tab("Commands")
    look = """(() => { const e = document.activeElement; if (e === document.body) return null;
        const s = getComputedStyle(e), w = e.closest(".mantine-Switch-root, .mantine-Input-wrapper") || e;
        const near = [e, w, ...w.querySelectorAll("*"), e.parentElement].map((x) => getComputedStyle(x));
        const drawn = (x) => x.outlineStyle !== "none" && parseFloat(x.outlineWidth) > 0;
        const seen = near.some((x) => drawn(x) || x.boxShadow !== "none");
        return [e.id || e.getAttribute("aria-label") || e.className, seen]; })()"""
    for theme in ("light", "dark"):
        if theme == "dark":
            view.js("document.getElementById('act-theme').click()")
            view.until("document.documentElement.dataset.mantineColorScheme === 'dark'")
        stops: list[str] = []
        unseen: list[str] = []
        for _ in range(120):
            view.page.keyboard.press("Tab")
            found = view.js(look)
            if found is None:
                if len(stops) > 20:
                    break
                continue
            stops.append(found[0])
            if not found[1]:
                unseen.append(found[0])
        assert len(stops) > 20 and len(stops) < 120, "Tab goes through the page and leaves it again"
        assert unseen == [], theme
