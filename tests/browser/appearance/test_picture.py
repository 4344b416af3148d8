"""The graph as a picture: both forms are saved from the menu, and say what the stage says."""

from __future__ import annotations

import base64
import io
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image

from tests.browser.conftest import App, View

SVG = "{http://www.w3.org/2000/svg}"
LABELS = "[...backstep.scene().nodes, ...backstep.scene().groups.filter(one => !one.folded)].map(one => one.label)"
ROWS = "Object.values(backstep.state().nodes).flatMap(one => Object.values(one.rows ?? {}))"


def saved(view: View, form: str) -> tuple[str, bytes]:
    """The name and the bytes of a picture, saved with the keyboard alone."""
    view.page.get_by_label("Save this revision").focus()
    view.page.keyboard.press("Enter")
    view.until("document.activeElement.id === 'export-svg'")
    if form == "png":
        view.page.keyboard.press("ArrowDown")
        view.until("document.activeElement.id === 'export-png'")
    with view.page.expect_download() as download:
        view.page.keyboard.press("Enter")
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


SHOWN = [("weights", 3, "light"), ("training_loop", 30, "dark"), ("infinity", 9, "light"), ("rnn_twenty", 80, "dark")]


@pytest.mark.parametrize(("program", "step", "theme"), SHOWN)
def test_both_pictures_are_saved_and_have_what_the_stage_has(view: View, program: str, step: int, theme: str) -> None:
    view.open(f"?program={program}&step={step}&theme={theme}")
    view.until(f"backstep.t() === {step}")
    asked = view.js("backstep.serverCalls()")
    name, text = saved(view, "svg")
    assert name == f"{program}-step-{step}.svg"
    root = ElementTree.fromstring(text)  # noqa: S314  # written by the page just now
    written = {one.text for one in root.iter(f"{SVG}text")}
    assert {label.replace("-", "\u2212") for label in view.js(LABELS)} <= written
    assert {
        str(number).replace("-", "\u2212") for number in view.js(f"{ROWS}.flat().filter(Number.isInteger)")
    } <= written
    assert view.js("document.querySelector('.bs-say').textContent") in root.findtext(f"{SVG}desc", "")
    ground = view.js("getComputedStyle(document.documentElement).getPropertyValue('--bg').trim()")
    assert root.find(f"{SVG}rect").get("fill") == ground  # type: ignore[union-attr]
    name, pixels = saved(view, "png")
    assert name == f"{program}-step-{step}.png"
    assert struct.unpack(">II", pixels[16:24]) == (2 * int(root.attrib["width"]), 2 * int(root.attrib["height"]))
    assert len(pixels) > 20_000, "it is not the ground alone"
    assert view.js("backstep.serverCalls()") == asked


def test_picture_shows_all_of_it_as_it_is_selected_wherever_one_looks(view: View) -> None:
    view.open("?program=weights&step=3")
    before = view.js("backstep.picture().text")
    for _ in range(6):
        view.page.get_by_label("Zoom in").click()
    view.until("backstep.state().visible.length < backstep.scene().nodes.length")
    assert view.js("backstep.picture().text") == before
    view.js(f"backstep.select({view.node('x')!r})")
    assert view.js("backstep.picture().text") != before


def chosen(view: View, entry: str) -> tuple[str, bytes]:
    """The name and the bytes of what an entry of the menu saves."""
    view.page.get_by_label("Save this revision").click()
    with view.page.expect_download() as download:
        view.page.get_by_role("menuitem", name=entry, exact=True).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def assert_same_place(view: View, root: ElementTree.Element) -> None:
    """The names of the nodes are in the picture where the stage has them, to within the node."""
    left, top, wide, high = map(float, root.attrib["viewBox"].split())
    zoom = int(root.attrib["width"]) / wide
    assert abs(int(root.attrib["height"]) / high - zoom) < 0.02
    stage = view.js("document.getElementById('stage').getBoundingClientRect().toJSON()")
    texts = {one.text: one for one in root.iter(f"{SVG}text")}
    labels = [label for label in view.js("backstep.scene().nodes.map(node => node.label)") if label in texts]
    assert labels
    for label in labels:
        node = view.js(f"backstep.screenPos({view.node(label)!r})")
        x, y = ((float(texts[label].attrib[axis]) - side) * zoom for axis, side in (("x", left), ("y", top)))
        assert abs(x + stage["x"] - node["x"]) <= node["width"] / 2
        assert abs(y + stage["y"] - node["y"]) <= node["height"] / 2


