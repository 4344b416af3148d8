"""Edits: what the browser says of commands is what was recorded, and where only numbers change the picture stays."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine as torch
from engine.replay.program import Edits, commands
from engine.replay.replay import replay
from engine.trace.events import ErrorRaised
from viz.layout import views
from viz.scene.scene import scene
from viz.server.callbacks import requests
from viz.server.revisions import to_edits

from ..helpers import pictures, programs


def number(place: str | None) -> int | None:
    """The tensor of an element, as assets/js/page/edits.mjs reads it; None for what is no card."""
    found = re.match(r"t(\d+)", place or "")
    return int(found[1]) if found else None


def spec(command: dict[str, Any]) -> dict[str, Any]:
    """A command as the browser sends it that changes another one."""
    backward = command["kind"] == "backward"
    inputs = command["inputs"]
    return {
        "id": command["id"], "kind": command["kind"], "after": command["after"], "gradient": None,
        "root": number(command["root"]) if backward else None, "leaf": None if backward else number(command["root"]),
        "inputs": None if inputs is None else [number(place) for place in inputs],
        "retain_graph": command["retain_graph"], "create_graph": command["create_graph"],
    }  # fmt: skip


@pytest.mark.parametrize("name", pictures.names())
def test_commands_that_nobody_changed_are_those_that_were_recorded(name: str) -> None:
    base = programs.recorded(name)[0]
    listed = pictures.scene(name)["commands"]
    sent = to_edits(base, {"leaves": {}, "commands": [spec(command) for command in listed]}).commands
    known = {command.id: command for command in commands(base)}
    assert sent is not None and len(sent) == len(listed)
    for one in sent:
        was = known[one.id]
        assert (one.roots, one.inputs, one.leaf) == (was.roots, was.inputs, was.leaf)


def test_an_edit_of_numbers_lays_out_nothing_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    base = replay(programs.recorded("rnn")[0])  # a trace that nobody has looked at yet
    scene(base)
    other = replay(base, Edits({}, tuple(replace(c, gradient=3.0) for c in commands(base) if c.kind == "backward")))
    asked = []
    monkeypatch.setattr(views, "picture_for_view", lambda *given: asked.append(given))
    scene(other)
    assert not asked


@pytest.mark.parametrize(("gradient", "fits"), [("none", True), ("nan", True), ("None", False), (["none"], False)])
def test_that_no_gradient_is_passed_is_asked_for_in_one_word(gradient: Any, fits: bool) -> None:
    sent = {"id": "c0", "kind": "backward", "after": 1, "root": 1, "gradient": gradient}
    asked = {"program": "p", "edits": {"leaves": {}, "commands": [sent]}}
    if fits:
        assert requests.read(requests.EXPORT, json.dumps(asked).encode()) == asked
        return
    with pytest.raises(requests.MalformedRequest, match="should be numbers, or the strings nan, inf and -inf"):
        requests.read(requests.EXPORT, json.dumps(asked).encode())


@pytest.mark.parametrize(("gradient", "errors"), [(None, 0), ("none", 1), ([1.0, 2.0], 0)])
def test_call_without_a_gradient_is_the_same_in_the_file_of_its_revision(
    gradient: Any, errors: int, tmp_path: Path
) -> None:
    with torch.record() as base:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        z = x * x
        z.backward(torch.tensor([1.0, 0.0]))
    (command,) = commands(base)
    sent = {"id": command.id, "kind": "backward", "after": command.after, "gradient": gradient}
    edited = replay(base, to_edits(base, {"leaves": {}, "commands": [sent]}))
    edited.save(str(tmp_path / "edited.trace"))
    found = torch.Trace.open(str(tmp_path / "edited.trace"))
    assert found.meta["edits"]["commands"][0]["gradient"] == gradient
    raised = [[event for event in trace.events if isinstance(event, ErrorRaised)] for trace in (found, replay(found))]
    assert raised[0] == raised[1] and len(raised[0]) == errors and z.shape == x.shape
