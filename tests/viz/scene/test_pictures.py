"""Visual regression, on the scene and not on pixels: what each program of the gallery shows, against stored text."""

from __future__ import annotations

import pytest

from tests.batches import batches
from tests.viz.helpers import pictures
from tests.viz.helpers.scene_text import IN_FULL, scene_text

AGAIN = "If this is meant: python -m tests.viz.make_scenes {name}, and look at the diff."


@batches("name", pictures.names())
def test_scene_shows_what_it_showed(name: str) -> None:
    path = pictures.stored(name)
    assert path.exists(), AGAIN.format(name=name)
    now = scene_text(pictures.scene(name))
    assert pictures.difference(path.read_text(encoding="utf-8"), now) is None, AGAIN.format(name=name)


def test_every_stored_scene_is_of_a_program() -> None:
    assert sorted(path.stem for path in pictures.HERE.glob("*.txt")) == sorted(pictures.names())
    assert set(pictures.names()) >= set(IN_FULL)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("step 1 forward n0: 2", "step 1 forward n0: 3", "line 1"),
        ("1. x\nthen x: done", "1. x", "line 2"),
        ("step 1", "step 1", None),
        ("step 1: 0.3242", "step 1: 0.32423", None),
        ("step 1: 0.3242", "step 1: 0.3252", "line 1"),
        ("step 1: 0.3242", "step 1: -0.3242", "line 1"),
        ("step 1: 1.5e-5", "step 1: 1.5e-4", "line 1"),
    ],
)
def test_difference_is_the_first_line_that_differs(old: str, new: str, found: str | None) -> None:
    said = pictures.difference(old, new)
    assert said is None if found is None else said is not None and said.startswith(found)
