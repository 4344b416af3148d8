"""Graphs that grow with each iteration, and those that are as long each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.growing_graph import growing_graph
from viz.run.run import Run
from viz.scene.run_overview import in_iterations

from ..helpers.traces import recorded

PROGRAM = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
cell, out = nn.RNNCell(3, 4), nn.Linear(4, 1)
opt = torch.optim.SGD(out.parameters(), lr=0.01)
h = torch.zeros(2, 4)
for step in range(10):
    x = torch.randn(2, 3)
    h = cell(x, h)
    loss = (out(h.detach()) + h.mean()).square().mean()
    opt.zero_grad()
    loss.backward(retain_graph={retain})
    opt.step()
    {after}
"""


def found(folder: Path, after: str, retain: bool = True) -> Run:
    return Run(recorded(PROGRAM.format(retain=retain, after=after), folder))


def test_state_that_is_not_detached_makes_the_graph_grow(tmp_path: Path) -> None:
    run = found(tmp_path, "pass")
    one = growing_graph(run)
    assert one is not None and one.section == 9
    assert one.why.startswith("`loss.backward(retain_graph=True)` in line 13 goes back through")
    assert "in step = 0" in one.why and "in step = 9" in one.why and "h.detach()" in one.fix
    assert one.label in [mistake["label"] for mistake in in_iterations(run)]


@pytest.mark.parametrize("retain", [True, False])
def test_graph_of_one_iteration_is_no_finding(retain: bool, tmp_path: Path) -> None:
    assert growing_graph(found(tmp_path, "h = h.detach()", retain)) is None
