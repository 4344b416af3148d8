"""What the browser is given has the form of viz/schema (of the scenes of the gallery test_picture_laws.py says so)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.viz.helpers import pictures
from tests.viz.helpers.forms import fault_of_details, fault_of_scene
from viz.server.programs import from_trace, record_source
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

OWN = """import engine as torch
a = torch.tensor([-1.0, 4.0], requires_grad=True)
y = torch.sqrt(a).sum()
y.backward()
y.backward()
"""
"""A program without a story: a nan, and an error at the end."""
EDITED = {"leaves": {"0": [[1, 2, 3, 9]]}, "commands": None}


def test_edited_revision_has_the_form_of_the_schema() -> None:
    store = pictures.store()
    now, before = store.revision("weights", EDITED), store.revision("weights", None)
    scene = store.scene(now, before, {}, "").json()
    assert fault_of_scene(json.dumps(scene)) == ""
    assert scene["previous"]["values"] and scene["changes"]


def test_own_program_has_the_form_of_the_schema(tmp_path: Any) -> None:
    trace = record_source(OWN, tmp_path / "own.py")
    program = from_trace(trace)
    store = Store(Catalogue([program]), StoreComputation())
    scene = store.scene(store.revision(program.id, None), None, {}, "").json()
    assert fault_of_scene(json.dumps(scene)) == ""
    assert scene["error"] and scene["findings"] and [chapter["fix"] for chapter in scene["program"]["chapters"]]


@pytest.mark.parametrize("name", ["weights", "rnn", "poisoned_where", "gradcheck"])
def test_details_have_the_form_of_the_schema(name: str) -> None:
    store, scene = pictures.store(), pictures.scene(name)
    revision = store.revision(name, None)
    elements = [node["id"] for node in scene["nodes"]]
    found = {one: fault_of_details(json.dumps(store.details(revision, one).json())) for one in elements}
    assert {one: fault for one, fault in found.items() if fault} == {}


def changed(place: list[str | int], value: Any) -> str:
    """A scene with another value at a place; None takes the key away."""
    scene = json.loads(json.dumps(pictures.scene("weights")))
    *path, last = place
    part = scene
    for key in path:
        part = part[key]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return json.dumps(scene)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["layuot"], "layered"),
        (["steps", 0, "say"], None),
        (["steps", 0, "kind"], "backward"),
        (["nodes", 0, "tracks", "state"], [[0, "begun"]]),
        (["nodes", 0, "tracks", "sate"], [[0, "idle"]]),
        (["nodes", 0, "x"], "0"),
        (["edges", 0, "points", 0], [1]),
        (["values", 0, "data"], ["Infinity"]),
        (["values", 0, "stats", "size"], 4.5),
    ],
)
def test_scene_of_another_form_is_found_out(place: list[str | int], value: Any) -> None:
    assert ".".join(map(str, place)) in fault_of_scene(changed(place, value))
