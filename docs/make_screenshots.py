"""Takes the pictures of the README again: `python -m docs.make_screenshots`, with a Chromium installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.page import READY, page, until

FOLDER = Path(__file__).parent / "images"
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

# name -> (address, t as JavaScript, label of the node selected, dark)
PICTURES: dict[str, tuple[str, str, str | None, bool]] = {
    "gallery": ("", "", None, False),
    "one-hot": ("?program=weights", "first('vjp') + 0.55", "× 2", False),
    "one-hot-dark": ("?program=weights", "first('vjp') + 0.55", "× 2", True),
    "error": ("?program=second_backward", "scene.steps.length", None, False),
    "rnn": ("?program=rnn", "last('vjp') - 6", None, False),
}
SEEK = """
(label) => {
  const scene = backstep.scene();
  const first = (kind) => scene.steps.findIndex((step) => step.kind === kind);
  const last = (kind) => scene.steps.map((step) => step.kind).lastIndexOf(kind);
  backstep.seek(%s);
  backstep.fit();
  const node = scene.nodes.find((one) => label !== null && one.label === label);
  if (node) backstep.select(node.id);
}
"""


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with page() as (made, origin):
        made.add_init_script(
            "localStorage.setItem('backstep.tour', 'seen')"
        )  # the offer of the tour is for new visitors
        for name, (address, where, label, dark) in PICTURES.items():
            made.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
            made.goto(f"{origin}/{address}")
            take(made, name, where, label)


def take(made: Any, name: str, where: str, label: str | None) -> None:
    """One picture of the page as it is opened now."""
    if where:
        until(made, READY)
        made.evaluate(SEEK % where, label)
        if label is not None:
            made.wait_for_selector("#inspect-body section")
    else:
        made.wait_for_selector("#gallery .card")
    made.evaluate("document.fonts.ready")
    made.evaluate(FRAMES)
    made.screenshot(path=FOLDER / f"{name}.png")
    print(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
