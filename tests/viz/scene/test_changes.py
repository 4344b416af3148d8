"""What edits change is said at the line that it is about; a call that was changed is not quoted as it was written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import engine as torch
from engine.replay.program import Command, Edits, commands
from engine.replay.replay import replay
from engine.trace.events import Trace
from tests.batches import batches
from viz.scene.changes import changes
from viz.scene.details import details
from viz.scene.scene import scene

from ..helpers import pictures, programs


def weights() -> tuple[Trace, list[Command]]:
    base = programs.recorded("weights")[0]
    return base, list(commands(base))


def told(base: Trace, listed: list[Command]) -> list[tuple[str, int | None, str]]:
    found = changes(base, Edits({}, tuple(listed)))
    return [(one["kind"], one["code"] and one["code"]["line"], one["text"]) for one in found]


@batches("name", pictures.names())
def test_recording_changes_nothing(name: str) -> None:
    base = programs.recorded(name)[0]
    assert changes(base, Edits()) == [] and changes(base, Edits({}, commands(base))) == []


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"gradient": [[0, 1, 0, 5]]}, "gradient [[0 1 0 5]]"),
        ({"retain_graph": False}, "retain_graph=False"),
        ({"create_graph": True, "gradient": [[2.5, 0, 0, 0]]}, "gradient [[2.5 0 0 0]], create_graph=True"),
        ({"inputs": (0,)}, "inputs=x"),
        ({"gradient": [[0.0] * 20]}, "gradient with different numbers"),
        ({"gradient": "none", "retain_graph": False}, "no gradient, retain_graph=False"),
    ],
)
def test_edited_call_says_in_what_it_differs(edit: dict[str, Any], said: str) -> None:
    base, listed = weights()
    listed[0] = replace(listed[0], **edit)
    assert told(base, listed) == [("edited", 7, said)]


def test_calls_left_out_added_and_moved_stand_at_their_lines() -> None:
    base, listed = weights()
    first, zero, second, *rest = listed
    assert told(base, [first, zero, *rest]) == [("removed", 12, "")]
    added = replace(first, id="new", base=None, gradient=[[1, 2, 3, 4]])
    assert told(base, [first, added, zero, second, *rest]) == [
        ("added", 7, "z.backward([[1 2 3 4]], retain_graph=True)")
    ]
    assert told(base, [first, zero, replace(second, after=first.after), *rest]) == [
        ("moved", 7, "z.backward(retain_graph=True)"), ("edited", 12, "runs after line 7"),
    ]  # fmt: skip


def test_calls_that_change_places_behind_one_line_are_told_of() -> None:
    base = programs.recorded("accumulation")[0]
    first, second, *rest = commands(base)
    found = told(base, [replace(second, after=first.after), first, *rest])
    assert [kind for kind, *_ in found].count("moved") == 1


def test_call_that_passes_no_gradient_already_is_not_changed_by_passing_none() -> None:
    with torch.record() as base:
        x = torch.tensor(2.0, requires_grad=True)
        (x * x).backward()
    (command,) = commands(base)
    assert [text for *_, text in told(base, [replace(command, gradient="none")])] == []
    assert [text for *_, text in told(base, [replace(command, gradient=2.0)])] == ["gradient 2"]


def test_gradients_of_several_roots_are_written_as_a_list() -> None:
    with torch.record() as base:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        a, b = x * 2, (x * x).sum()
        torch.autograd.backward([a, b], [torch.tensor([1.0, 0.0]), torch.tensor(3.0)])
    (command,) = commands(base)
    edits = Edits({}, (replace(command, gradient=["none", 3.0]),))
    (found,) = changes(base, edits)
    assert found["text"] == "gradient [None, 3]"
    made = scene(replay(base, edits), edits=edits.as_json(), changes=[found])
    assert made["commands"][0]["label"] == "backward([a, b], [None, 3])" and made["commands"][0]["implicit"] is True


def test_leaf_that_an_op_computes_is_edited_at_its_line_and_no_other_op_gets_a_new_id() -> None:
    with torch.record() as base:
        w = (torch.ones(2) * 0.5).requires_grad_()
        (w * 3).sum().backward()
    recorded = scene(base)
    leaf = next(node for node in recorded["nodes"] if node["label"] == "w")
    edits = Edits({int(leaf["id"][1:]): [1.0, 2.0]})
    (found,) = changes(base, edits)
    assert found["text"] == "w = [1 2]" and found["code"] == leaf["code"]
    edited = {node["id"]: node["label"] for node in scene(replay(base, edits))["nodes"]}
    was = {node["id"]: node["label"] for node in recorded["nodes"]}
    assert was.items() > edited.items() and {"× 0.5", "ones"} == {was[one] for one in was.keys() - edited.keys()}


def test_edited_leaf_says_its_values_at_its_line() -> None:
    base = programs.recorded("weights")[0]
    (found,) = changes(base, Edits({0: [[1, 2, 3, 9]]}, None))
    assert found["code"] is not None
    assert (found["kind"], found["code"]["line"], found["text"]) == ("edited", 3, "x = [[1 2 3 9]]")


def test_changed_call_is_labelled_as_it_ran() -> None:
    base, listed = weights()
    listed[0] = replace(listed[0], gradient=[[0, 1, 0, 5]], retain_graph=False)
    edits = Edits({}, tuple(listed))
    run = replay(base, edits)
    made = scene(run, edits=edits.as_json(), changes=changes(base, edits))
    label = "z.backward([0 1 0 5])"
    assert made["commands"][0]["label"] == label and made["commands"][0]["changed"] == "edited"
    assert [phase["label"] for phase in made["phases"] if phase["call"] == 0] == [label]
    assert made["commands"][1]["changed"] is None
    op = next(node["id"] for node in made["nodes"] if node["kind"] == "op")
    assert f"{label}, line 7" in str(details(run, made, op))


def test_changed_call_has_its_pencil_on_the_timeline() -> None:
    base, listed = weights()
    listed[2] = replace(listed[2], gradient=[[0, 0, 0, 5]])
    edits = Edits({}, tuple(listed))
    made = scene(replay(base, edits), edits=edits.as_json(), changes=changes(base, edits))
    (pencil,) = [mark for mark in made["marks"] if mark["kind"] == "edit"]
    assert pencil["step"] == made["commands"][2]["start"] and pencil["label"].startswith("edited: z.backward([0 0 0 5]")
