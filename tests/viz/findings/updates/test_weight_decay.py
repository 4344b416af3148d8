"""Weight decay that is stronger than what the loss asks for, and decay as it is usual."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.finding import SectionFinding
from viz.findings.updates.weight_decay import strong_decay
from viz.run.run import Run
from viz.scene.run_overview import in_iterations

from ...helpers.traces import recorded

PROGRAM = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
x, y = torch.randn(32, 6), torch.randn(32, 2)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
opt = torch.optim.{optimizer}
for step in range(24):
    opt.zero_grad()
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.step()
"""


def found(folder: Path, optimizer: str) -> SectionFinding | None:
    return strong_decay(Run(recorded(PROGRAM.format(optimizer=optimizer), folder)))


@pytest.mark.parametrize(
    ("optimizer", "reason"),
    [
        ("SGD(net.parameters(), lr=0.1, weight_decay=5.0)", "SGD adds 5 × each weight to its gradient"),
        ("AdamW(net.parameters(), lr=0.05, weight_decay=10.0)", "AdamW multiplies each weight by 0.5"),
        ("SGD(net.parameters(), lr=0.04, weight_decay=2.4)", "SGD adds 2.4 × each weight to its gradient"),
    ],
)
def test_decay_that_takes_the_weights_away_is_the_cause(optimizer: str, reason: str, tmp_path: Path) -> None:
    one = found(tmp_path, optimizer)
    assert one is not None and one.section == 0
    assert reason in one.why and "The norm of net.0.weight goes from" in one.why and "weight_decay" in one.fix


@pytest.mark.parametrize(
    "optimizer",
    [
        "SGD(net.parameters(), lr=0.1, weight_decay=1e-2)",
        "SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)",
        "AdamW(net.parameters(), lr=0.05, weight_decay=0.5)",
        "Adam(net.parameters(), lr=0.02, weight_decay=0.1)",
    ],
)
def test_decay_as_it_is_usual_is_no_finding(optimizer: str, tmp_path: Path) -> None:
    assert found(tmp_path, optimizer) is None


def test_strong_decay_explains_gradients_that_fade(tmp_path: Path) -> None:
    source = PROGRAM.format(optimizer="SGD(net.parameters(), lr=0.1, weight_decay=5.0)")
    one = next(one for one in in_iterations(Run(recorded(source, tmp_path))) if "decay" in one["label"])
    assert one["kind"] == "mistake" and {"vanishing-run", "large-updates"} <= set(one["explains"])
