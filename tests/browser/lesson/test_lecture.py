"""Lecture mode with a clicker's keys alone: legible from the last row, and in step with the presenter's window."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from viz.server.lesson.course import SKELETON

from ..conftest import App, View

LEAST = """[...document.querySelectorAll('#lecture *')]
  .filter((one) => [...one.childNodes].some((part) => part.nodeType === 3 && part.data.trim()))
  .filter((one) => !one.matches('.unseen'))
  .map((one) => parseFloat(getComputedStyle(one).fontSize))"""
INSIDE = """backstep.state().visible.every((id) => {
  const { x, y, width, height } = backstep.screenPos(id);
  const stage = document.getElementById('middle').getBoundingClientRect();
  return x - width / 2 >= 0 && x + width / 2 <= innerWidth && y - height / 2 >= 0 && y + height / 2 <= stage.bottom;
})"""


WHOLE = """(() => {
  const lecture = document.getElementById('lecture');
  const stage = document.getElementById('middle').getBoundingClientRect();
  const now = backstep.screenPos(backstep.state().active);
  return lecture.scrollHeight <= lecture.clientHeight && !document.querySelector('.bs-presets:not([hidden])')
    && (!now || (now.y - now.height / 2 >= -1 && now.y + now.height / 2 <= stage.bottom + 1));
})()"""
"""Nothing of the caption is cut off, and of the graph what happens now is seen, with no strip over it."""
RESIZED = """(({ width, height }, stage) => Math.abs(width / height - stage.width / stage.height) < 1e-3)(
  backstep.view(), document.getElementById('stage').getBoundingClientRect())"""
"""The graph is drawn for the space beside the caption, of whose size the page learns a moment later."""


SPOKEN = """(() => {
  const chapter = backstep.scene().program.chapters[parseInt(document.getElementById('lecture').innerText) - 1];
  const stage = document.getElementById('middle').getBoundingClientRect();
  const there = (id) => backstep.scene().nodes.find((node) => node.id === id)?.tracks.state
    .findLast(([from]) => from <= backstep.t())[1] !== 'future';
  return chapter.select.filter(there).every((id) => {
    const { x, y, width, height } = backstep.screenPos(id);
    return x - width / 2 >= -1 && x + width / 2 <= innerWidth + 1
      && y - height / 2 >= -1 && y + height / 2 <= stage.bottom + 1;
  });
})()"""
"""All computed elements that the chapter is about are in view."""


CHAIN = """import engine as torch
x = torch.ones(3, requires_grad=True)
y = x
for _ in range(20):
    y = torch.tanh(y)
