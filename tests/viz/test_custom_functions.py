"""What the app makes of custom Functions, of writes to views, and of hooks on nodes."""

from __future__ import annotations

import json
from typing import Any

import engine
from viz.details import details
from viz.scene import scene


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
