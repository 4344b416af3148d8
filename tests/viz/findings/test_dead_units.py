"""Layers whose units are 0 for every example, or copies of each other; and those in which some are."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.alike_units import alike_units
from viz.findings.dead_units import dead_units
from viz.findings.finding import Finding
from viz.findings.findings import findings
from viz.reading.facts import collect

from ..helpers.traces import recorded

NET = """import engine as torch
from engine import nn
torch.manual_seed(0)
model = nn.Sequential({layers})
with torch.no_grad():
    model[0].bias[:{dead}] = -100.0
y = model(torch.randn({inputs}))
y.sum().backward()
"""
DENSE = "nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 1)"
CONVOLVED = "nn.Conv2d(1, 20, 3), nn.ReLU(), nn.Flatten(), nn.Linear(20 * 36, 1)"


def found(folder: Path, layers: str = DENSE, dead: int = 18, inputs: str = "32, 4") -> list[Finding]:
    return dead_units(collect(recorded(NET.format(layers=layers, dead=dead, inputs=inputs), folder)))


def test_most_units_of_a_layer_are_dead(tmp_path: Path) -> None:
    (one,) = found(tmp_path)
    assert one.label == "18 of 20 units are dead" and one.line == 7
    assert "18 of the 20 units (90 %) of relu in `model(torch.randn(32, 4))`" in one.why
    assert "are 0 for all 32 inputs: no gradient" in one.why


def test_units_of_a_convolution_are_its_channels(tmp_path: Path) -> None:
    (one,) = found(tmp_path, CONVOLVED, 19, "2, 1, 8, 8")
    assert one.label == "19 of 20 units are dead" and "for all 72 inputs" in one.why


@pytest.mark.parametrize(
    ("dead", "inputs"),
    [(0, "32, 4"), (10, "32, 4"), (20, "4, 4")],
    ids=["none", "half, as of inputs that are alike", "of so few inputs that it says nothing"],
)
def test_some_dead_units_are_no_finding(dead: int, inputs: str, tmp_path: Path) -> None:
    assert found(tmp_path, DENSE, dead, inputs) == []


def test_what_records_no_gradient_is_no_finding(tmp_path: Path) -> None:
    source = NET.format(layers=DENSE, dead=20, inputs="32, 4").replace("y = ", "with torch.no_grad():\n    y = ")
    assert dead_units(collect(recorded(source.replace("y.sum().backward()", ""), tmp_path))) == []


ALIKE = """import engine as torch
from engine import nn
from engine.nn import functional as F
torch.manual_seed(0)
model = nn.Sequential({layers})
with torch.no_grad():
    for layer in [m for m in model if hasattr(m, "weight")][:{many}]:
        layer.weight.fill_(float('{value}'))
        layer.bias.fill_(float('{value}'))
    {after}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    F.cross_entropy(model(torch.randn({inputs})), torch.arange(12) % 3).backward()
    {update}
"""
AS_IT_IS = {
    "layers": "nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 3)", "many": 2, "value": 0.1, "after": "", "inputs": "12, 5",
    "update": "optimizer.step()",
}  # fmt: skip
RECTIFIED = "nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 3)"
CHANNELS = "nn.Conv2d(1, 9, 3), nn.ReLU(), nn.Conv2d(9, 3, 6), nn.Flatten()"
LARGE = "nn.Linear(300, 240), nn.Sigmoid(), nn.Linear(240, 3)"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"value": 0.0},
        {"value": 0.0, "layers": RECTIFIED},
        {"layers": CHANNELS, "inputs": "12, 1, 8, 8"},
        {"layers": LARGE, "inputs": "12, 300"},
        {"layers": "nn.Linear(5, 9), nn.Sigmoid(), nn.Dropout(0.0), nn.Linear(9, 3)"},
        {"update": "with torch.no_grad():\n        for p in model.parameters(): p -= 0.1 * p.grad"},
    ],
    ids=["constant", "zero", "zero, and dead", "convolutions", "of which samples are known", "more between", "by hand"],
)
def test_units_that_began_with_the_same_weights_are_told(change: dict[str, object], tmp_path: Path) -> None:
    seen = findings(collect(recorded(ALIKE.format(**AS_IT_IS | change), tmp_path)))
    (one,) = (finding for finding in seen if finding.kind == "alike-units")
    units = 240 if change.get("layers") == LARGE else 9
    assert one.label == f"{units} units are alike" and one.line == 14 and "copies of each other" in one.why
    assert not {"dead-units", "stalled"} & {finding.kind for finding in seen}, "they follow from it"


@pytest.mark.parametrize(
    "change",
    [
        {"many": 1},
        {"many": 0},
        {"after": "model[0].bias[0] = 0.2"},
        {"layers": "nn.Linear(5, 9), nn.Dropout(), nn.Linear(9, 3)"},
        {"layers": "nn.Linear(5, 3)", "many": 1},
        {"update": "pass"},
        {"value": float("inf")},
    ],
    ids=["one layer", "none", "a bias that differs", "dropout", "a layer alone", "without an update", "not finite"],
)
def test_units_that_differ_or_are_not_trained_are_no_finding(change: dict[str, object], tmp_path: Path) -> None:
    assert alike_units(collect(recorded(ALIKE.format(**AS_IT_IS | change), tmp_path))) == []
