"""Gradients that fade or grow on their way back: found where they do, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.finding import Finding
from viz.findings.findings import findings
from viz.reading.facts import collect

from ..helpers.traces import recorded

RNN = """\
import engine as torch
torch.manual_seed(0)
U = (torch.randn(4, 4) * {scale}).requires_grad_()
h = torch.zeros(1, 4)
for t in range({steps}):
    h = torch.tanh(h @ U + 0.3)
h.sum().backward()
"""
DEEP = """\
import engine as torch
torch.manual_seed(0)
layers = [torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.{act}()) for _ in range(30)]
net = torch.nn.Sequential(*layers)
x = torch.randn(4, 8)
for step in range(3):
    net.zero_grad()
    net(x).square().mean().backward()
"""
GROWING = """\
import engine as torch
w = torch.tensor([[1.6]], requires_grad=True)
h = torch.ones(1, 1)
for t in range(40):
    h = h @ w
h.sum().backward()
"""
HEALTHY = {
    "few runs": RNN.format(scale=0.01, steps=5),
    "short": RNN.format(scale=0.5, steps=12),
    "sum with ever smaller weights": """\
import engine as torch
x = torch.ones(1, requires_grad=True)
total = 0
for k in range(20):
    total = total + 0.3 ** k * (x * 2)
total.backward()
""",
    "residual": """\
import engine as torch
torch.manual_seed(0)
layers = [torch.nn.Linear(8, 8) for _ in range(40)]
x = torch.randn(2, 8)
for layer in layers:
    x = x + torch.relu(layer(x))
x.sum().backward()
""",
    "residual with ever smaller steps": """\
import engine as torch
torch.manual_seed(0)
f = torch.nn.Linear(8, 8)
y = torch.randn(2, 8)
for k in range(20):
    y = y + 0.3 ** (20 - k) * torch.tanh(f(y))
y.sum().backward()
""",
    "zeros at once": """\
import engine as torch
w = torch.ones(1, requires_grad=True)
h = w
for k in range(20):
    h = torch.relu(h) if k != 15 else torch.relu(h - 2)
h.sum().backward()
""",
}


def found(program: str, folder: Path) -> list[Finding]:
    facts = collect(recorded(program, folder))
    return [finding for finding in findings(facts) if finding.kind in ("vanishing", "exploding")]


def test_gradient_that_fades_through_time_is_found_where_it_is_lost(tmp_path: Path) -> None:
    trace = recorded(RNN.format(scale=0.5, steps=60), tmp_path)
    (finding,) = [one for one in findings(collect(trace)) if one.kind == "vanishing"]
    assert (finding.label, finding.line) == ("The gradient vanishes", 6)
    assert "through 60 runs of add in `h @ U + 0.3` (line 6)" in finding.why
    assert "shrinks from 1.837 to 3.697e-13" in finding.why and "multiplies it by about 0.6" in finding.why
    assert "before the last 27 runs" in finding.why
    event = trace.events[finding.event]
    assert trace.value(event.upstream[0]).stats["norm"] < 1.837e-6  # type: ignore[union-attr,arg-type]


def test_gradient_that_becomes_zero_on_a_long_way_has_vanished_too(tmp_path: Path) -> None:
    (finding,) = found(RNN.format(scale=0.3, steps=150), tmp_path)
    assert "shrinks from 2 to 0" in finding.why


@pytest.mark.parametrize("act", ["Sigmoid", "Tanh", "ReLU"])
def test_layers_on_one_line_are_runs_too_and_told_once(act: str, tmp_path: Path) -> None:
    (finding,) = found(DEEP.format(act=act), tmp_path)
    assert finding.kind == "vanishing" and "This happens in 3 backward calls" in finding.why


def test_gradient_that_grows_is_found(tmp_path: Path) -> None:
    (finding,) = found(GROWING, tmp_path)
    assert (finding.kind, finding.label) == ("exploding", "The gradient explodes")
    assert "grows from 1 to 9.134e7: each run multiplies it by about 1.6" in finding.why


@pytest.mark.parametrize("program", HEALTHY.values(), ids=HEALTHY)
def test_healthy_program_has_no_such_finding(program: str, tmp_path: Path) -> None:
    assert found(program, tmp_path) == []
