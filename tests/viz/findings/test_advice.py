"""What is said at an element is true of it: no remedy that the program has already, no line that did not make it."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from viz.scene.scene import scene

REBOUND = """x = torch.tensor([1., 2.], requires_grad=True)
h = 2 * x
h.retain_grad()
h = h * 3
h.sum().backward()
"""
LAYERS = """net = torch.nn.Linear(2, 1)
loss = (net(torch.ones(1, 2)) - 1).mean()
loss.backward()
"""


def drawn(source: str) -> Any:
    with engine.record() as trace:
        exec(compile(source, __file__.replace(".py", "_script.py"), "exec"), {"torch": engine})
    return scene(trace, folds={"g0": False})


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (REBOUND, ["unheld"]),
        (REBOUND.replace("h = h * 3\nh.", "k = h * 3\nk."), ["kept"]),
        (REBOUND.replace("h = h * 3\nh.sum", "x.sum"), ["unreached"]),
        (REBOUND.replace("h.retain_grad()\n", ""), []),
    ],
)
def test_gradient_that_was_asked_for_says_what_came_of_it(source: str, said: list[str]) -> None:
    assert [node["retains"] for node in drawn(source)["nodes"] if "retains" in node] == said


def test_parameter_is_not_from_the_line_that_first_uses_it() -> None:
    made = drawn(LAYERS)
    assert [node["code"] for node in made["nodes"] if node["role"] == "leaf"] == [None, None]
    assert all(step["code"] is None for step in made["steps"] if step["kind"] == "accumulate")
