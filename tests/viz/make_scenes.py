"""Writes tests/viz/scenes anew: `python -m tests.viz.make_scenes [program …]`.  Read the diff."""

from __future__ import annotations

import sys

from tests.viz.helpers import pictures
from tests.viz.helpers.scene_text import scene_text


def main() -> None:
    wanted = sys.argv[1:] or pictures.names()
    for name in wanted:
        pictures.stored(name).write_text(scene_text(pictures.scene(name)), encoding="utf-8")
    for path in pictures.HERE.glob("*.txt"):
        if path.stem not in pictures.names():
            path.unlink()
    print(f"{len(wanted)} scenes in {pictures.HERE.name}")


if __name__ == "__main__":
    main()
