"""Layers of which most units are 0 for every example, and those in which some are."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.dead_units import dead_units
from viz.findings.finding import Finding
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
    assert "18 of the 20 units of relu in `model(torch.randn(32, 4))`" in one.why
    assert "are 0 for all 32 inputs, 90 %" in one.why


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
