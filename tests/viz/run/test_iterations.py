"""What counts as an iteration, in programs as they are written."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from engine.trace.events import BackwardStarted
from engine.trace.file.outline import outline
from viz.run.iterations import sections

from ..helpers.traces import recorded

STEP = "    loss = (w * x).sum()\n    loss.backward()\n    w.grad = None\n"
HEAD = "import engine as torch\nw = torch.ones(2, requires_grad=True)\nx = torch.ones(2)\n"
OPTIMISER = """optimiser = torch.optim.SGD([w], lr=0.1)
def step():
    optimiser.zero_grad()
    (w * x).sum().backward()
    optimiser.step()
"""


CLOSURE = """optimiser = torch.optim.SGD([w], lr=0.1)
def closure():
    optimiser.zero_grad()
    loss = (w * x).sum()
    loss.backward()
    return loss
"""


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
    "loop in a while": (
        "n = 0\nwhile n < 2:\n    for micro in range(2):\n" + indented(STEP) + "    n += 1\n",
        ["round 1 micro = 0", "round 1 micro = 1", "round 2 micro = 0", "round 2 micro = 1"],
    ),
    "loop in one whose variable is not used": (
        "for _ in range(2):\n    for micro in range(2):\n" + indented(STEP),
        ["round 1 micro = 0", "round 1 micro = 1", "round 2 micro = 0", "round 2 micro = 1"],
    ),
    "closure that is evaluated after a step": (CLOSURE + "optimiser.step(closure)\nprint(closure().item())\n", [""]),
    "closure that is evaluated after each step": (
        CLOSURE + "optimiser.step(closure)\nprint(closure().item())\noptimiser.step(closure)\nclosure()\n",
        ["optimiser.step(closure)", "print(closure().item())", "optimiser.step(closure)", "closure()"],
    ),
    "loop of one pass in a while": (
        OPTIMISER + "n = 0\nwhile n < 3:\n    for update in range(1):\n        step()\n    n += 1\n",
        ["round 1 update = 0", "round 2 update = 0", "round 3 update = 0"],
    ),
    "loop of one pass in another": (
        OPTIMISER + "for n in range(3):\n    for update in range(1):\n        step()\n",
        ["n = 0 update = 0", "n = 1 update = 0", "n = 2 update = 0"],
    ),
    "loop of one pass with two backward calls in another": (
        OPTIMISER
        + "for n in range(2):\n    for update in range(1):\n        (w * x).sum().backward()\n        step()\n",
        ["n = 0 update = 0", "n = 1 update = 0"],
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
    "loop over the steps of an episode": (
        "for episode in range(2):\n    played = [(w * x).sum() for _ in range(3)]\n    for chance in played:\n"
        "        loss = -chance.log()\n        loss.backward()\n    w.grad = None\n",
        ["episode = 0", "episode = 1"],
    ),
    "loop over the steps of the only episode": (
        "played = [(w * x).sum() for _ in range(3)]\nfor i, chance in enumerate(played):\n"
        "    loss = -chance.log()\n    loss.backward()\n",
        ["before the loop", "i = 0", "i = 1", "i = 2"],
    ),
    "loop over batches whose weights are computed in it": (
        "for epoch in range(2):\n    for batch in range(2):\n        v = w * 2\n        (v * x).sum().backward()\n",
        ["epoch = 0 batch = 0", "epoch = 0 batch = 1", "epoch = 1 batch = 0", "epoch = 1 batch = 1"],
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
    "inner loop whose gradients are differentiated": (
        "for task in range(2):\n    fast = w\n    for _ in range(2):\n        loss = (fast * x * fast).sum()\n"
        "        (g,) = torch.autograd.grad(loss, fast, create_graph=True)\n        fast = fast - 0.1 * g\n"
        "    (fast * x).sum().backward()\n",
        ["task = 0", "task = 1"],
    ),
    "gradients that are differentiated, and no others": (
        "for step in range(2):\n    loss = (w * w).sum()\n    torch.autograd.grad(loss, w, create_graph=True)\n",
        ["step = 0", "step = 1"],
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


LIBRARY = """
class Trainer:
    def __init__(self, optimiser):
        self.optimiser = optimiser

    def fit(self, module, batches):
        for batch in batches:
            loss = module.training_step(batch)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()

def minimised(loss, x, times):
    for _ in range(times):
        value = loss(x)
        x.grad = None
        value.backward()
        x = (x - 0.1 * x.grad).detach().requires_grad_()
    return x

