"""The positions where commands may stand, and the edits from the browser that reach the engine."""

from __future__ import annotations

import pytest

import engine
from engine.replay.program import commands
from engine.trace.events import Trace
from viz import gallery
from viz.scene.command_positions import last_place, places
from viz.server import programs
from viz.server.revisions import StoreComputation, to_edits
from viz.server.store import Problem


def several() -> Trace:
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        a, b = x * 2, x * x
        engine.autograd.backward([a, b], [engine.tensor([1.0, 0.0]), engine.tensor([0.0, 1.0])])
    return trace


def test_places_are_the_lines_of_the_program_but_not_the_weights_within_a_call() -> None:
    found = gallery.find("weights")
    assert found is not None
    trace = programs.record_source(found.source, found.path)
    lines = [place["code"]["line"] if place["code"] else None for place in places(trace)]
    assert lines == [None, 3, 4, 5]
    assert [place["makes"] for place in places(trace)] == [[], [0], [1], [2]]


def test_last_place_lies_behind_every_command() -> None:
    for entry in gallery.gallery():
        trace = programs.record_source(entry.source, entry.path)
        known = [place["after"] for place in places(trace)]
        assert known == sorted(set(known))
        assert last_place(trace) >= max([command.after for command in commands(trace)] + known)


def test_edited_gradient_of_several_roots_is_that_of_the_first_and_the_others_stay() -> None:
    trace = several()
    spec = {"id": commands(trace)[0].id, "kind": "backward", "after": commands(trace)[0].after, "gradient": [1.0, 1.0]}
    edits = to_edits(trace, {"leaves": {}, "commands": [spec]})
    assert edits.commands is not None
    assert edits.commands[0].gradient == [[1.0, 1.0], [0.0, 1.0]] and len(edits.commands[0].roots) == 2


def test_refused_edit_says_what_was_expected_what_was_found_and_what_to_do() -> None:
    refusal = r"expected numbers in shape \[2\], found shape \[3\].*Nothing was changed.*Try other numbers"
    with pytest.raises(Problem, match=refusal):
        StoreComputation().replay(several(), {"leaves": {"0": [1, 2, 3]}, "commands": None})
