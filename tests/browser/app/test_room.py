"""Little room: a window zoomed to 200 %, long names, and recordings without a source."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import engine
from tests.browser.conftest import View, opened

SMALL = "import engine as torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = (x * x).sum()\ny.backward()\n"
CUT = """[...document.querySelectorAll('#crumbs h1, #live-bar, #top button, #left h1, #left .fitting > span')]
    .filter(e => e.offsetParent && e.clientWidth && e.scrollWidth > e.clientWidth + 1)
    .filter(e => !e.matches('.fitting > :not(:first-child)') || e.offsetTop === e.previousSibling.offsetTop)
    .map(e => e.textContent)"""
"""The elements that are cut off. The part of a heading that does not fit its line is wrapped below it, out of sight."""


def sized(view: View, width: int, height: int) -> None:
    view.page.set_viewport_size({"width": width, "height": height})


def test_titles_of_the_bar_and_of_the_left_panel_are_never_cut(view: View) -> None:
    first, *others = ("second_backward", "inner_adds_up_fixed", "training_loop")
    view.open(f"?program={first}")
    for program in (first, *others):
        if program != first:
            opened(view, program)
        for width, height in ((1280, 720), (1440, 900), (1920, 1080)):
            sized(view, width, height)
            # The bar settles as soon as its parts have their new widths.
            view.until(f"innerWidth === {width} && {CUT}.length === 0")


def test_the_move_of_a_chapter_and_its_button_are_in_sight_however_tall_the_story_is(view: View) -> None:
    below = """[...document.querySelectorAll('#story .chapter:not(.behind) .story-acts > *')].filter(one =>
        one.getBoundingClientRect().bottom > document.getElementById('story').getBoundingClientRect().bottom - 8)"""
    sized(view, 1280, 720)
    view.open("?program=weights")
    for program in ("weights", "added_up", "data_edit"):
        if program != "weights":
            opened(view, program)
        assert view.js("document.querySelector('#story .chapter:not(.behind) .story-hint').offsetHeight") > 0
        assert view.js(f"{below}.length") == 0


def test_the_program_keeps_the_name_of_its_file_where_the_word_before_it_has_no_room(view: View) -> None:
    seen = """[...document.querySelectorAll('#code h2 span')].filter(one => {
        const [box, line] = [one.getBoundingClientRect(), one.parentElement.getBoundingClientRect()];
        return box.top >= line.top - 1 && box.bottom <= line.bottom + 1 && one.scrollWidth <= one.clientWidth + 1;
    }).map(one => one.textContent)"""
    sized(view, 1280, 720)
    view.open("?program=grad_of_other_size_fixed")
    assert view.js(seen) == ["grad_of_other_size_fixed.py"]
    opened(view, "weights")
    assert view.js(seen) == ["Program · ", "weights.py"]


def test_the_legend_has_what_is_to_come_and_stays_one_line_or_is_its_button_alone(view: View) -> None:
    sized(view, 1280, 720)
    view.open("?program=weights&step=0")
    for width, height in ((1280, 720), (1440, 900)):
        sized(view, width, height)
        view.until(STRIP)
        assert view.page.locator(".bs-legend li").first.inner_text() == "to come"
        assert view.js("document.querySelector('.bs-legend ul').offsetHeight") < 30

    # While the graph is not seen whole, it is its button alone, which stays where it is.
    view.seek(3)
    view.until(STRIP)
    button = view.js(BUTTON)
    for _ in range(6):
        view.page.keyboard.press("+")
    view.until(f"!({STRIP}) && {MINIMAP}")
    assert view.js(BUTTON) == button
    view.page.keyboard.press("k")
    view.until("!document.querySelector('.bs-signs').hidden")
    view.page.keyboard.press("k")
    view.page.keyboard.press("0")
    view.until(f"{STRIP} && !({MINIMAP})")
    assert view.js(BUTTON) == button


STRIP = "document.querySelector('.bs-legend ul').offsetHeight > 0"
MINIMAP = "!document.querySelector('.bs-minimap').hidden"
BUTTON = "(r => [r.x, r.y, r.width, r.height])(document.querySelector('.bs-legend-more').getBoundingClientRect())"


def test_small_stage_has_the_legend_as_a_button_and_no_minimap_until_it_grows(view: View) -> None:
    view.open("?program=weights")
    for program, shown in (("weights", f"{STRIP} && !({MINIMAP})"), ("training_loop", f"!({STRIP}) && {MINIMAP}")):
        opened(view, program)
        sized(view, 1280, 720)
        view.until(shown)
        for width, height in ((720, 450), (640, 360)):
            sized(view, width, height)
            view.until(f"!({STRIP}) && !({MINIMAP})")
            assert view.page.get_by_role("button", name="Legend", exact=True).is_visible()
        sized(view, 1280, 720)
        view.until(shown)


COVERED = """async () => {
    const { steps, edges } = backstep.scene();
    const frame = () => new Promise(requestAnimationFrame);
    const place = box => [box.x - box.width / 2, box.y - box.height / 2, box.x + box.width / 2, box.y + box.height / 2];
    const rect = element => (r => [r.left, r.top, r.right, r.bottom])(element.getBoundingClientRect());
    const meet = (a, b) => a[0] < b[2] - 1 && b[0] < a[2] - 1 && a[1] < b[3] - 1 && b[1] < a[3] - 1;
    const found = [];
    for (let k = 0; k < steps.length; k += 1) {
        backstep.seek(k + 1);
        await frame();
        await frame();
        const ways = steps[k].flows.map(flow => edges.find(edge => edge.id === flow.edge));
        const bars = ['.bs-tools', '.bs-legend', '.bs-minimap'].map(bar => [bar, rect(document.querySelector(bar))]);
        for (const id of new Set([steps[k].at, ...ways.flatMap(edge => [edge.source, edge.target])])) {
            const box = backstep.screenPos(id);
            for (const [bar, over] of bars) if (box && meet(place(box), over)) found.push([k + 1, bar, id]);
        }
    }
    return found;
}"""


def test_nothing_on_the_page_lies_over_what_a_step_is_about(view: View) -> None:
    """test_picture_laws.py has it of every program, at all widths, by the sizes in overlays.mjs; here is the page."""
    sized(view, 1280, 720)
    view.open("?program=graph_in_grad&step=0")
    for program in ("graph_in_grad", "two_layers", "once"):
        opened(view, program)
        assert view.js(COVERED) == [], program
        assert view.js(MINIMAP)
        assert view.js("document.querySelector('.bs-legend').offsetWidth < 90")


def test_recording_of_a_program_without_a_file_is_opened_and_played(
    shown: Callable[[Path], View], tmp_path: Path
) -> None:
    with engine.record() as trace:
        exec(compile(SMALL, "<string>", "exec"), {})  # as `python -c` has it
    trace.save(str(tmp_path / "no_file.backstep"))
    view = shown(tmp_path / "no_file.backstep")
    assert "no_file.backstep" in view.page.locator("#crumbs").inner_text()
    assert "was not recorded" in view.page.locator("#code").inner_text()
    view.end()
    view.until("document.querySelector('.bs-say').textContent.includes('receives')")


WHOLE = """[...document.querySelectorAll('#code > .over, #code > .code-key')].every(one => {
    const [box, pane] = [one, document.getElementById('code')].map(e => e.getBoundingClientRect());
    return box.height > 0 && box.top >= pane.top - 1 && box.bottom <= pane.bottom + 1; })"""
LINE = """selector => [...document.querySelectorAll(selector)].every(line => {
    const [box, pane] = [line, document.querySelector('#code .lines')].map(e => e.getBoundingClientRect());
    return box.top >= pane.top - 1 && box.bottom <= pane.bottom + 1; })"""


def test_heading_and_key_of_the_program_stay_and_the_lines_of_the_step_are_in_view(view: View) -> None:
    sized(view, 1280, 720)
    view.open("?program=weights")
    for program in ("retain_constant", "forgotten_zero", "broadcast_loss", "rnn_twenty", "weights"):
        opened(view, program)
        assert view.js(WHOLE), f"{program} at rest"
        steps = view.js("backstep.scene().steps.map(step => step.kind)")
        for step in {*range(0, len(steps), max(len(steps) // 12, 1)), len(steps) - 1}:
            view.seek(step + 1)
            view.until(WHOLE)
            call = steps[step] == "accumulate"
            view.until(f"({LINE})({'#code li.call' if call else '#code li.on'!r})")

    # At rest the line that errs is in view where all that runs has room.
    for program in ("row_of_weights", "item_loss", "carried_state"):
        opened(view, program)
        last = view.js("(s => (s.from ?? s.code).end)(backstep.scene().steps.find(s => s.kind === 'error'))")
        view.until(f"({LINE})('#code li[data-line=\"{last}\"]')")
        first = view.js("backstep.scene().steps[0].code.line")
        view.until(f"({LINE})('#code li[data-line=\"{first}\"]')")
        view.until("document.querySelector('#code .lines').classList.contains('down')")  # set when it has scrolled


def test_what_a_long_ledger_comes_to_stays_in_sight(view: View) -> None:
    view.open("?program=rnn_twenty")
    view.end()
    for key in ("Shift+ArrowLeft", "Shift+ArrowRight"):  # the last op, and not the last round
        view.page.keyboard.press(key)
    rows = "document.querySelectorAll('#inspect button.sum-line:not(.earlier)').length"
    view.until(f"{rows} === 5")  # of two lines each: the latest, and a line that says how many came before
    earlier = view.page.locator("#inspect .sum-line.earlier")
    assert re.match(r"… \d+ earlier", earlier.inner_text())
    hidden = int(earlier.inner_text().split()[1])
    earlier.focus()
    view.page.keyboard.press("Enter")
    view.until(f"{rows} === 5 + {hidden} && !document.querySelector('#inspect .earlier')")
    assert view.js("document.activeElement === document.querySelector('#inspect button.sum-line')")
    assert view.js(
        "(([now, panel]) => now.bottom <= panel.bottom + 1 && now.top > panel.top)("
        "['#inspect .sum-line.total', '#right'].map(place => document.querySelector(place).getBoundingClientRect()))"
    )


def test_phone_has_the_graph_above_the_words_and_everything_within_reach(view: View) -> None:
    sized(view, 390, 844)
    parts = "#timeline button, #timeline select, .bs-tools button, .bs-lane, #code, #story"
    outside = f"""[...document.querySelectorAll('{parts}')]
        .filter(one => one.checkVisibility()).filter(one => {{
            const box = one.getBoundingClientRect();
            return box.left < 0 || box.right > innerWidth || box.width < 24;
        }}).map(one => one.id || one.className)"""
    for program in ("second_backward", "mini_batches"):  # a lane, and a chart
        view.open(f"?program={program}&step=2")
        if view.js("document.documentElement.dataset.view") == "run":
            view.page.locator("#view-graph").click()
        view.until(f"document.querySelector('.bs-lane').clientWidth > 300 && {outside}.length === 0")
        assert view.js("document.getElementById('stage').clientWidth") == 390
        assert view.js("(legend => legend.scrollWidth <= legend.clientWidth)(document.querySelector('.bs-legend'))")
        view.page.locator("#act-panel").focus()
        view.until("document.getElementById('act-panel').getBoundingClientRect().right <= innerWidth")
        view.page.keyboard.press("Enter")
        view.until("document.documentElement.dataset.right === 'open'")
    view.page.locator("#act-panel").click()
    view.page.locator("#act-left").click()
    view.until("document.getElementById('stage').clientHeight > 500")
    opened(view, "weights")
    for step in range(view.js("backstep.scene().steps.length")):
        view.seek(step + 1)
        assert view.js("(say => say.scrollHeight <= say.clientHeight + 2)(document.querySelector('.bs-say'))"), step


def test_phone_has_a_bar_that_does_not_scroll_and_a_picture_whose_numbers_are_read(view: View) -> None:
    sized(view, 390, 844)
    bar = "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.getElementById('top'))"
    for query in ("?program=weights", "?program=training_loop", "?program=training_loop&view=graph"):
        view.open(query)
        view.until(f"document.querySelector('#crumbs h1') && {bar}")
        assert view.js("document.getElementById('act-panel').getBoundingClientRect().right") <= 390
    view.open("")
    cell = "document.querySelector('.hero-cell:not([hidden])').getBoundingClientRect()"
    view.until(f"{cell}.width > 20")  # of a graph that is shown whole it is half as wide, without its number


def test_tabs_of_a_run_stand_before_the_title_and_are_there_before_the_first_scene(view: View) -> None:
    sized(view, 1280, 720)
    view.page.route("**/scene*", lambda route: None)  # no answer comes
    view.page.goto(f"{view.app.origin}/?program=training_loop&view=run")
    tabs = "document.getElementById('views')"
    view.until(
        f"document.documentElement.dataset.view === 'run' && {tabs}.checkVisibility({{ visibilityProperty: true }})"
    )
    left = view.js(f"{tabs}.getBoundingClientRect().left")
    view.page.unroute("**/scene*")
    view.open("?program=training_loop&view=run")
    assert view.js(f"{tabs}.getBoundingClientRect().left") == left


def test_buttons_of_the_bar_stay_where_they_are_and_do_nothing_while_a_scene_is_awaited(view: View) -> None:
    sized(view, 1280, 720)
    waiting: list[Callable[[], None]] = []
    view.page.route("**/scene", lambda route: waiting.append(route.continue_))
    places = """['layout-menu', 'share', 'export'].map((name) => {
      const button = document.getElementById(`act-${name}`);
      const { left, width } = button.getBoundingClientRect();
      return [left, width, button.checkVisibility({ visibilityProperty: true }), Boolean(button.closest('[inert]'))];
    })"""
    blank = "document.documentElement.dataset.blank"
    view.page.goto(f"{view.app.origin}/?program=weights")
    view.until(f"{blank} && {places}.every(([, width, isThere, isInert]) => width && isThere && isInert)")
    before = view.js(places)
    for go_on in waiting:
        go_on()
    view.page.unroute("**/scene")
    view.ready()
    assert view.js(places) == [[left, width, True, False] for left, width, *_ in before]


def test_list_of_all_keys_fits_a_projector(view: View) -> None:
    sized(view, 1280, 720)
    view.open("?program=weights")
    view.page.keyboard.press("?")
    view.until("document.querySelector('.bs-help[open]')")
    assert view.js(
        "(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(document.querySelector('.bs-help'))"
    )


def test_graph_is_seen_whole_again_when_the_panel_that_came_with_an_error_has_gone(view: View) -> None:
    sized(view, 1280, 720)
    view.open("?program=not_scalar")
    camera = "JSON.stringify(backstep.state().camera)"
    before = view.js(camera)
    view.page.keyboard.press("End")
    view.until(f"document.documentElement.dataset.right === 'open' && {camera} !== {json.dumps(before)}")
    view.page.keyboard.press("]")
    view.until(f"document.documentElement.dataset.right === 'closed' && {camera} === {json.dumps(before)}")


def test_low_window_has_all_of_a_menu_and_a_lecture_with_its_graph(view: View) -> None:
    sized(view, 640, 400)  # 1280 x 800 at 200 %
    view.open("?program=weights")
    view.page.locator("#act-export").click()
    last = view.page.get_by_role("menuitem").last
    last.scroll_into_view_if_needed()
    box = last.bounding_box()
    assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 400
    view.page.keyboard.press("Escape")
    view.open("?program=weights&present=1")
    view.until("document.getElementById('stage').clientHeight > 100 && backstep.view().height > 100")
    spot = view.js(f"backstep.screenPos({view.node('x')!r})")
    assert 0 < spot["y"] < view.js("document.getElementById('middle').getBoundingClientRect().bottom")
