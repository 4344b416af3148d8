"""The story: text first, then Space, then one short move; where the first program opens."""

from __future__ import annotations

from tests.browser.conftest import View

STAGE = "document.querySelector('#story .over .fitting').textContent.split(' · ')[1]"
TITLE = "document.querySelector('#story h1').textContent"


def ends(view: View) -> list[int]:
    return [int(one) for one in view.js("backstep.scene().program.chapters.map(c => c.step)")]


def title(view: View, chapter: int) -> None:
    """Waits until this chapter is the one that is read."""
    view.until(f"{TITLE} === backstep.scene().program.chapters[{chapter}].title")


def test_way_in_of_the_gallery_leads_to_the_beginning_and_the_first_space_to_a_gradient(view: View) -> None:
    view.open()
    view.page.locator("a.start[data-start]").click()
    view.until("window.backstep.scene()?.program.id === 'weights'")
    view.ready()
    title(view, 0)
    assert view.js("backstep.t()") == 0 and "step=" not in view.js("location.search")
    view.js("backstep.speed(4)")
    view.page.keyboard.press("Space")
    view.until(f"backstep.t() === {ends(view)[0]} && !backstep.playing()")
    assert view.row("z", "seed") == [1, 0, 0, 0] and view.row("x", "grad") == [2, 0, 0, 0]


def test_space_tells_the_chapters_one_by_one(view: View) -> None:
    view.open("?program=weights&step=0")
    view.js("backstep.speed(4)")
    for chapter, end in enumerate(ends(view)):
        title(view, chapter)
        assert view.js("backstep.t()") < end, "the text stands there before its move"
        view.until(f"{STAGE} === 'about to happen'")
        view.page.keyboard.press("Space")
        view.until(f"backstep.t() === {end} && !backstep.playing()")
        title(view, chapter)
        view.until(f"{STAGE} === 'has happened'")
        view.until("backstep.selection() !== null")
        if chapter + 1 < len(ends(view)):
            view.page.keyboard.press("Space")
    view.page.keyboard.press("Space")  # all is said: Space is the player's again
    view.until("backstep.playing()")


def test_chapter_follows_whoever_steps_freely_and_its_arrows_lead_to_the_time_before_a_move(view: View) -> None:
    view.open("?program=weights&step=0")
    chapters = ends(view)
    for step in range(view.js("backstep.scene().steps.length") + 1):
        view.seek(step)
        title(view, next((i for i, end in enumerate(chapters) if end >= step), len(chapters) - 1))

    for time, said in ((chapters[0] - 0.5, "happening"), (chapters[0], "has happened")):
        view.seek(time)
        view.until(f"{STAGE} === {said!r}")

    view.seek(4)
    title(view, 0)
    turn = view.page.get_by_role("button", name="Next chapter")
    turn.click()
    title(view, 1)
    turn.click()
    title(view, 2)
    assert view.js("backstep.t()") == chapters[1]
    assert view.js("document.activeElement.getAttribute('aria-label')") == "Next chapter"
    view.page.get_by_role("button", name="Previous chapter").click()
    title(view, 1)
    assert view.js("backstep.t()") == chapters[0]
    view.page.get_by_role("button", name="watch again").wait_for(state="hidden")


def test_move_of_a_chapter_jumps_with_reduced_motion_else_glides_and_asks_for_no_more_than_details(view: View) -> None:
    between = "backstep.on('time', t => { window.between ||= t % 1 > 0.01; })"

    for motion, glides in (("reduce", False), ("no-preference", True)):
        view.page.emulate_media(reduced_motion=motion)
        view.open("?program=weights&step=0")
        view.js(f"window.between = false, {between}, backstep.speed(4)")
        before = view.js("backstep.serverCalls()")
        view.page.keyboard.press("Space")
        view.until(f"backstep.t() === {ends(view)[0]} && !backstep.playing()")
        assert view.js("window.between") is glides
        view.until("document.querySelector('#inspect-body section')")
        assert view.js("backstep.serverCalls()") - before <= 1, "the details of what it selects"


def test_formula_arithmetic_and_marks_of_the_code_are_explained_without_a_click_or_the_server(view: View) -> None:
    view.open("?program=weights&step=0")
    before = view.js("backstep.serverCalls()")
    view.seek(3)
    text = view.page.locator("#inspect").inner_text()
    assert "MulBackward0" in text and "upstream" in text and "local" in text and "to x" in text
    view.until("document.querySelector('#inspect-formula-now').textContent.includes('2')")
    view.until("document.querySelector('#inspect-formula-now mjx-container')")
    view.seek(4)
    assert "ledger of .grad" in view.page.locator("#inspect").inner_text()
    for step, words in (
        (1, "computed now"),
        (3, "VJP of this expression"),
        (4, "receives its gradient"),
        (5, "written now"),
    ):
        view.seek(step)
        assert words in view.page.locator("#code-key").inner_text()
    view.seek(4)
    assert view.page.locator("#code li.call").count() == 2
    assert "called in line 7" in view.page.locator("#code-key").inner_text()
    assert view.js("backstep.serverCalls()") == before


def test_a_chapter_unfolds_the_rounds_whose_losses_it_names(view: View) -> None:
    view.open("?program=training_loop&step=32")
    title(view, 4)
    view.page.keyboard.press("Space")
    view.until("backstep.scene().nodes.filter(n => n.label === 'loss').length === 3")
    view.until("backstep.scene().nodes.find(n => n.id === backstep.selection())?.label === 'loss'")
    view.until("backstep.screenPos(backstep.selection()).visible")


def test_what_was_edited_is_no_longer_what_the_story_tells_of(view: View) -> None:
    view.open("?program=weights")
    said = "document.getElementById('story').innerText.includes('You changed the program')"
    assert not view.js(said)
    base = view.revision()
    view.seek(view.js("backstep.scene().phases.find(p => p.kind === 'backward').start"))
    view.click("z", "seed", 1, times=2)
    view.page.keyboard.type("5")
    view.page.keyboard.press("Enter")
    view.changed(base)
    view.until(said)
    edited = view.revision()
    view.page.keyboard.press("Control+z")
    view.changed(edited)
    view.until(f"!{said}")


def test_answer_to_a_question_comes_into_view_and_the_fix_leaves_the_keyboard_in_the_graph(view: View) -> None:
    view.page.set_viewport_size({"width": 1280, "height": 720})
    view.open("?program=not_scalar")
    view.js("backstep.seek(backstep.scene().steps.length)")
    view.until(
        """(() => {
          const shown = (part) => document.querySelector(`.chapter:not(.behind) ${part}`);
          const parts = ['.ask > p:last-child', '.story-acts'].map(shown);
          const [answer, acts] = parts.map((part) => part.getBoundingClientRect());
          return document.getElementById('story').scrollTop > 0 && answer.bottom <= acts.top + 1;
        })()"""
    )
    before = view.revision()
    view.page.locator("#inspect .error [data-do=fix]").press("Enter")
    view.changed(before)
    view.until("backstep.scene().error === null && document.activeElement.id === 'stage'")
    view.page.keyboard.press("Home")
    view.until("backstep.t() === 0 && document.getElementById('story').scrollTop === 0")
