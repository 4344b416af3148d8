"""Gradients of gradients through writes to views: torch's values, and the graph that torch makes of CopySlices."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from engine.replay.replay import replay

PROGRAMS = {
    "a factor": "y = x * 1; y[0].mul_(2); out = (y * y).sum()",
    "what another op gave": "y = x * 1; y[0] = x[1] * x[2]; out = (y * y).sum()",
    "a saved result": "y = x * 1; v = y[1:]; v.exp_(); out = (y * y * v.sum()).sum()",
    "a view of a view": "y = (x * 1).view(1, 3); v = y[0]; v.pow_(2); out = (y**2).sum() + v.sum()",
    "a number": "y = x * 1; y[1] = 0; out = (y**3).sum()",
    "a base without gradient": (
        "b = torch.zeros(3, dtype=torch.float64); b[0] = x[0] * x[0]; b[1:].add_(x[1:]); out = (b**2).sum()"
    ),
    "twice": "y = x * 1; y[0].mul_(y[1] * 1); y[1:].sigmoid_(); out = (y * y).prod()",
}
OTHER_RULES = frozenset({"a saved result", "a view of a view", "a number", "a base without gradient", "twice"})
"""Their graphs have the nodes of other rules too (of pow, prod, as_strided), which are written otherwise here."""


def ran(library: Any, program: str) -> tuple[list[str], list[float]]:
    """The names of the graph behind the first gradient, depth first, and the second gradient."""
    x = library.tensor([0.5, 1.5, -1.0], dtype=library.float64, requires_grad=True)
    space = {"torch": library, "x": x}
    exec(program, space)
    (first,) = library.autograd.grad(space["out"], x, create_graph=True)
    names: list[str] = []

    def walk(node: Any) -> None:
        names.append("none" if node is None else type(node).__name__)
        for following, _ in () if node is None else node.next_functions:
            walk(following)

    walk(first.grad_fn)
    (second,) = library.autograd.grad((first * first).sum(), x)
    return names, second.tolist()


@pytest.mark.parametrize("name", PROGRAMS)
def test_double_backward_through_a_written_view_is_torchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = ran(engine, PROGRAMS[name]), ran(torch, PROGRAMS[name])
    assert ours[1] == pytest.approx(theirs[1], rel=1e-12)  # sums in another order
    if name not in OTHER_RULES:
        assert ours[0] == theirs[0]
    assert not {"TakeSliceBackward0", "ZeroSliceBackward0"} & set(ours[0])


@pytest.mark.parametrize("name", PROGRAMS)
def test_double_backward_through_a_written_view_is_replayed(name: str) -> None:
    with engine.record() as trace:
        ran(engine, PROGRAMS[name])
    again = replay(trace)
    assert list(again.events) == list(trace.events) and again.meta["doubt"] is None
    assert [v.sample.tolist() for v in again.values] == [v.sample.tolist() for v in trace.values]