def evaluated(gradient, x, times):
    for _ in range(times):
        gradient(x)

def rows(y, x):
    for one in y:
        one.backward(retain_graph=True)
"""
"""A package with a training loop, as PyTorch Lightning's and Hugging Face's are."""
TRAINED = """
import engine as torch
from trainer_library import Trainer, evaluated, minimised, rows

class Module:
    def __init__(self):
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch):
        return (self.layer(batch) ** 2).mean()

module = Module()
"""
FIT = "Trainer(torch.optim.SGD(module.layer.parameters(), lr=0.1)).fit(module, [torch.ones(2)] * 3)\n"
MINIMISED = "found = minimised(lambda x: (x**2).sum(), torch.ones(2, requires_grad=True), 3)\n"
PHYSICS = """
x, layer = torch.ones(2, 2, requires_grad=True), module.layer
optimiser = torch.optim.LBFGS(layer.parameters(), max_iter=3, tolerance_grad=0.0, tolerance_change=0.0)

def residual():
    y = torch.tanh(layer(x)).sum()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
    return bend + slope - 1

def loss():
    optimiser.zero_grad()
    error = (residual() ** 2).mean()
    error.backward()
    return error

optimiser.step(loss)
"""
"""A physics-informed network: its one step computes the loss again and again, each time with derivatives in it."""
LAMBDA = """
x = torch.ones(2, requires_grad=True)
evaluated(lambda x: torch.autograd.grad((x**2).sum(), x)[0].tolist(), x, 3)
"""
CALLED_BACK = """
x = torch.ones(2, requires_grad=True)

def propagated(value):
    value.backward()

def error(x):
    value = (x**2).sum()
    propagated(value)

evaluated(error, x, 3)
"""
ROWS = "x = torch.ones(4, requires_grad=True)\nrows((x**2).unbind(), x)\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages" / "trainer_library"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.delitem(sys.modules, "trainer_library", raising=False)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FIT, ["step 0", "step 1", "step 2"]),
        (FIT.replace("* 3", "* 1"), ["the program"]),
        (
            FIT + "(module.layer(torch.ones(2)) * 2).sum()\n",
            ["step 0", "step 1", "step 2", "(module.layer(torch.ones(2)) * 2).sum()"],
        ),
        (
            2 * FIT.replace("* 3", "* 2"),
            [f"{line} · step {step}" for line in ("Trainer(torch.optim.SGD(module.layer.pa…",) * 2 for step in (0, 1)],
        ),
        (f"for fold in range(2):\n    {FIT}", ["fold = 0", "fold = 1"]),
        (MINIMISED, ["minimised 0", "minimised 1", "minimised 2", "found = minimised(lambda x: (x**2).sum(…"]),
        (MINIMISED.replace("3)", "2)"), ["the program"]),
        (ROWS, ["the program"]),
        (PHYSICS, ["loss 0", "loss 1", "loss 2", "optimiser.step(loss)"]),
        (LAMBDA, ["evaluated 0", "evaluated 1", "evaluated 2"]),
        (CALLED_BACK, ["error 0", "error 1", "error 2"]),
        (
            CALLED_BACK + LAMBDA,
            [
                *(f"evaluated(error, x, 3) · error {number}" for number in range(3)),
                *(
                    f"{line} · evaluated {number}"
                    for line in ("evaluated(lambda x: torch.autograd.grad…",)
                    for number in range(3)
                ),
            ],
        ),
    ],
    ids=[
        "steps",
        "one step",
        "after",
        "twice",
        "loop around",
        "calls",
        "two calls",
        "rows of one root",
        "derivatives",
        "lambda",
        "called back",
        "called back in two loops",
    ],
)
def test_iterations_of_a_loop_in_a_library(text: str, expected: list[str], tmp_path: Path) -> None:
    trace = recorded(TRAINED + text, tmp_path)
    assert not any("trainer_library" in file for file in trace.files)
    found = sections(trace, outline(trace.events))
    assert [one.name for one in found] == expected
    assert found[-1].end == len(trace.events)
    assert all(a.end == b.start for a, b in itertools.pairwise(found))
    starts = outline(trace.events).where(BackwardStarted).tolist()
    if len(expected) == 3:
        assert all(one.start <= start < one.end for one, start in zip(found, starts, strict=True))
