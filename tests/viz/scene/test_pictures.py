"""Visual regression, on the scene and not on pixels: what each program of the gallery shows, against stored text."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.viz import pictures
from viz.layout import dot

AGAIN = "If this is meant: python -m tests.viz.make_scenes {name}, and look at the diff."


def shown(text: str) -> str:
    """Everything but the places."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(pictures.PLACE))


@pytest.mark.parametrize("name", pictures.names())
def test_scene_shows_what_it_showed(name: str) -> None:
    path = pictures.HERE / f"{name}.txt"
    assert path.exists(), AGAIN.format(name=name)
    stored = path.read_text(encoding="utf-8")
    now = pictures.picture(pictures.scene(name))
    if not dot.is_available():  # the second layout serves then: places are others, all else is compared
        stored, now = shown(stored), shown(now)
    assert pictures.difference(stored, now) is None, AGAIN.format(name=name)


def test_every_stored_scene_is_of_a_program() -> None:
    assert sorted(path.stem for path in pictures.HERE.glob("*.txt")) == sorted(pictures.names())


def test_scene_is_the_same_in_another_process() -> None:
    """Nothing in it depends on the order of sets, on addresses or on when it was made."""
    code = "from tests.viz import pictures as p; print(p.picture(p.scene('three_inputs')), end='')"
    made = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True, timeout=60,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert made[0] == made[1] == pictures.picture(pictures.scene("three_inputs"))


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("place 10 20", "place 11 20", None),
        ("place 10 20", "place 13 20", "line 1"),
        ("place 10 20", "place 10 20 30", "line 1"),
        ("step 1 forward n0: 2", "step 1 forward n0: 3", "line 1"),
        ("node t0\nplace 1 1", "node t0", "line 2"),
        ("step 1", "step 1", None),
        ("step 1: 0.3242", "step 1: 0.32423", None),
        ("step 1: 0.3242", "step 1: 0.3252", "line 1"),
        ("step 1: 0.3242", "step 1: -0.3242", "line 1"),
        ("step 1: 1.5e-5", "step 1: 1.5e-4", "line 1"),
        ("parts steps 0b5e4c1f", "parts steps 0b5e5c1f", "line 1"),
        ("parts steps 0b5e4c1f~1.2500e+00", "parts steps 0b5e4c1f~1.2501e+00", None),
        ("parts steps 0b5e4c1f~1.2500e+00", "parts steps 0b5e4c1f~1.2600e+00", "line 1"),
        ("parts steps 0b5e4c1f~2.0000e+00", "parts steps 0b5e4c1f~1.9999e+00", None),
    ],
)
def test_difference_is_the_first_line_that_differs(old: str, new: str, found: str | None) -> None:
    said = pictures.difference(old, new)
    assert said is None if found is None else said is not None and said.startswith(found)
