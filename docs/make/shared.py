"""Writes assets/js/scene/shared.mjs, the numbers and words that server and browser share: `python -m docs.make.shared`.

They are written in Python alone, with what they mean behind them.  A test holds the module fresh.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import json
from pathlib import Path

FILE = Path(__file__).parents[2] / "assets" / "js" / "scene" / "shared.mjs"
SHARED = {
    "viz.layout.cards": (
        "HEAD", "FOOT", "PAD", "CELL_ROW", "LABEL", "STRIP", "WIDEST_COLUMN", "BADGE", "BUNDLE", "CLEAR", "SEED_LABEL",
        "DOT", "DOT_LINES", "DOTS_PAD", "CELLS", "CELL_LINE",
    ),
    "viz.layout.views": ("WHOLE",),
    "viz.reading.text": ("SMALL", "DAMAGED", "DIGITS", "PLAIN", "EXACT", "NOISE"),
    "viz.scene.details": ("DATA",),
    "viz.run.run": ("SEVERAL",),
    "engine.replay.program": ("NONE_PASSED",),
}  # fmt: skip
"""The names by the module that has them."""
TITLE = """// Numbers and words that the server and the browser share: made by `python -m docs.make.shared` from
// the modules that are named here; a test fails if this file is out of date.
"""


def module() -> str:
    """The browser's module."""
    parts = [TITLE]
    for place, names in SHARED.items():
        parts.append(f"\n// {place}\n")
        parts += [_line(place, name) for name in names]
    return "".join(parts)


def _line(place: str, name: str) -> str:
    owner = importlib.import_module(place)
    return f"/** {_note(str(owner.__file__), name)} */\nexport const {name} = {json.dumps(getattr(owner, name))};\n"


def _note(file: str, name: str) -> str:
    """The text behind an assignment."""
    body = ast.parse(Path(file).read_text(encoding="utf-8")).body
    for node, behind in itertools.pairwise(body):
        named = isinstance(node, ast.Assign) and name in [one.id for one in node.targets if isinstance(one, ast.Name)]
        if named and isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant):
            return " ".join(str(behind.value.value).split())
    raise ValueError(f"nothing is said of {name} in {file}")


if __name__ == "__main__":
    FILE.write_text(module(), encoding="utf-8")
    print(FILE)
