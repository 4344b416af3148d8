"""The explanations of the page: the legend, the help of each panel, the tour, and the hints in empty panels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.browser.conftest import View, recording

BOX = "document.querySelector('.callout.explains')"
TOUR = "document.querySelector('.callout.tour')"
TITLES = ("The story", "The program", "The graph", "The inspector", "The commands", "The events", "The timeline")
FOCUS = "document.activeElement"


def test_legend_is_painted_by_the_painter_sign_by_sign(view: View) -> None:
    view.open("?program=weights")
    view.page.keyboard.press("k")
    view.until("!document.getElementById('bs-signs').hidden")
    pictures = view.js("[...document.querySelectorAll('#bs-signs canvas')].map(one => one.toDataURL())")
    assert len(pictures) > 20 and len(set(pictures)) == len(pictures), "two signs look the same"
    names = view.js("[...document.querySelectorAll('#bs-signs li span')].map(one => one.textContent)")
    assert all(len(name) > 8 for name in names)
    view.page.keyboard.press("Escape")
    assert view.js("document.getElementById('bs-signs').hidden")
    assert view.js(f"{FOCUS}.id") == "stage"


def test_legend_follows_the_theme_and_stays_while_one_steps(view: View) -> None:
    view.open("?program=weights&step=0")
    view.page.get_by_role("button", name="Legend").click()
    picture = "document.querySelector('[data-sign=leaf] canvas').toDataURL()"
    before = view.js(picture)
    view.page.keyboard.press("ArrowRight")
    view.until("backstep.t() === 1")
    assert not view.js("document.getElementById('bs-signs').hidden")
    view.page.get_by_label("Light or dark").click()
    view.until(f"{picture} !== {before!r}")


def test_every_panel_says_what_it_is(view: View) -> None:
    view.open("?program=weights&step=3")
    names = view.js("[...document.querySelectorAll('[data-what]')].map(one => one.dataset.what).sort()")
    assert names == ["code", "graph", "right", "story", "timeline"]
    for name in names:
        button = view.page.locator(f"[data-what={name}]")
        button.click()
        view.until(f"!{BOX}.hidden")
        text = view.js(f"{BOX}.textContent")
        assert 80 < len(text) < 420, text
        view.page.keyboard.press("Escape")
        assert view.js(f"{BOX}.hidden")
        assert view.js(f"{FOCUS}.dataset.what") == name, "the focus goes back to the button"


def test_key_leads_through_all_panels(view: View) -> None:
    view.open("?program=weights&step=3")
    view.js("document.getElementById('stage').focus()")
    seen = []
    for _ in TITLES:
        view.page.keyboard.press("i")
        seen.append(view.js(f"{BOX}.querySelector('h2').textContent"))
    start = TITLES.index("The graph")
    assert seen == [*TITLES[start:], *TITLES[:start]]
    view.page.keyboard.press("Escape")
    assert view.js(f"{FOCUS}.id") == "stage"


def test_space_goes_on_with_the_story_while_a_panel_is_explained(view: View) -> None:
    view.open("?program=weights&step=0")
    view.js("document.getElementById('stage').focus(), backstep.speed(4)")
    view.page.keyboard.press("i")
    view.until(f"!{BOX}.hidden")
    view.page.keyboard.press("Space")
    view.until(f"{BOX}.hidden && backstep.t() > 0")


def test_explanation_of_the_tabs_is_that_of_the_open_one(view: View) -> None:
    view.open("?program=weights")
    for tab in ("Inspect", "Commands", "Events"):
        view.tab(tab)
        view.page.locator("[data-what=right]").click()
        assert view.js(f"{BOX}.querySelector('h2').textContent").lower().startswith(f"the {tab.lower()[:7]}")
        view.page.keyboard.press("Escape")


def test_tour_has_six_stops_and_is_left_at_any_time(view: View) -> None:
    view.open("?program=weights")
    offered = "!document.getElementById('tour-offer').hidden"
    assert view.js(offered)
    view.page.get_by_role("button", name="Take the tour").click()
    for stop in range(1, 7):
        view.until(f"{TOUR}.textContent.includes('Stop {stop} of 6')")
        inside = view.js(
            f"(() => {{ const b = {TOUR}.getBoundingClientRect();"
            " return b.left >= 0 && b.top >= 0 && b.right <= innerWidth && b.bottom <= innerHeight; })()"
        )
        assert inside
        view.page.keyboard.press("ArrowRight")
    view.until(f"{TOUR}.hidden && document.querySelector('.spot').hidden")
    assert not view.js(offered)
    view.page.keyboard.press("t")
    view.until(f"{TOUR}.textContent.includes('Stop 1 of 6')")
    view.page.keyboard.press("Escape")
    view.until(f"{TOUR}.hidden")
    view.page.keyboard.press("ArrowRight")  # the keys are the player's again
    view.until("backstep.t() > 0")
    view.open("?program=weights")
    assert not view.js(offered), "who has seen it is not asked again"


def test_tour_is_started_again_from_the_help(view: View) -> None:
    view.open("?program=weights")
    view.page.get_by_role("button", name="No, thank you").click()
    view.page.keyboard.press("?")
    view.page.get_by_role("dialog", name="All keys").get_by_role("button", name="Take the tour").click()
    view.until(f"{TOUR}.textContent.includes('Stop 1 of 6')")
    view.page.get_by_role("button", name="Leave the tour").click()
    view.until(f"{TOUR}.hidden")


def test_tour_is_not_offered_to_who_comes_by_an_address_of_one_moment(view: View) -> None:
    view.open("?program=weights&step=4")
    assert view.js("document.getElementById('tour-offer').hidden && document.querySelector('.callout.tour').hidden")


def test_tour_begins_at_the_beginning_and_ends_where_one_was(view: View) -> None:
    view.open("?program=weights&step=4")
    view.page.keyboard.press("t")
    view.until(f"{TOUR}.textContent.includes('Stop 1 of 6') && backstep.t() === 0")
    view.page.keyboard.press("Escape")
    view.until(f"{TOUR}.hidden && backstep.t() === 4")


def test_tour_from_the_gallery_begins_in_its_first_program(view: View) -> None:
    view.open()
    view.page.get_by_role("button", name="Take the tour").click()
    view.until(f"backstep.scene()?.program.id === 'weights' && {TOUR}.textContent.includes('Stop 1 of 6')")


def test_button_that_was_clicked_does_not_keep_space_from_the_story(view: View) -> None:
    view.open("?program=weights&step=0")
    view.js("backstep.speed(4)")
    view.page.get_by_role("button", name="Next chapter").click()
    view.page.get_by_role("button", name="Previous chapter").click()
    view.tab("Commands")
    view.page.keyboard.press("Space")
    end = view.js("backstep.scene().program.chapters[0].step")
    view.until(f"backstep.t() === {end} && !backstep.playing()")
    view.page.get_by_role("button", name="Next chapter").focus()
    view.page.keyboard.press("Shift+Tab")
    view.page.keyboard.press("Tab")
    view.page.keyboard.press("Space")  # reached by the keyboard it is pressed
    view.until("document.querySelector('#story h1').textContent === backstep.scene().program.chapters[1].title")
    assert view.js("backstep.t()") == end


def test_program_without_chapters_plays_and_pauses_on_space(shown: Callable[..., View], tmp_path: Path) -> None:
    source = "import engine as torch\nx = torch.ones(3, requires_grad=True)\nx.sum().backward()\n"
    view = shown(recording(tmp_path / "lesson.py", source))
    view.seek(0)
    view.page.keyboard.press("Space")
    view.until("backstep.playing()")
    view.page.keyboard.press("Space")
    view.until("!backstep.playing()")


def test_empty_places_teach(view: View) -> None:
    view.open("?program=second_backward&step=0")
    text = view.page.locator("#inspect").inner_text()
    assert "Nothing is selected" in text and "Space" in text
    view.click("x")
    view.until("document.querySelector('#inspect-body section')")
    assert "no gradient has arrived" in view.page.locator("#inspect").inner_text()
    view.tab("Events")
    view.page.get_by_label("Filter the events").fill("zzz")
    view.until("document.getElementById('events-note').textContent.includes('zzz')")
    assert "No step contains" in view.page.locator("#events-note").inner_text()
    view.open()
    view.page.get_by_label("Search the gallery").fill("zzz")
    view.page.get_by_text("No program says this").wait_for()


def test_term_of_a_formula_lights_its_tensor(view: View) -> None:
    view.open("?program=matrix_product&step=0")
    view.seek(view.js("backstep.scene().steps.findIndex(step => step.name === 'MmBackward0')") + 1)
    view.until("document.querySelector('#inspect-formula-now mjx-container [data-term]')")
    drawn = view.page.locator("#inspect-formula-now [data-term]")
    assert drawn.count() == 3
    for place, label in enumerate(("x", "out", "a")):
        drawn.nth(place).hover()
        assert view.state()["lit"] == view.node(label)
    view.page.mouse.move(700, 300)
    view.until("backstep.state().lit === null")
    view.page.locator("#inspect-terms").get_by_role("button", name="gradient of out").focus()  # and by the keyboard
    assert view.state()["lit"] == view.node("out")
    before = view.js("backstep.serverCalls()")
    view.page.keyboard.press("Escape")
    assert view.js("backstep.serverCalls()") == before


def test_live_region_says_the_sentence_of_the_step(view: View) -> None:
    view.open("?program=infinity&step=0")
    for step, said in enumerate(view.js("backstep.scene().steps.map(step => step.say)"), 1):
        view.seek(step)
        view.until("document.getElementById('live').textContent === document.querySelector('.bs-say').innerText.trim()")
        assert said.replace("-inf", "\N{MINUS SIGN}inf") in view.js("document.getElementById('live').textContent")
