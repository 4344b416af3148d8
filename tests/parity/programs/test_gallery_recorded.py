"""The gallery's programs give the same trace on the real torch as on the engine; each difference has a reason."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import io
import json
import linecache
import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.trace.events import Accumulated, AnyEvent, ErrorRaised, OpCalled, Trace, VjpRun
from tests.batches import batches
from viz.gallery import Program, gallery
from viz.record.block import Block
from viz.scene.scene import scene

pytestmark = [pytest.mark.parity, pytest.mark.usefixtures("oracle")]

torch: Any
try:
    torch = importlib.import_module("torch")
except ImportError:
    torch = None

PAGE = Path(__file__).resolve().parents[3] / "docs" / "differences.md"
SECTION = PAGE.read_text("utf-8").partition("## Recordings of PyTorch itself")[2].partition("\n## ")[0]
DIFFERENT = re.findall(r"^\| `(\w+)` \| .+ \|$", SECTION, re.MULTILINE)
"""Programs whose traces differ, by their last name; the page says why."""

PROGRAMS = [program for program in gallery() if not program.legacy]


def recorded(source: str) -> Trace:
    """The trace of a text that is run as a script."""
    path = os.path.abspath("program.py")
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)  # as of a file that is there
    code = compile(source, path, "exec")
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with quiet[0], quiet[1], warnings.catch_warnings(record=True), contextlib.suppress(Exception), Block() as trace:
        warnings.simplefilter("always")
        exec(code, {"__name__": "__main__"})
    return trace


CHANGED = {"kink": (2, 14)}
"""Programs to which a later PyTorch gives other numbers, and the first that does: clamp sends nothing at its bounds."""


def is_other() -> bool:
    """Whether this PyTorch is not the one that the engine follows."""
    return not torch.__version__.startswith("2.13.")


def is_changed(program: Program) -> bool:
    """Whether this PyTorch gives other numbers than the one that the engine follows."""
    return program.id in CHANGED and tuple(map(int, torch.__version__.split(".")[:2])) >= CHANGED[program.id]


def plain(event: AnyEvent) -> dict[str, Any]:
    """The fields of an event that say what happened, without the numbers of values, and without texts about it."""
    found = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    for name in ("stack", "loops", "value", "values", "gradient", "before", "added", "after", "note", "traceback"):
        found.pop(name, None)
    if isinstance(event, OpCalled):
        found["outputs"] = tuple(dataclasses.replace(out, value=0) for out in event.outputs)
        node = event.node
        if node is not None:
            saved = tuple(dataclasses.replace(one, value=None) for one in node.saved)
            found["node"] = dataclasses.replace(node, saved=saved)
    elif isinstance(event, VjpRun):
        for name in ("upstream", "cotangents", "unsummed"):
            found[name] = tuple(number is not None for number in getattr(event, name))
    if is_other():
        found.pop("message", None)  # several are worded in another way there
    if isinstance(event, ErrorRaised):
        del found["tensors"]  # torch does not say which tensors an error is about
    elif "roots" in found:
        found["roots"] = tuple(dataclasses.replace(root, gradient=0) for root in found["roots"])
    return {"kind": type(event).__name__, **found}


def numbers(event: AnyEvent) -> list[int | None]:
    """The values that an event names."""
    if isinstance(event, OpCalled):
        return [out.value for out in event.outputs]
    if isinstance(event, VjpRun):
        return [*event.upstream, *event.cotangents, *event.unsummed]
    names = ("value", "before", "added", "after")
    return [found for name in names if type(found := getattr(event, name, None)) is int]


def same_values(here: Trace, there: Trace, one: AnyEvent, other: AnyEvent) -> bool:
    for left, right in zip(numbers(one), numbers(other), strict=True):
        if left is not None and right is not None:
            a, b = here.value(left).array, there.value(right).array
            if a is None or b is None or not np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True):
                return False
    return True


def difference(here: Trace, there: Trace) -> str:
    """The first event in which the traces differ; "" where they are the same."""
    for one, other in zip(here.events, there.events, strict=False):
        if plain(one) != plain(other) or not same_values(here, there, one, other):
            return f"{one}\n{other}"
    if len(here.events) != len(there.events):
        return f"{len(here.events)} events, {len(there.events)} in torch"
    return "" if here.names == there.names else f"{here.names}\n{there.names}"


def outcome(trace: Trace) -> tuple[list[Any], list[Any]]:
    """What the leaves of a program accumulate, and the errors that it meets."""
    gradients = [trace.value(one.after).array for one in trace.events if isinstance(one, Accumulated)]
    errors = [one.type if is_other() else one.message for one in trace.events if isinstance(one, ErrorRaised)]
    return gradients, errors


@batches("program", PROGRAMS, lambda program: program.id, size=12)
def test_program_gives_the_same_trace_on_torch(program: Program) -> None:
    here, there = recorded(program.source), recorded(program.source.replace("import engine as torch", "import torch"))
    found = difference(here, there)
    if is_changed(program):
        assert found, "it is the same by now: take it out of the list"
        return
    assert bool(found) == (program.id in DIFFERENT), found or "it is the same by now: take it out of the list"
    (ours, our_errors), (theirs, their_errors) = outcome(here), outcome(there)
    assert our_errors == their_errors
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    if not found and not is_other():
        assert said(here) == said(there)


def said(trace: Trace) -> str:
    """What the page says of a program: the sentence of each step, findings, and the error with its place and fix.

    Without digits: those of the last place may differ, and `same_values` has compared all numbers.
    """
    told: dict[str, Any] = {"id": "program", "title": "", "question": "", "crumbs": [], "chapters": []}
    drawn = scene(trace, revision={"id": "r", "label": "", "base": None}, program=told)
    error = drawn["error"]
    problem = error and [error[key] for key in ("step", "node", "why", "fix")]
    findings = [[one[key] for key in ("kind", "label", "why", "fix")] for one in drawn["findings"]]
    text = json.dumps([[[step["say"], step["at"]] for step in drawn["steps"]], findings, problem], indent=0)
    return re.sub(r"[\d.]+(?:e[−-]\d+)?", "#", text)


def test_page_names_programs_and_counts_them() -> None:
    assert {program.id for program in PROGRAMS} > set(DIFFERENT) and len(DIFFERENT) == len(set(DIFFERENT))
    same = len(PROGRAMS) - len(DIFFERENT)
    assert f"Of the {len(PROGRAMS)} programs" in SECTION and f"{same} give" in SECTION
    assert f"The other {len(DIFFERENT)} get there in another way" in SECTION


WITH_MODE = ("two_layers", "half_detached", "gradcheck", "inner_grad", "hooks", "rnn")
"""Programs that were recorded differently under the mode that `torch.set_default_device` makes."""


@pytest.mark.parametrize("name", WITH_MODE)
def test_a_device_that_is_chosen_once_changes_nothing_in_the_recording(name: str) -> None:
    (program,) = (one for one in gallery() if one.id == name)
    source = program.source.replace("import engine as torch", "import torch")
    without = recorded(source)
    torch.set_default_device("cpu")
    try:
        under_mode = recorded(source)
    finally:
        torch.set_default_device(None)
    assert [plain(event) for event in under_mode.events] == [plain(event) for event in without.events]
