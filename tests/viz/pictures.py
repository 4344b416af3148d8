"""What the scene of each program of the gallery looks like, as text: what the visual regression test compares.

A picture of pixels differs with fonts, browsers and drivers and says only that something changed; this text says what.
It has two parts: what is shown (names, states, sentences, numbers), and where it is shown (lines that begin with
`place`).  Words are compared letter for letter; broken numbers within `NEAR`, because the last digits of an exp or of
a matrix product are the processor's; places within `APART` units, because dot's coordinates are decimal text that
another build of Graphviz may round another way.  Sizes of nodes are ours and do not depend on installed fonts.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from viz.server.programs import gallery_programs
from viz.server.revisions import Computed
from viz.server.store import Catalogue, Store

Json = Mapping[str, Any]

HERE = Path(__file__).parent / "scenes"
APART = 1.5
NEAR = 1e-3
"""Relative distance up to which two broken numbers are the same."""
SHOWN = ("steps", "phases", "marks", "commands", "places", "error", "findings", "warnings", "values", "program")
PLACE = "place "
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
BROKEN = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)(?!\w)")


@cache
def store() -> Store:
    return Store(Catalogue(gallery_programs()), Computed())


def names() -> list[str]:
    return [program.id for program in gallery_programs()]


def scene(name: str) -> Json:
    """The scene that the browser gets when it opens a program."""
    made = store()
    found: Json = made.scene(made.revision(name, None), None, {}, "").json()
    return found


def picture(found: Json) -> str:
    """The scene as lines of text, the same on every machine but for the numbers behind `place`."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Json) -> Iterator[str]:
    yield f"{found['program']['id']}: {found['layout']}, {len(found['steps'])} steps"
    yield "parts " + " ".join(f"{part} {digest(found.get(part))}" for part in SHOWN)
    x0, y0, x1, y1 = found["bounds"]
    yield f"{PLACE}{x1 - x0:.0f} x {y1 - y0:.0f}"
    for node in found["nodes"]:
        yield f"node {node['id']} {node['kind']} {node['role']} {node['label']!r} {node['sub']!r}{_rows(node)}"
        yield f"{PLACE}{node['x']:.0f} {node['y']:.0f} size {node['w']:.0f} {node['h']:.0f}"
        yield f"tracks {digest([node['tracks'], node['rows'], node['saved'], node['formula']])}"
    for edge in found["edges"]:
        yield f"edge {edge['source']} -> {edge['target']} {edge['input']}{' grad' if edge['grad'] else ''}"
        yield f"{PLACE}{_route(edge['points'])} back {_route(edge['back'])}"
        if "through" in edge:
            yield f"{PLACE}{_route(edge['through'])} passed on"
        yield f"tracks {digest([edge['tracks'], edge['wiring']])}"
    for group in found["groups"]:
        yield f"group {group['id']} {group['label']!r}{' folded' if group['folded'] else ''} of {len(group['members'])}"
        yield PLACE + " ".join(f"{v:.0f}" for v in group["box"])
    for number, step in enumerate(found["steps"], 1):
        yield f"step {number} {step['kind']} {step['at']}: {step['say']}"


def _rows(node: Json) -> str:
    cells = [f"{row['rows']}x{row['cols']}" if row["cols"] else "strip" for row in node["rows"]]
    rows = [f"{row['key']} {size}" for row, size in zip(node["rows"], cells, strict=True)]
    return f" ({', '.join(rows)})" if rows else ""


def _route(points: list[list[float]]) -> str:
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in points)


def digest(part: Any) -> str:
    """Eight letters of a hash of a part of a scene, as sorted JSON, and behind `~` how large its broken numbers are.

    >>> digest({"a": 2.0, "b": "gives 2"}) == digest({"b": "gives 2", "a": 2})
    True
    >>> [digest(part).split("~")[1] for part in ([0.25, 0.5], [0.5, 0.25], "gives 0.25 and 0.5", [0.25, 0.4999999])]
    ['1.2500e+00', '1.0000e+00', '1.2500e+00', '1.2500e+00']
    """
    numbers: list[float] = []
    text = json.dumps(_without_numbers(part, numbers), sort_keys=True, separators=(",", ":"), allow_nan=False)
    weighted = sum(abs(number) * (1 + place % 7) for place, number in enumerate(numbers))  # two that change places tell
    return hashlib.sha256(text.encode()).hexdigest()[:8] + (f"~{weighted:.4e}" if numbers else "")


def _without_numbers(part: Any, numbers: list[float]) -> Any:
    """The part with `#` for each broken number, which goes into `numbers`."""
    if isinstance(part, str):
        numbers += map(float, BROKEN.findall(part))
        return BROKEN.sub("#", part)
    if isinstance(part, float):
        if not math.isfinite(part):
            return str(part)
        number = float(f"{part:.6g}")
        if number.is_integer():
            return int(number)  # 2 and 2.0 are one in JSON
        numbers.append(number)
        return "#"
    if isinstance(part, Mapping):
        return {str(key): _without_numbers(part[key], numbers) for key in sorted(part, key=str)}
    if isinstance(part, (list, tuple)):
        return [_without_numbers(value, numbers) for value in part]
    return part


def difference(stored: str, now: str) -> str | None:
    """The first line that differs, or None; numbers and positions may be a little apart."""
    for number, (old, new) in enumerate(itertools.zip_longest(stored.splitlines(), now.splitlines()), 1):
        if old != new and not _beside(old, new):
            return f"line {number}: stored {old!r}, now {new!r}"
    return None


def _beside(old: str | None, new: str | None) -> bool:
    """Whether two lines say nearly the same."""
    if old is None or new is None:
        return False
    placed = old.startswith(PLACE) and new.startswith(PLACE)
    pattern = NUMBER if placed else BROKEN
    if pattern.sub("#", old) != pattern.sub("#", new):
        return False
    pairs = [(float(a), float(b)) for a, b in zip(pattern.findall(old), pattern.findall(new), strict=True)]
    return all(abs(a - b) <= (APART if placed else NEAR * max(abs(a), abs(b))) for a, b in pairs)
