"""The norms of gradients in a scene are those of the numbers that the engine computed, from their time on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.trace.events import Accumulated, Trace, VjpRun
from viz.graph.folds import FOLD_ABOVE
from viz.run.run import Run
from viz.scene.norms import inner_name
from viz.scene.reading import reading_of
from viz.scene.scene import scene

from ..helpers.traces import CASE_1, TRANSFORMER, recorded

Json = Mapping[str, Any]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return recorded(TRANSFORMER, tmp_path_factory.mktemp("norms"))


@pytest.fixture(scope="module")
def told(trace: Trace) -> Json:
    return scene(trace, fold_above=FOLD_ABOVE)


def box(told: Json, label: str) -> Json:
    found: Json = next(node for node in told["nodes"] if node["kind"] == "group" and node["label"] == label)
    return found


def norm(trace: Trace, value: int) -> float:
    array = trace.value(value).array
    assert array is not None
    return float(np.linalg.norm(array.astype(np.float64)))


def test_a_folded_module_has_a_dot_for_each_of_its_parameters(told: Json) -> None:
    names = [dot["name"] for dot in box(told, "blocks.0: Block")["dots"]]
    assert names == ["ln.weight", "ln.bias", "mlp.0.weight", "mlp.0.bias", "mlp.2.weight", "mlp.2.bias"]
    assert [dot["shape"] for dot in box(told, "blocks.0: Block")["dots"]][2] == [8, 4]
    assert "dots" not in box(told, "data") and "dots" not in box(told, "AdamW.step")


def test_a_dot_is_empty_until_its_gradient_has_come_and_then_has_the_norm_of_grad(trace: Trace, told: Json) -> None:
    sums = {event.tensor: event for event in trace.events if isinstance(event, Accumulated)}
    steps = reading_of(trace).line.step_of
    for label in ("tok", "blocks.0: Block", "blocks.1: Block"):
        for dot in box(told, label)["dots"]:
            event = sums[int(dot["id"].removeprefix("t"))]
            assert dot["norm"][0] == (0, None)
            assert dot["norm"][1][0] == steps[event.index] + 1
            assert dot["norm"][-1][1] == pytest.approx(norm(trace, event.after), rel=1e-3)


TWO_MODELS = """
import engine as torch
from engine import nn
def deep():
    return nn.Sequential(*(nn.Linear(2, 2) for _ in range(8)))
encoder, decoder = deep(), deep()
one, other = (torch.optim.SGD(part.parameters(), lr=0.1) for part in (encoder, decoder))
for step in range(2):
    one.zero_grad()
    other.zero_grad()
    decoder(encoder(torch.ones(1, 2))).sum().backward()
    one.step()
    other.step()
"""


def test_dots_have_the_gradients_of_the_iteration_before_until_those_are_cleared(tmp_path: Any) -> None:
    window = Run(recorded(TWO_MODELS, tmp_path)).trace(1)
    nodes = scene(window, fold_above=FOLD_ABOVE)["nodes"]
    norms = [dot["norm"] for node in nodes for dot in node.get("dots", [])]
    assert len(norms) == 32 and all(isinstance(track[0][1], float) for track in norms)
    assert [track[1] for track in norms] == [(step, None) for step in range(1, 33)], "they are cleared one by one"


def test_a_tied_weight_has_a_dot_in_both_modules_marked_as_shared(told: Json) -> None:
    (first,), further = box(told, "tok")["dots"], box(told, "head")["dots"]
    again = next(dot for dot in further if dot["id"] == first["id"])
    assert first["shared"] and again["shared"] and first["norm"] == again["norm"]
    assert [dot["name"] for dot in further if "shared" not in dot] == ["bias"]


def test_the_norm_of_a_box_is_that_of_the_whole_gradient_of_what_it_gives(trace: Trace, told: Json) -> None:
    """Block 1 takes the result of block 0 in several ops: their gradients add up to what block 0 receives."""
    read = reading_of(trace)
    label = {label: group for group, label in read.drawing.grouping.labels.items()}["blocks.0: Block"]
    last = max(op for op, group in read.drawing.grouping.of.items() if group == label)
    vjp = trace.events[read.facts.ops[last].vjps[0]]
    assert isinstance(vjp, VjpRun) and vjp.upstream[0] is not None
    shown = box(told, "blocks.0: Block")["tracks"]["norm"]
    assert shown[0] == (0, None)
    assert shown[-1][1] == pytest.approx(norm(trace, vjp.upstream[0]), rel=1e-3)


def test_an_edge_between_boxes_carries_the_norm_of_what_goes_along_it(told: Json) -> None:
    one, other = box(told, "blocks.0: Block"), box(told, "blocks.1: Block")
    edge = next(e for e in told["edges"] if (e["source"], e["target"]) == (one["id"], other["id"]))
    assert edge["tracks"]["norm"][-1][1] == one["tracks"]["norm"][-1][1]


def test_the_scale_holds_every_norm_and_a_small_program_has_none(trace: Trace, told: Json, tmp_path: Any) -> None:
    low, high = told["norms"]
    norms = [dot["norm"][-1][1] for node in told["nodes"] for dot in node.get("dots", [])]
    assert all(low <= one <= high for one in norms)
    assert math.log10(low) == round(math.log10(low))
    small = scene(recorded(CASE_1, tmp_path))
    assert small["norms"] is None and small["model"] is None


def test_what_beside_a_model_passes_no_gradient_says_so(trace: Trace, told: Json) -> None:
    assert {node["label"]: node["quiet"] for node in told["nodes"] if "quiet" in node} == {
        "data": "data", "AdamW.step": "update", "no gradient": "aside",
    }  # fmt: skip
    assert told["model"] == "model: Net"
    inner = scene(trace, fold_above=FOLD_ABOVE, folds={box(told, "AdamW.step")["id"]: False})
    assert not any("dots" in node for node in inner["nodes"] if node["group"] == box(told, "AdamW.step")["id"])
    ends = {end for edge in told["edges"] for end in (edge["source"], edge["target"])}
    assert box(told, "AdamW.step")["id"] not in ends


def test_a_parameter_is_named_as_in_the_module_of_its_box() -> None:
    assert inner_name("model.blocks.3.attn.qkv.weight", "attn") == "qkv.weight"
    assert inner_name("w", "step = 1") == "w"


SUMMED = """
import engine as torch

a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
total = 0
for i in range(3):
    slope, = torch.autograd.grad((a * a).sum(), a, create_graph=True)
    total += (slope * b).sum() * 2
torch.autograd.grad(total * 1.0 if {outside} else total, [a, b], torch.tensor(3.0))
"""


@pytest.mark.parametrize("outside", [True, False])
def test_the_iteration_that_makes_the_root_has_the_norm_of_what_is_passed(outside: bool, tmp_path: Path) -> None:
    """The roots of the calls in it have none there: they are not its results."""
    told = scene(recorded(SUMMED.format(outside=outside), tmp_path), fold_above=1)
    assert [box(told, f"i = {i}")["tracks"]["norm"][-1][1] for i in range(3)] == [3, 3, 3]
