"""The lines of a program in a scene: how often each ran, and the largest gradient that reaches it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.trace.events import VjpRun, damaged_value
from viz.scene.scene import scene

from ..helpers.traces import recorded

PROGRAM = """
import engine as torch
def layer(x, w):
    y = x @ w
    return torch.relu(y)
w = torch.full((2, 2), 0.5, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
x = torch.ones(3, 2)
for k in range(4):
    x = layer(layer(x, w), w)
    x = sum([x * i for i in range(1, 4)])
loss = x.mean()
loss.backward()
opt.step()
opt.zero_grad()
"""


def lines_of(folder: Path, text: str = PROGRAM) -> tuple[Any, dict[str, Any]]:
    trace = recorded(text, folder)
    told = scene(trace)
    written = text.splitlines()
    script = list(trace.files.values()).index(text)
    return trace, {written[one["line"] - 1].strip(): one for one in told["lines"] if one["file"] == script}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Any]]:
    return lines_of(tmp_path_factory.mktemp("lines"))


def test_a_line_runs_once_in_each_call_and_each_round_whatever_ops_it_has(told: tuple[Any, dict[str, Any]]) -> None:
    runs = {line: one["runs"] for line, one in told[1].items()}
    assert runs["y = x @ w"] == runs["return torch.relu(y)"] == 8
    assert runs["x = layer(layer(x, w), w)"] == 4
    assert runs["x = sum([x * i for i in range(1, 4)])"] == 4, "the ops of a comprehension are one run of its line"
    assert [runs[line] for line in ("loss = x.mean()", "opt.zero_grad()", "loss.backward()", "opt.step()")] == [1] * 4
    assert runs["w = torch.full((2, 2), 0.5, requires_grad=True)"] is None


def test_a_line_has_the_norm_of_the_largest_gradient_that_comes_to_it(told: tuple[Any, dict[str, Any]]) -> None:
    trace, lines = told
    frames = {
        e.node.node: trace.stacks[e.stack][-1].line
        for e in trace.events
        if getattr(e, "node", None) is not None and e.stack >= 0
    }
    found: dict[int, float] = {}
    for event in trace.events:
        if isinstance(event, VjpRun) and event.node in frames:
            norms = [float(np.linalg.norm(trace.value(v).array)) for v in event.upstream if v is not None]
            line = frames[event.node]
            found[line] = max(found.get(line, 0.0), *norms)
    for one in lines.values():
        if one["line"] in found:
            assert one["norm"] == pytest.approx(found[one["line"]], rel=1e-3)
    assert lines["loss = x.mean()"]["norm"] == 1
    assert lines["w = torch.full((2, 2), 0.5, requires_grad=True)"]["norm"] is not None, "a leaf gets one too"
    assert lines["opt.step()"]["norm"] is None and lines["opt.zero_grad()"]["norm"] is None


def test_a_gradient_that_is_not_finite_is_the_largest(tmp_path: Path) -> None:
    text = (
        "import engine as torch\nx = torch.tensor([0.0], requires_grad=True)\ny = x.sqrt()\n(y * 0).sum().backward()\n"
    )
    _, lines = lines_of(tmp_path, text)
    assert lines["x = torch.tensor([0.0], requires_grad=True)"]["norm"] == "nan"
    assert lines["y = x.sqrt()"]["norm"] == 0 and not math.isnan(lines["(y * 0).sum().backward()"]["norm"])


def test_gradient_without_elements_is_not_a_nan(told: tuple[Any, dict[str, Any]]) -> None:
    """As complex ones are: a trace has their shape alone."""
    trace, _ = told
    lost = {
        value for event in trace.events if isinstance(event, VjpRun) for value in event.upstream if value is not None
    }
    values = [damaged_value(value.shape, "float32") if nr in lost else value for nr, value in enumerate(trace.values)]
    document = scene(replace(trace, values=tuple(values)))
    norms = {one["norm"] for one in document["lines"]} | {one["norm"] for one in document["spans"]}
    assert norms and "nan" not in norms