def test_what_is_seen_a_slide_and_films_of_the_call_are_saved(view: View) -> None:
    view.page.set_viewport_size({"width": 900, "height": 600})
    view.open("?program=scaling&step=5")
    stage = view.js("[backstep.view().width, backstep.view().height].map(Math.round)")
    name, text = chosen(view, "What I see (SVG)")
    root = ElementTree.fromstring(text)  # noqa: S314  # written by the page just now
    assert name == "scaling-step-5-seen.svg"
    assert [int(root.attrib["width"]), int(root.attrib["height"])] == stage
    for _ in range(2):
        assert_same_place(view, root)
        view.page.get_by_label("Zoom in").click()
        root = ElementTree.fromstring(view.js("backstep.picture('seen').text"))  # noqa: S314
    name, pixels = chosen(view, "Slide, 16:9 (PNG)")
    wide, high = struct.unpack(">II", pixels[16:24])
    assert name == "scaling-step-5-slide.png" and abs(wide - 3840) <= 1 and abs(high - 2160) <= 1
    name, film = chosen(view, "This call as animation (GIF)")
    picture = Image.open(io.BytesIO(film))
    assert name == "scaling-step-5.gif" and picture.n_frames > 5 and picture.width <= 960  # type: ignore[attr-defined]
    first = picture.convert("RGB").tobytes()
    assert min(first[:3]) > 200, "the ground of the light theme"
    picture.seek(picture.n_frames - 1)  # type: ignore[attr-defined]
    assert picture.convert("RGB").tobytes() != first and picture.info["duration"] > 500
    assert view.js("backstep.t()") == 5


PLAYED = """async (base64) => {
  const video = document.createElement("video");
  const happened = (name) => new Promise((done, failed) => {
    video[`on${name}`] = done;
    video.onerror = () => failed(video.error.message);
  });
  // On a busy machine `seeked` may come while the picture of before is still the current one.
  const presented = (time) => new Promise((done) => {
    const look = (_, { mediaTime }) =>
      Math.abs(mediaTime - time) < 0.05 ? done() : video.requestVideoFrameCallback(look);
    video.requestVideoFrameCallback(look);
  });
  video.src = `data:video/webm;base64,${base64}`;
  await happened("loadeddata");
  const context = document.createElement("canvas").getContext("2d");
  const seen = [];
  for (const part of [0.9, 0, 0.5]) {
    const time = part * video.duration;
    const shown = presented(time);
    video.currentTime = time;
    await Promise.all([happened("seeked"), shown]);
    context.drawImage(video, 0, 0, 300, 150);
    seen.push([...context.getImageData(0, 0, 300, 150).data].join());
  }
  const ground = seen[1].split(",").slice(0, 3).map(Number);
  const size = [video.videoWidth, video.videoHeight];
  return { duration: video.duration, size, pictures: new Set(seen).size, ground };
}"""
"""A check of a video in a browser: it seeks back and forth, and the pictures there differ."""


def test_video_has_all_its_pictures_on_a_busy_machine(new_view: View) -> None:
    new_view.page.set_viewport_size({"width": 901, "height": 601})
    new_view.open("?program=scaling&step=5")
    size = new_view.js("[backstep.view().width, backstep.view().height].map(Math.round)")
    phase = new_view.js("backstep.scene().phases.find(({ start, end }) => start <= 5 && 5 < end)")
    pictures = round((phase["end"] - phase["start"]) * 0.9 * 30) + 30
    new_view.page.context.new_cdp_session(new_view.page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    name, video = chosen(new_view, "This call as video (WebM)")
    assert name == "scaling-step-5.webm" and new_view.js("backstep.t()") == 5
    assert len(re.findall(rb"\xa3\x01\0\0\0\0...\x81..[\x00\x80]", video, re.DOTALL)) == pictures
    played = new_view.page.context.new_page().evaluate(PLAYED, base64.b64encode(video).decode())
    assert played["duration"] == pytest.approx(pictures / 30) and played["size"] == size
    assert played["pictures"] == 3 and min(played["ground"]) > 200, "the ground of the light theme"


def test_page_whose_browser_may_not_encode_says_why(new_view: View) -> None:
    new_view.page.add_init_script(
        "delete window.VideoEncoder; Object.defineProperty(window, 'isSecureContext', { value: false })"
    )
    new_view.open("?program=weights&step=3")
    new_view.page.get_by_label("Save this revision").click()
    new_view.page.get_by_role("menuitem", name="This call as video (WebM)", exact=True).click()
    new_view.until("document.body.innerText.includes('browsers encode video only on pages from https')")


def test_picture_of_an_edit_has_the_number_of_its_revision(view: View) -> None:
    view.open("?program=weights&step=3")
    before = view.revision()
    view.js(f"backstep.edit({{ leaf: {view.node('x')[1:]!r}, values: [[1, 2, 3, 5]] }})")
    view.changed(before)
    name, text = saved(view, "svg")
    assert name.startswith("weights-revision-2-step-") and b"revision 2" in text


def test_where_no_graph_is_drawn_the_entries_say_so(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    path = tmp_path / "early.py"
    path.write_text("import engine as torch\n\nx = torch.zeros(-1)\n", "utf-8")
    app = start("run", str(path), cwd=tmp_path)
    view = view_of(app)
    view.open(app.address.removeprefix(app.origin).lstrip("/"))
    assert view.js("backstep.picture()") is None
    view.page.get_by_label("Save this revision").click()
    for form in ("SVG", "PNG"):
        entry: Any = view.page.get_by_role("menuitem", name=f"Picture ({form}): there is no graph")
        assert entry.is_disabled()
