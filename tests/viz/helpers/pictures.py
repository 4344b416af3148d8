"""The scenes of the gallery's programs, each made once for all tests, and the stored text that they are compared with.

A picture of pixels differs with fonts, browsers and drivers and says only that something changed; this text says what.
It is compared letter for letter, but for broken numbers: these within `NEAR`, because the last digits of an exp or of
a matrix product are the processor's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.viz.helpers.shared import shared
from viz.server.programs import gallery_programs
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

Json = Mapping[str, Any]

HERE = Path(__file__).parents[1] / "scenes"
NEAR = 1e-3
"""Relative distance up to which two broken numbers are the same."""
BROKEN = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)(?!\w)")


@cache
def store() -> Store:
    return Store(Catalogue(gallery_programs()), StoreComputation())


def names() -> list[str]:
    return [program.id for program in gallery_programs()]


@cache
def scene(name: str) -> Json:
    """The scene that the browser gets when it opens a program."""

    def make() -> Json:
        made = store()
        found: Json = made.scene(made.revision(name, None), None, {}, "").json()
        return found

    found: Json = shared("opened", name, make)
    return found


def stored(name: str) -> Path:
    """Where the text of a program's scene is kept."""
    return HERE / f"{name}.txt"


def difference(stored: str, now: str) -> str | None:
    """The first line that differs, or None; broken numbers may be a little apart."""
    for number, (old, new) in enumerate(itertools.zip_longest(stored.splitlines(), now.splitlines()), 1):
        if old != new and not _near(old, new):
            return f"line {number}: stored {old!r}, now {new!r}"
    return None


def _near(old: str | None, new: str | None) -> bool:
    """Whether two lines differ in broken numbers only, and in these by little."""
    if old is None or new is None or BROKEN.sub("#", old) != BROKEN.sub("#", new):
        return False
    pairs = zip(map(float, BROKEN.findall(old)), map(float, BROKEN.findall(new)), strict=True)
    return all(abs(a - b) <= NEAR * max(abs(a), abs(b)) for a, b in pairs)
