"""What the app makes of custom Functions, of writes to views, and of hooks on nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import engine
from viz.scene.details import details
from viz.scene.reading import reading_of
from viz.scene.scene import scene
from viz.wording.sentences import say

from ..helpers import traces


class Scale(engine.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, k: float) -> Any:
        ctx.save_for_backward(x)
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.k, None


def recorded() -> engine.Trace:
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = Scale.apply(x, 2.0)
        y.grad_fn.register_prehook(lambda g: (g[0] * 10,))
        v = y[:2]
        v.mul_(3)
        (v * v).sum().backward()
    return trace


def test_scene_of_a_function_and_a_written_view_is_complete() -> None:
    trace = recorded()
    document = scene(trace)
    said = [step["say"] for step in document["steps"]]
    assert any(text.startswith("Scale(x) gives y = ") and "ScaleBackward saves x" in text for text in said)
    assert any(text.startswith("CopySlices(y, v, 3) changes y in place") for text in said)
    assert any(text.startswith("AsStridedBackward0 receives") for text in said)
    assert any("A hook on ScaleBackward turns" in text for text in said)
    json.dumps(document)


def test_details_of_a_write_to_a_view_claim_no_formula_that_is_not_its_own() -> None:
    trace = recorded()
    document = scene(trace)
    shown = [json.dumps(details(trace, document, node["id"])) for node in document["nodes"]]
    assert not any("clear" in text for text in shown)
    assert len(shown) > 8


OWN_CODE = """
import engine as torch

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        inner = x.detach().requires_grad_()
        with torch.enable_grad():
            y = inner**3
        (slope,) = torch.autograd.grad(y, inner, grad)
        return slope

x = torch.tensor(2.0, requires_grad=True)
y = x * 1
y.register_hook(lambda g: g.clamp(max=5))
y.register_hook(print)
Cube.apply(y).backward()
"""


def test_code_of_the_program_stands_in_its_step_and_a_graph_that_it_makes_is_drawn(tmp_path: Path) -> None:
    read = reading_of(traces.recorded(OWN_CODE, tmp_path))
    said = [say(step, read.drawing) for step in read.line.steps]
    assert said[1] == "Cube(y) gives 8. CubeBackward saves y. Its forward runs 1 op: y ** 3 = 8."
    calls = [read.line.phases[step.phase].call for step in read.line.steps]
    assert calls == [None, None, 0, 0, 1, 0, 0, 0], "a call inside of another is a phase of its own"
    assert said[3] == "inner ** 3 gives y = 8. PowBackward0 saves inner."
    hooked = next(text for text in said if "A hook on y" in text)
    assert "A hook on y turns 12 into 5: it runs 1 op: clamp(g, max=5) = 5. A hook on y changes nothing." in hooked
