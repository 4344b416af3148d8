"""Writes tests/viz/scenes anew: `python -m tests.viz.make_scenes [program …]`.  Read the diff."""

from __future__ import annotations

import sys

from tests.viz import pictures


def main() -> None:
    wanted = sys.argv[1:] or pictures.names()
    for name in wanted:
        (pictures.HERE / f"{name}.txt").write_text(pictures.picture(pictures.scene(name)), encoding="utf-8")
    for path in pictures.HERE.glob("*.txt"):
        if path.stem not in pictures.names():
            path.unlink()
    print(f"{len(wanted)} scenes in {pictures.HERE.name}")


if __name__ == "__main__":
    main()
