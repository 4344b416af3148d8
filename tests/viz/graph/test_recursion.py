"""Programs that are nested deep: the work is linear in what was recorded, and what opens can be read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.trace.events import Trace
from tests.lines import lines_of
from tests.viz.helpers.forms import fault_of_scene
from viz.scene.scene import scene
from viz.server.programs import record_source

RECURSION = """
import engine as torch
x = torch.tensor([0.5, 0.2], requires_grad=True)
def f(x, n):
    if n == 0:
        return x
    y = f((x * 1.01).sin(), n - 1)
    return y * 2 + x
f(x, {n}).sum().backward()
"""
MODULES = """
import engine as torch
class Inside(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        x = (x * 2).sin()
        return x if self.inner is None else self.inner(x) + x
model = None
for _ in range({n}):
    model = Inside(model)
model(torch.tensor([0.5, 0.2], requires_grad=True)).sum().backward()
"""
LOOPS = """
import engine as torch
x = torch.tensor([0.5, 0.2], requires_grad=True)
def f(x, n):
    for _ in range(2):
        x = (x * 1.01).sin()
    return x if n == 0 else f(x, n - 1) * 2
f(x, {n}).sum().backward()
"""
PROGRAMS = {"recursion": RECURSION, "modules": MODULES, "loops": LOOPS}


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    """The program's own recursion needs room; ours is run in what Python has by default."""
    before = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(before)


def recorded(kind: str, depth: int) -> Trace:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(40 * depth + before)
    try:
        return record_source(PROGRAMS[kind].format(n=depth), Path("deep.py").absolute())
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("kind", PROGRAMS)
def test_scene_costs_lines_in_proportion_to_events(kind: str) -> None:
    depth = 64 if kind == "modules" else 48  # of less depth it opens unfolded, and its layout is what costs
    small, large = recorded(kind, depth), recorded(kind, 2 * depth)
    ratio = len(large.events) / len(small.events)
    assert lines_of(lambda: scene(large)) < 1.25 * ratio * lines_of(lambda: scene(small))


@pytest.mark.parametrize("kind", ["recursion", "modules"])
def test_program_that_is_hundreds_deep_opens_as_something_to_read(kind: str) -> None:
    found = scene(recorded(kind, 600 if kind == "recursion" else 300))
    shown = [node for node in found["nodes"] if node["kind"] != "group"]
    assert len(shown) < 120 and found["groups"]
    labels = {group["label"] for group in found["groups"]}
    assert all(len(label) < 60 for label in labels)
    assert fault_of_scene(json.dumps({key: part for key, part in found.items() if key != "inside"})) == ""


def test_calls_within_each_other_stand_in_a_row_on_the_way_in_and_back() -> None:
    labels = [group["label"] for group in scene(recorded("recursion", 8), folds={})["groups"]]
    assert "f · 2" in labels and "back in f · 2" in labels


def test_few_calls_within_each_other_stay_nested() -> None:
    labels = [group["label"] for group in scene(recorded("recursion", 3), folds={})["groups"]]
    assert labels and not any(label.startswith("back in") for label in labels)
