"""Takes the pictures of the README and the pages again: `python -m docs.make.screenshots [name …]`.

Needs a Chromium and what the extra `test` installs.  tests/repository/test_pages.py holds which pictures there are, and
that each is shown somewhere.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.page import READY, chromium, until
from docs.make.pages import IMAGES, script_named
from tests.browser.conftest import FLAGS, SETTLE, App

FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SEEK = """
(label) => {
  const scene = backstep.scene();
  const first = (kind) => scene.steps.findIndex((step) => step.kind === kind);
  const last = (kind) => scene.steps.map((step) => step.kind).lastIndexOf(kind);
  const named = (name) => scene.steps.findIndex((step) => step.name === name);
  backstep.seek(%s);
  const node = scene.nodes.find((one) => label !== "" && one.label === label);
  if (node) backstep.select(node.id);
}
"""
TYPESET = "!document.querySelector('#inspect-formula-now .formula-text')?.offsetParent"
"""A formula is text until MathJax has come; in a panel that is closed it stays that."""
COLOURS = 256
"""The interface is flat: with so many colours nobody sees the difference, and a picture has a third of the bytes."""
EXACT = 180
"""So many are kept as they are: the tokens of the theme, since they have a meaning, and the most frequent ones; all
others share the rest."""


@dataclass(frozen=True)
class Picture:
    """One picture: what is opened (an address, or a script of the pages), when (JavaScript), and the node selected."""

    opens: str
    when: str = ""
    select: str = ""
    dark: bool = False
    size: tuple[int, int] = (1280, 720)
    act: Callable[[Any], None] | None = None


def passes_three(page: Any) -> None:
    """What the tutorial tells the reader to do: a 3 in the first cell of the gradient of z."""
    page.evaluate("backstep.seek(4)")
    before = page.evaluate("backstep.scene().revision.id")
    spot = page.evaluate("backstep.screenPos(backstep.scene().nodes.find((one) => one.label === 'z').id, 'seed', 0)")
    page.mouse.dblclick(spot["x"], spot["y"])
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    until(page, f"backstep.scene().revision.id !== {before!r} && {READY}")
    page.evaluate("backstep.seek(4)")


def third_chapter(page: Any) -> None:
    """The story told to the end of its third chapter, which shows the bars of an element in the inspector."""
    for _ in range(5):
        page.keyboard.press("Space")
        until(page, "!backstep.playing()")
    until(page, "document.querySelectorAll('.series .bar').length > 1")


def has_room(page: Any) -> None:
    """Without the left panel."""
    page.evaluate("backstep.emit('panel', 'left')")
    settle(page)


def at_its_peak(page: Any) -> None:
    """The view of the whole run, at the iteration with the largest loss after the first ones."""
    page.locator("#sections input").fill("37")
    page.keyboard.press("Enter")
    until(page, f"{READY} && backstep.scene().section.at === 36")
    until(page, "document.querySelector('#run-plot .main-svg')")
    until(page, "!/^Looking/.test(document.querySelector('#run-findings p')?.innerText)")


def as_modules(page: Any) -> None:
    """The graph of the first iteration."""
    page.keyboard.press("r")
    until(page, "!document.querySelector('#stage').hidden")


PICTURES: dict[str, Picture] = {
    "gallery": Picture("", size=(1280, 960)),
    "one-hot": Picture("?program=weights", "first('vjp') + 0.55", "× 2"),
    "one-hot-dark": Picture("?program=weights", "first('vjp') + 0.55", "× 2", dark=True),
    "error": Picture("?program=second_backward", "scene.steps.length", size=(1440, 720)),
    "network": Picture("?program=two_layers", "named('TBackward0') + 0.6", size=(1440, 680), act=has_room),
    "through-time": Picture("?program=rnn_twenty&step=0", size=(1440, 760), act=third_chapter),
    "tutorial-start": Picture("?program=weights", "0", size=(1440, 720)),
    "tutorial-travel": Picture("?program=weights", "first('vjp') + 0.8", size=(1440, 720)),
    "tutorial-edit": Picture("?program=weights", act=passes_three, size=(1440, 720)),
    "training-run": Picture("train.py", act=at_its_peak, size=(1440, 700)),
    "modules": Picture("gpt.py", act=as_modules, size=(1440, 900)),
    "nan": Picture("lengths.py", "6", "sqrt", size=(1440, 720)),
    "retain-graph": Picture("losses.py", "scene.steps.length", size=(1280, 760)),
    "custom-function": Picture("cube.py", "4", "Cube", size=(1440, 720)),
}
ANIMATION = "one-hot.gif"
STAGE = (960, 540)
"""The size of the animation: the graph, and the sentence and the time below it."""
MILLISECONDS = 60
TEMPO: Sequence[tuple[float, float, int]] = (
    # from, to, frames: a forward step in passing, a gradient slowly, then rest
    (0, 2, 16),
    (2, 2, 10),
    (2, 3, 30),
    (3, 4, 14),
    (4, 4, 14),
    (4, 5, 8),
    (5, 6, 30),
    (6, 7, 14),
    (7, 7, 20),
)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or [*PICTURES, ANIMATION]
    with browser() as launched, app() as started:
        for name in wanted:
            if name == ANIMATION:
                animate(launched, started)
            elif PICTURES[name].opens.endswith(".py"):
                with app(PICTURES[name].opens) as own:
                    take(launched, own, name)
            else:
                take(launched, started, name)
            print(name)


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # only what needs a browser needs it

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield launched
        launched.close()


@contextmanager
def app(script: str = "") -> Iterator[App]:
    """The app, with the gallery or with a script of the pages."""
    with tempfile.TemporaryDirectory() as folder:
        if script:
            (Path(folder) / script).write_text(script_named(script).text, "utf-8")
        started = App("run", script, cwd=Path(folder)) if script else App()
        try:
            yield started
        finally:
            started.close()


def opened(launched: Any, started: App, address: str, size: tuple[int, int], dark: bool, moves: bool) -> Any:
    """A page that stands at rest."""
    page = launched.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="no-preference" if moves else "reduce",
    )
    page.set_default_timeout(SETTLE)
    page.add_init_script("localStorage.setItem('backstep.tour', 'seen')")  # its offer is for new visitors
    where = f"{started.origin}/{address}" if address else started.address
    page.goto(where)
    if "?" in where:
        until(page, READY)
    else:
        page.wait_for_selector("#gallery .card-picture[data-drawn]")
        page.wait_for_load_state("networkidle")  # the pictures of the other cards
    page.evaluate("document.fonts.ready")
    return page


def take(launched: Any, started: App, name: str) -> None:
    """One picture."""
    picture = PICTURES[name]
    address = "" if picture.opens.endswith(".py") else picture.opens
    page = opened(launched, started, address, picture.size, picture.dark, moves=False)
    if picture.when:
        page.evaluate(SEEK % picture.when, picture.select)
    if picture.select:
        page.get_by_role("heading", name="Pictures").wait_for()  # the last that the server has to say of an element
    if picture.act is not None:
        picture.act(page)
    if picture.opens:
        until(page, TYPESET)
    settle(page)
    (small,) = reduced([image(page.screenshot())])
    small.save(IMAGES / f"{name}.png", optimize=True)
    page.close()


def animate(launched: Any, started: App) -> None:
    """The one-hot gradient on its way back, twice: each frame is the page at one time, as `seek` shows it."""
    page = opened(launched, started, "?program=weights", STAGE, dark=False, moves=True)
    page.evaluate("backstep.emit('panel', 'left')")  # the right one stands aside by itself where there is little room
    page.evaluate("backstep.pause()")
    settle(page)
    page.evaluate("backstep.fit()")
    frames = []
    for start, end, count in TEMPO:
        for i in range(count):
            page.evaluate("(t) => backstep.seek(t)", start + (end - start) * (i + 1) / count)
            settle(page)
            frames.append(image(page.screenshot()))
    page.close()
    small = reduced(frames)
    small[0].save(
        IMAGES / ANIMATION, save_all=True, append_images=small[1:], duration=MILLISECONDS, loop=0, optimize=True
    )


def reduced(frames: Sequence[Image.Image]) -> list[Image.Image]:
    """The images with one palette for all."""
    counts: Counter[Any] = Counter()
    for frame in frames[:: max(1, len(frames) // 12)]:
        counts.update({colour: count for count, colour in frame.getcolors(frame.width * frame.height) or ()})
    tokens = [colour for colour in theme() if colour in counts]
    often = tokens + [colour for colour, _ in counts.most_common(EXACT) if colour not in tokens][: EXACT - len(tokens)]
    rare = sorted(counts.keys() - set(often))
    if rare:
        strip = Image.new("RGB", (len(rare), 1))
        strip.putdata(rare)
        shared = strip.quantize(COLOURS - EXACT).getpalette() or []
        often += [shared[i : i + 3] for i in range(0, len(shared), 3)]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in often[:COLOURS] for part in colour])
    return [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]


def theme() -> list[tuple[int, ...]]:
    """The colours of the tokens."""
    text = (Path(__file__).parents[2] / "assets" / "css" / "theme.css").read_text("utf-8")
    return [tuple(bytes.fromhex(colour)) for colour in sorted(set(re.findall(r"#([0-9a-fA-F]{6})\b", text)))]


def image(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def settle(page: Any) -> None:
    """Waits until what was asked for is painted."""
    page.evaluate(FRAMES)


if __name__ == "__main__":
    main()
