"""After an edit a story tells of nothing that does not happen, and stops where the program does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.batches import batches
from tests.viz.helpers import pictures
from viz.server.programs import gallery_programs
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Problem, Revision, Store

from ..server.test_revisions import spec

PROGRAMS = [program for program in gallery_programs() if program.chapters is not None]
STORE = Store(Catalogue(PROGRAMS), StoreComputation())
Json = dict[str, Any]


def edited(name: str, change: Callable[[list[Json]], list[Json]]) -> tuple[Json, Json]:
    """The scenes of a program as recorded, and with its commands changed."""
    base: Json = dict(pictures.scene(name))
    commands = change([spec(command) for command in base["commands"]])
    revision = STORE.revision(name, {"leaves": {}, "commands": commands})
    return base, drawn(revision)


def drawn(revision: Revision) -> Json:
    found: Json = STORE.scene(revision, None, {}, "").json()
    return found


def not_retained(commands: list[Json]) -> list[Json]:
    return [{**command, "retain_graph": False} for command in commands]


def without_the_first(commands: list[Json]) -> list[Json]:
    return commands[1:]


def test_chapters_behind_the_error_of_an_edit_are_gone() -> None:
    _, scene = edited("weights", lambda commands: [{**commands[0], "retain_graph": False}, *commands[1:]])
    *told, stop = [chapter for chapter in scene["program"]["chapters"] if "gone" not in chapter]
    gone = [chapter for chapter in scene["program"]["chapters"] if "gone" in chapter]
    assert stop["title"].startswith("RuntimeError in line") and stop["fix"] and stop["inspect"]
    assert stop["step"] == len(scene["steps"]) and all(chapter["step"] < stop["step"] for chapter in told)
    assert gone and all(chapter["step"] is None for chapter in gone)
    assert gone[-1]["gone"] == f"This no longer happens: the program stops first, at the {stop['title']}."


def test_chapter_of_a_call_that_was_removed_says_so() -> None:
    _, scene = edited("weights", without_the_first)
    gone = [chapter["gone"] for chapter in scene["program"]["chapters"] if "gone" in chapter]
    assert any(text.startswith("This no longer happens: you removed `z.backward(") for text in gone)


def test_chapter_whose_numbers_are_others_says_what_happens_now() -> None:
    _, scene = edited("weights", lambda commands: [{**commands[0], "gradient": [[0, 1, 0, 0]]}, *commands[1:]])
    now = [chapter["now"] for chapter in scene["program"]["chapters"] if chapter.get("now")]
    assert now and not any("gone" in chapter for chapter in scene["program"]["chapters"])


@pytest.mark.parametrize("change", [not_retained, without_the_first])
@batches("program", [program.id for program in PROGRAMS])
def test_story_tells_of_what_happens_only(program: str, change: Callable[[list[Json]], list[Json]]) -> None:
    try:
        base, scene = edited(program, change)
    except Problem:
        if change is not without_the_first:
            raise
        return  # a later call uses what the removed one gave
    chapters = scene["program"]["chapters"]
    end = scene["error"]["step"] + 1 if scene["error"] else len(scene["steps"])
    steps = [chapter["step"] for chapter in chapters if chapter["step"] is not None]
    assert steps == sorted(steps) and all(0 <= step <= end for step in steps)
    if scene["error"] and not base["error"]:
        assert any(chapter.get("fix") and chapter["step"] == end for chapter in chapters)
    for chapter in chapters:
        assert "gone" not in chapter or (chapter["step"] is None and chapter["gone"])