"""
"""Too long for the screen of a hall: at its end, its beginning is out of view."""
MISFIT = """import engine as torch
x = torch.ones(2, 3, requires_grad=True)
w = torch.ones(4, 2)
y = x @ w
"""


def text(view: View) -> str:
    return str(view.js("document.getElementById('lecture').innerText"))


def test_a_lecture_is_given_with_a_clicker(app: App, view_of: Callable[[App], View]) -> None:
    hall = view_of(app)
    hall.open("?program=weights&present=1")
    for width, height in ((3840, 2160), (1920, 1080), (1280, 720)):
        hall.page.set_viewport_size({"width": width, "height": height})
        hall.until(f"backstep.leastText() >= {0.025 * height} && {INSIDE}")
        sizes = hall.js(LEAST)
        assert min(sizes) >= 0.025 * height and max(sizes) >= 28
    notes = view_of(app)
    notes.open("?program=weights&present=notes")
    press = hall.page.keyboard.press
    for key in ("PageDown", "PageDown", "ArrowRight", "PageDown"):  # a move and the next text, twice
        press(key)
        hall.until("!backstep.playing()")
    assert "All ones" in text(hall) and "2 4 6 8" in text(hall) and "✓" not in text(hall)
    notes.until("document.getElementById('lecture').innerText.includes('Let the hall vote')")
    assert "✓" in notes.js("getComputedStyle(document.querySelector('.ask [data-right]'), '::after').content")
    press("PageDown")
    right = "document.querySelector('#lecture [data-right]')?.innerText.includes('2 2 2 2')"
    hall.until(f"{right} && backstep.t() === 10")
    assert "The four rows, added" in text(hall)
    notes.until("backstep.t() === 10")
    notes.page.keyboard.press("PageUp")  # the presenter's keys are the hall's
    hall.until(f"backstep.t() === 7 && !{right}")
    shown = "document.querySelector('.pointing').dataset.shows"
    for key, name in (
        (".", "black"),
        ("PageDown", ""),
        ("b", "black"),
        ("b", ""),
        ("l", "laser"),
        ("s", "spot"),
        ("Escape", ""),
    ):
        press(key)
        hall.until(f"({shown} ?? '') === {name!r}")
    assert hall.js("backstep.t()") == 7
    press("Escape")
    hall.until("!document.documentElement.dataset.present && !location.search.includes('present')")
    assert hall.js("backstep.leastText()") < 0.025 * 720
    press("F5")
    hall.until("document.documentElement.dataset.present === 'hall' && backstep.t() === 0")
    spot: Any = hall.js(f"backstep.screenPos({hall.node('z')!r}, 'seed', 1)")
    hall.page.mouse.move(spot["x"], spot["y"])
    hall.until("backstep.state().hover === backstep.scene().nodes.find((one) => one.label === 'z').id")


def test_presenters_window_has_the_hall_s_changes_and_a_dark_hall_keeps_its_lecture(
    app: App, view_of: Callable[[App], View]
) -> None:
    hall = view_of(app)
    hall.open("?program=weights&present=1")
    with hall.page.context.expect_page() as opened:
        hall.page.keyboard.press("n")
    notes = View(opened.value, app)
    notes.until("document.documentElement.dataset.present === 'notes' && document.documentElement.dataset.ready")
    before = hall.revision()
    hall.page.keyboard.press("PageDown")
    hall.until("document.fullscreenElement && backstep.t() === 4 && !backstep.playing()")  # with the first key
    hall.page.keyboard.press("t")
    hall.changed(before)
    first = hall.revision()
    notes.until(f"backstep.scene().revision.id === {first!r} && backstep.t() === 4")
    notes.page.keyboard.press("t")  # the next change, asked for here and made there
    notes.until(f"backstep.scene().revision.id !== {first!r} && backstep.t() === 4")
    shows = "document.querySelector('.pointing').dataset.shows"
    hall.page.keyboard.press("b")
    hall.until(f"{shows} === 'black'")
    hall.js("document.exitFullscreen()")  # as Esc does it, which a browser does not tell a page
    hall.until(f"{shows} === '' && document.documentElement.dataset.present === 'hall'")
    hall.page.keyboard.press("Escape")
    hall.until("!document.documentElement.dataset.present")
    hall.page.keyboard.press("F5")
    hall.until("document.documentElement.dataset.present === 'hall' && document.fullscreenElement")
    assert hall.js("backstep.t()") == 0


def test_a_clicker_goes_from_a_mistake_to_its_corrected_version_and_back(view: View) -> None:
    hall = view
    hall.open("?program=half_detached&present=1")

    def press(key: str, program: str, t: str) -> None:
        hall.page.keyboard.press(key)
        hall.until(
            f"backstep.scene().program.id === {program!r} && !backstep.playing() && backstep.t() === {t}"
            " && document.documentElement.dataset.present === 'hall' && location.search.includes('present=1')"
        )

    hall.js("backstep.seek(backstep.scene().steps.length)")
    press("PageDown", "half_detached_fixed", "0")
    hall.until("document.getElementById('lecture').innerText.startsWith('1 of 2')")
    press("PageUp", "half_detached", "backstep.scene().steps.length")
    hall.until("document.getElementById('lecture').innerText.startsWith('3 of 3')")
    press("m", "half_detached_fixed", "0")
    press("m", "half_detached", "0")


def test_a_hall_sees_the_bars_that_a_chapter_speaks_of_and_none_that_answers_its_question(view: View) -> None:
    hall = view
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    hall.open("?program=rnn_twenty&present=1")
    label = "document.querySelector('#lecture .series-ends b')?.innerText"
    future = "[...document.querySelectorAll('#lecture .future > i')].map((one) => getComputedStyle(one).visibility)"
    hall.until("document.getElementById('lecture').innerText.startsWith('1 of 4')")
    assert not hall.page.locator("#lecture .bar").count()
    hall.until("backstep.t() === 0 && !backstep.playing()")
    hall.page.keyboard.press("PageDown")
    hall.page.keyboard.press("PageDown")  # ends the move at once
    hall.until("!backstep.playing()")
    for words in ("t = 19: not yet", "t = 19: 1.414", "t = 10: not yet", "t = 10: 4.026e-4"):
        hall.page.keyboard.press("PageDown")
        hall.until(f"!backstep.playing() && {label} === {words!r}")
        assert set(hall.js(future)) == {"hidden" if words == "t = 10: not yet" else "visible"}
        assert min(hall.js(LEAST.replace("'.unseen'", "'.unseen, .through > :is(h2, .hint)'"))) >= 0.025 * 720
        hall.until(SPOKEN if "not yet" in words else WHOLE)
        assert hall.js("(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(lecture)")
    hall.page.locator("#lecture .bar").nth(19).click()
    hall.until("document.getElementById('lecture').innerText.startsWith('2 of 4')")


def test_graph_has_all_the_room_above_the_caption_px_by_px(view: View) -> None:
    hall = view
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    hall.open("?program=second_backward&present=1")
    hall.until("backstep.t() === 0")
    canvas = "document.querySelector('#stage .bs-canvas')"
    for side in ("width", "height"):
        shown = hall.js(f"{canvas}.getBoundingClientRect().{side}")
        assert abs(hall.js(f"{canvas}.{side}") - shown) < 1e-3, "letters are blurred"
    rows = """(() => {
      const boxes = backstep.state().visible.map((id) => backstep.screenPos(id));
      const [low, high] = [-1, 1].map((by) => boxes.map(({ y, height }) => y + by * height / 2));
      return (Math.max(...high) - Math.min(...low)) / document.getElementById('middle').clientHeight;
    })()"""
    assert hall.js(rows) > 0.75


def test_neither_the_hall_nor_a_student_sees_the_answer_of_a_lesson_before_its_question_is_answered(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    (tmp_path / "lesson.py").write_text(SKELETON, "utf-8")
    app = start("run", "lesson.py", cwd=tmp_path)
    hall = view_of(app)
    hall.open(app.address.removeprefix(app.origin).lstrip("/"))
    program = hall.page.locator("#code .program")
    hall.until("document.querySelector('#code .program').innerText.includes('# ? What does')")
    assert "# + 2 0" not in program.inner_text() and "# - 1 0" not in program.inner_text()

    hall.page.keyboard.press("p")
    hall.until("document.documentElement.dataset.present === 'hall'")
    for number, key in ((1, ""), (1, "PageDown"), (2, "PageDown"), (2, "PageDown")):
        if key:
            hall.page.keyboard.press(key)
        hall.until(f"!backstep.playing() && document.getElementById('lecture').innerText.startsWith('{number} of 2')")
        assert "#" not in hall.js("document.querySelector('.lecture-code').innerText")
    hall.until("document.querySelector('#lecture [data-right]')?.innerText.includes('2 0')")

    hall.page.keyboard.press("Escape")
    hall.until("!document.documentElement.dataset.present")
    hall.js("backstep.seek(backstep.scene().steps.length)")
    hall.until("document.querySelector('#code .program').innerText.includes('# + 2 0')")
    assert "# = The slope is 2" in program.inner_text()


def test_a_mistake_in_live_code_is_seen_in_the_hall_beside_its_note(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    script = tmp_path / "live.py"
    script.write_text(CHAIN, "utf-8")
    app = start("run", "--watch", "live.py", cwd=tmp_path)
    hall = view_of(app)
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    hall.open(app.address.removeprefix(app.origin).lstrip("/"))
    hall.page.keyboard.press("p")
    hall.js("backstep.seek(backstep.scene().steps.length)")
    before = hall.revision()
    beside = """(() => {
      const [note, stage] = ['doubt', 'stage'].map((id) => document.getElementById(id).getBoundingClientRect());
      return note.height > 0 && note.bottom <= stage.top && Math.abs(stage.bottom - innerHeight
        + document.getElementById('lecture').getBoundingClientRect().height) <= 1;
    })()"""
    script.write_text(CHAIN.replace("(y)", "(y]"), "utf-8")
    hall.until(f"{beside} && {WHOLE}")
    assert hall.revision() == before
    script.write_text(MISFIT, "utf-8")
    hall.changed(before)
    hall.until(f"backstep.scene().error && {beside} && {WHOLE} && backstep.screenPos(backstep.state().active).visible")


def test_captions_with_questions_leave_room_for_what_happens(view: View) -> None:
    hall = view
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    for program in ("weighted_matrix", "diamond"):
        hall.open(f"?program={program}&present=1")
        last = hall.js("backstep.scene().program.chapters.length")
        for _ in range(30):
            hall.until(f"!backstep.playing() && {WHOLE}")
            if text(hall).startswith(f"{last} of") and hall.js("backstep.t() === backstep.scene().steps.length"):
                break
            before = f"{text(hall)}|{hall.js('backstep.t()')}"
            hall.page.keyboard.press("PageDown")
            hall.until(
                f"`${{document.getElementById('lecture').innerText}}|${{backstep.t()}}` !== {json.dumps(before)}"
            )
        else:
            raise AssertionError(f"{program} has no last chapter")


def test_a_page_that_is_loaded_again_comes_back_to_the_text_before_a_move(view: View) -> None:
    hall = view
    hall.open("?program=weights&present=1")
    third = "document.getElementById('lecture').innerText.startsWith('3 of 4')"
    asks = f"{third} && backstep.t() === 7 && !backstep.playing()"
    for _ in range(4):  # two chapters and the third one's text
        hall.page.keyboard.press("PageDown")
        hall.until("!backstep.playing()")
    hall.until(f"{asks} && location.search.includes('chapter=3')")
    hall.page.reload()
    hall.ready()
    hall.until(f"{asks} && document.documentElement.dataset.present === 'hall'")
    hall.page.keyboard.press("PageDown")
    hall.until("backstep.t() === 10 && !backstep.playing() && !location.search.includes('chapter')")
    hall.page.reload()
    hall.ready()
    hall.until(f"{third} && backstep.t() === 10")


def test_what_a_chapter_speaks_of_is_in_view_when_its_text_is_read(view: View) -> None:
    """None of these graphs has room on a screen of this size."""
    hall = view
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    for program, chapters in (("broadcast_loss", 3), ("two_layers", 5), ("infinity", 4)):
        hall.open(f"?program={program}&present=1")
        for chapter in range(1, chapters + 1):
            hall.until(
                f"document.getElementById('lecture').innerText.startsWith('{chapter} of {chapters}')"
                f" && !backstep.playing() && {RESIZED} && {SPOKEN} && backstep.leastText() >= {0.025 * 720}"
            )
            if chapter == chapters:
                break
            ended = f"backstep.t() >= backstep.scene().program.chapters[{chapter - 1}].step && !backstep.playing()"
            hall.page.keyboard.press("PageDown")
            hall.until("backstep.playing()")
            hall.page.keyboard.press("PageDown")  # the move ends at once
            hall.until(ended)
            hall.page.keyboard.press("PageDown")


def test_graph_stays_where_it_is_within_a_chapter_and_an_error_moves_nothing_out_of_view(view: View) -> None:
    """At this width the inspector slides over the graph elsewhere: it must not push away what it does not cover."""
    hall = view
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    now = "(({ camera, t }) => [camera.x, camera.y, camera.zoom, backstep.view().height, t])(backstep.state())"
    for program in ("scalar_only", "second_backward"):
        hall.open(f"?program={program}&present=1")
        steps, chapters = hall.js("[backstep.scene().steps.length, backstep.scene().program.chapters.length]")
        stages: dict[int, list[list[float]]] = {}
        for _ in range(4 * chapters):
            hall.until(f"!backstep.playing() && {RESIZED}")
            *camera, t = hall.js(now)
            chapter = int(text(hall).split(" of ")[0])
            stages.setdefault(chapter, []).append(camera)
            if chapter == chapters and t == steps:
                break
            before = f"{text(hall)}|{t}"
            for _ in range(2):  # the second ends the move at once
                hall.page.keyboard.press("PageDown")
                hall.until(
                    f"`${{document.getElementById('lecture').innerText}}|${{backstep.t()}}` !== {json.dumps(before)}"
                )
                if not hall.js("backstep.playing()"):
                    break
        assert sorted(stages) == list(range(1, chapters + 1))
        assert all(camera == cameras[0] for cameras in stages.values() for camera in cameras), stages
        hall.until(f"backstep.state().visible.length === backstep.scene().nodes.length && {INSIDE}")
        hall.page.keyboard.press("Escape")
        hall.until("!document.documentElement.dataset.present")
        assert hall.js("document.documentElement.dataset.right") != "open"


def test_graph_keeps_its_scale_through_a_story_and_a_new_chapter_moves_it_only_if_it_must(view: View) -> None:
    """Chapters need captions of different heights, and speak of nodes that are wide apart."""
    hall = view
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    look = """(({ camera, t }, { height }) => ({ scale: [camera.zoom, height], at: [camera.x, camera.y], t, size:
      getComputedStyle(document.getElementById('lecture')).fontSize }))(backstep.state(), backstep.view())"""
    for program, turns in (("training_loop", 4), ("rnn", 2)):
        hall.open(f"?program={program}&present=1")
        chapters = hall.js("backstep.scene().program.chapters.map((one) => one.step)")
        looks: list[dict[str, Any]] = []
        still = 0
        for i, step in enumerate(chapters):
            hall.until(f"document.getElementById('lecture').innerText.startsWith('{i + 1} of')")
            hall.until(f"!backstep.playing() && {RESIZED} && {SPOKEN}")
            ahead = hall.js(look)
            hall.page.keyboard.press("PageDown")
            hall.until("backstep.playing()")
            hall.page.keyboard.press("PageDown")  # the move ends at once
            hall.until(f"backstep.t() >= {step} && !backstep.playing() && {WHOLE}")
            still += i > 0 and ahead["at"] == looks[-1]["at"]
            over = hall.js(look)
            assert over["size"] == ahead["size"], f"{program}: the letters of chapter {i + 1} change their size"
            looks += [ahead, over]
            hall.page.keyboard.press("PageDown")
        assert len({str(one["scale"]) for one in looks}) == 1, f"{program}: {looks}"
        assert still == turns, f"{program}: {looks}"


def test_presenters_window_says_that_the_hall_has_left_the_lecture(app: App, view_of: Callable[[App], View]) -> None:
    hall = view_of(app)
    hall.open("?program=weights&present=1")
    with hall.page.context.expect_page() as opened:
        hall.page.keyboard.press("n")
    notes = View(opened.value, app)
    is_said = "document.getElementById('lecture').innerText.includes('Lecture mode is not on')"
    notes.until(f"document.documentElement.dataset.present === 'notes' && backstep.scene() && !{is_said}")
    hall.page.keyboard.press("Escape")
    hall.until("!document.documentElement.dataset.present")
    notes.until(is_said)
    hall.page.keyboard.press("p")
    notes.until(f"!{is_said}")
    hall.page.close()
    notes.until(is_said)


LONG = """import engine as torch
x = torch.ones(3, requires_grad=True)
# ## A long chapter
# {text}
# ? {text}
# - {choice}
# + {choice}
y = x * 2
y.sum().backward()
"""


def test_code_keeps_its_width_through_a_story(view: View) -> None:
    hall = view
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    for program in ("scalar_only", "second_backward"):
        hall.open(f"?program={program}&present=1")
        widths = set()
        for t in range(hall.js("backstep.scene().steps.length") + 1):
            hall.js(f"backstep.seek({t})")
            hall.until(f"backstep.t() === {t}")
            widths.add(hall.js("document.querySelector('.lecture-code').getBoundingClientRect().width"))
        assert len(widths) == 1, f"{program}: {widths}"


def test_a_node_that_the_keyboard_has_come_to_is_edited_in_a_lecture(view: View) -> None:
    hall = view
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    hall.open("?program=weights&present=1")
    width = "document.querySelector('.lecture-code').getBoundingClientRect().width"
    before, wide = hall.revision(), hall.js(width)
    press = hall.page.keyboard.press
    press("Tab")
    assert hall.js("document.activeElement.id") == "stage"
    for _ in range(3):
        press("Tab")
    assert hall.state()["selection"] == hall.node("z")
    for key in ("Enter", "5", "Enter"):
        press(key)
    hall.changed(before)
    assert hall.row("z", "seed") == [5, 0, 0, 0]
    assert hall.js("getComputedStyle(document.getElementById('stage'), '::after').display") == "none"
    assert hall.js(width) == wide
    press("PageDown")
    hall.until("backstep.t() === 4 && !backstep.playing()")
    assert hall.row("x", "grad") == [10, 0, 0, 0]


def test_caption_of_a_program_without_chapters_keeps_its_height(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    script = tmp_path / "chain.py"
    script.write_text(f"{CHAIN}z = y.sum()\nz.backward()\n", "utf-8")
    hall = view_of(start("run", str(script)))
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    hall.page.goto(f"{hall.app.address}&present=1")
    hall.ready()
    hall.until("document.getElementById('lecture').innerText")
    heights = set()
    for t in range(hall.js("backstep.scene().steps.length") + 1):
        hall.js(f"backstep.seek({t})")
        hall.until(f"backstep.t() === {t}")
        heights.add(hall.js("document.getElementById('lecture').offsetHeight"))
    assert len(heights) == 1 and max(heights) < 0.35 * 720


def test_letters_of_a_long_caption_are_smaller_and_none_is_cut_off(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    text = "Each of the three elements has a slope of its own, and all of them arrive at x at once."
    lesson = LONG.format(text=f"{text} {text}", choice="each of the three gets a two, because y is twice as large")
    (tmp_path / "lesson.py").write_text(lesson, "utf-8")
    app = start("run", "lesson.py", cwd=tmp_path)
    hall = view_of(app)
    hall.page.set_viewport_size({"width": 1280, "height": 720})
    hall.open(app.address.removeprefix(app.origin).lstrip("/"))
    hall.page.keyboard.press("p")
    hall.until(f"document.documentElement.dataset.present === 'hall' && {WHOLE}")
    assert min(hall.js(LEAST)) >= 0.025 * 720 and max(hall.js(LEAST)) < 28


def test_presenters_notes_speak_of_no_earlier_moment_before_a_move(app: App, view_of: Callable[[App], View]) -> None:
    hall, notes = view_of(app), view_of(app)
    hall.open("?program=scalar_only&present=1")
    notes.open("?program=scalar_only&present=notes")
    words = "document.getElementById('lecture').innerText"
    before = "The leaf a receives [[2 4 6] [8 10 12]]"
    for _ in range(2):  # the second ends the move at once
        hall.page.keyboard.press("PageDown")
    notes.until(f"{words}.includes('1 of 3') && {words}.includes({before!r})")
    hall.page.keyboard.press("PageDown")
    notes.until(f"{words}.includes('2 of 3')")
    assert before not in text(notes)
