"""The edits that chapters propose: read as they are written, and replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from viz.gallery import gallery
from viz.server import programs
from viz.server.lesson.likely_edits import foreseen
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Program, Store

SCRIPT = """import engine as torch

# ## Twice
# Doubled.
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = 2 * x

# ## Back
# ! gradient = [0, 1], retain_graph = True
# ! x = [3, 4]
# ! gradient = None
# ! z = 1
# ! gradient is [0, 1]
y.backward(torch.tensor([1.0, 0.0]))
"""
PROPOSING = [program for program in gallery() if any(chapter.tries for chapter in program.chapters)]


def opened(program: Program) -> tuple[Store, Any]:
    store = Store(Catalogue([program]), StoreComputation())
    return store, store.scene(store.revision(program.id, None), None, {}, "").json()


def test_lines_of_a_lesson_become_changes_of_its_call_and_its_leaves(tmp_path: Path) -> None:
    path = tmp_path / "lesson.py"
    path.write_text(SCRIPT)
    store, scene = opened(programs.from_trace(programs.record_source(SCRIPT, path), "lesson"))
    one, leaf, none, unknown, wrong = scene["program"]["chapters"][1]["tries"]
    (call,) = one["edits"]["commands"]
    assert (call["gradient"], call["retain_graph"], call["create_graph"]) == ([0, 1], True, False)
    assert leaf["edits"] == {"leaves": {"0": [3, 4]}, "commands": None}
    assert none["edits"]["commands"][0]["gradient"] == "none"
    assert "not a leaf" in unknown["problem"] and "write `# ! gradient" in wrong["problem"]
    assert foreseen(scene)[:3] == [one["edits"], leaf["edits"], none["edits"]]
    edited = store.scene(store.revision("my-lesson", one["edits"]), None, {}, "").json()
    assert edited["program"]["chapters"][1]["tries"][0] == one, "they are changes of the recording, not of the change"
    assert edited["program"]["chapters"][1]["now"].startswith("The leaf x receives [0 2]")


@pytest.mark.parametrize("program", PROPOSING, ids=lambda program: program.id)
def test_proposals_of_the_gallery_can_be_replayed(program: Any) -> None:
    store, scene = opened(programs.from_gallery(program))
    tries = [one for chapter in scene["program"]["chapters"] for one in chapter.get("tries", ())]
    assert len(tries) == sum(len(chapter.tries) for chapter in program.chapters)
    for one in tries:
        edited = store.scene(store.revision(program.id, one["edits"]), None, {}, "").json()
        assert edited["steps"] != scene["steps"] or edited["values"] != scene["values"]
