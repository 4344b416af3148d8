"""What counts as an iteration, in programs as they are written."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from engine.trace.file.outline import outline
from viz.run.iterations import sections

from ..helpers.traces import recorded

STEP = "    loss = (w * x).sum()\n    loss.backward()\n    w.grad = None\n"
HEAD = "import engine as torch\nw = torch.ones(2, requires_grad=True)\nx = torch.ones(2)\n"


def indented(text: str, by: int = 4) -> str:
    return "".join(" " * by + line for line in text.splitlines(keepends=True))


CASES = {
    "loop": ("for step in range(3):\n" + STEP, ["step = 0", "step = 1", "step = 2"]),
    "no loop": (STEP.replace("    ", ""), [""]),
    "one round": ("for step in range(1):\n" + STEP, [""]),
    "no variable": ("for _ in range(3):\n" + STEP, ["round 1", "round 2", "round 3"]),
    "while": ("n = 0\nwhile n < 3:\n" + STEP + "    n += 1\n", ["round 1", "round 2", "round 3"]),
    "epochs": (
        "for epoch in range(2):\n    for batch in range(2):\n" + indented(STEP),
        ["epoch = 0 batch = 0", "epoch = 0 batch = 1", "epoch = 1 batch = 0", "epoch = 1 batch = 1"],
    ),
    "function": (
        "def train():\n" + STEP + "for step in range(2):\n    train()\n",
        ["step = 0", "step = 1"],
    ),
    "loop in a function": (
        "def train():\n    for batch in range(2):\n" + indented(STEP) + "for epoch in range(2):\n    train()\n",
        ["epoch = 0 batch = 0", "epoch = 0 batch = 1", "epoch = 1 batch = 0", "epoch = 1 batch = 1"],
    ),
    "evaluation between": (
        "for epoch in range(2):\n    for batch in range(2):\n" + indented(STEP) + "    print((w * x).sum())\n",
        [
            "epoch = 0 batch = 0",
            "epoch = 0 batch = 1",
            "epoch = 0 print((w * x).sum())",
            "epoch = 1 batch = 0",
            "epoch = 1 batch = 1",
            "epoch = 1 print((w * x).sum())",
        ],
    ),
    "inner loop that computes the loss": (
        "for step in range(2):\n    loss = 0\n    for part in range(3):\n        loss = loss + (w * x).sum()\n"
        "    loss.backward()\n",
        ["step = 0", "step = 1"],
    ),
    "two loops": (
        "for step in range(2):\n" + STEP + "for late in range(2):\n" + STEP,
        ["step = 0", "step = 1", "late = 0", "late = 1"],
    ),
    "stops early": ("for step in range(9):\n" + STEP + "    if step == 1:\n        break\n", ["step = 0", "step = 1"]),
    "error": (
        "for step in range(9):\n" + STEP + "    if step == 1:\n        w.backward()\n",
        ["step = 0", "step = 1"],
    ),
    "one line that says all": (
        "def step():\n" + STEP + "for _ in range(3): step()\n",
        ["round 1", "round 2", "round 3"],
    ),
    "calls of a function": (
        "def step(x):\n" + STEP + "    return loss\n\nstep(x)\nstep(x * 2)\nprint((w * x).sum())\nstep(x)\n",
        ["step(x)", "step(x * 2)", "print((w * x).sum())", "step(x)"],
    ),
    "calls of a function that calls another": (
        "def loss_of(x):\n    return (w * x).sum()\n\ndef step(x):\n    loss_of(x).backward()\n\nstep(x)\nstep(x)\n",
        ["step(x)", "step(x)"],
    ),
    "a function that only sums": (
        "def loss_of(x):\n    return (w * x).sum()\n\nloss_of(x).backward()\nloss_of(x).backward()\n",
        [""],
    ),
    "generator": (
        "def batches():\n    for n in range(3):\n        yield torch.full((2,), float(n)) * 2\n"
        "for x in batches():\n" + STEP,
        ["round 1", "round 2", "round 3"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_iterations_of_a_program(name: str, tmp_path: Path) -> None:
    text, expected = CASES[name]
    trace = recorded(HEAD + text, tmp_path)
    found = sections(trace, outline(trace.events))
    assert [" ".join([*one.around, one.label]) for one in found] == expected
    assert found[-1].end == len(trace.events)
    assert all(a.end == b.start for a, b in itertools.pairwise(found))
