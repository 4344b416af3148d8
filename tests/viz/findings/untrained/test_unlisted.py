"""Layers that a module keeps in a plain list, and programs that mean it so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.helpers.recordings import recorded_here
from viz.findings.finding import Finding
from viz.findings.findings import findings
from viz.findings.untrained.unlisted import unlisted
from viz.reading.facts import collect
from viz.run.run import Run
from viz.scene.run_overview import in_iterations

from ...helpers.traces import recorded

NET = """import engine as torch
from engine import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = {layers}([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.head = nn.Linear(2, 1)

    def forward(self, x):
        for number in range(2):
            x = self.layers[number](x)
        return self.head(x)

net = Net()
opt = torch.optim.SGD({params}, lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    opt.step()
"""


def found(folder: Path, layers: str = "list", params: str = "net.parameters()") -> list[Finding]:
    return unlisted(collect(recorded(NET.format(layers=layers, params=params), folder)))


def test_layers_in_a_plain_list_are_in_no_optimiser(tmp_path: Path) -> None:
    (one,) = found(tmp_path)
    assert one.label == "4 parameters are in no optimiser" and one.line == 12
    assert "does not list them among its parameters, so SGD does not hold them" in one.why
    named = "net.layers[0].weight, net.layers[0].bias, net.layers[1].weight and net.layers[1].bias"
    assert one.why.startswith(f"net uses {named} in `self.layers[number](x)` (line 12)")
    assert "nn.ModuleList" in one.fix


@pytest.mark.parametrize(
    ("layers", "params"),
    [
        ("nn.ModuleList", "net.parameters()"),
        ("nn.ModuleList", "net.head.parameters()"),
        ("list", "[*net.parameters(), *net.layers[0].parameters(), *net.layers[1].parameters()]"),
    ],
)
def test_what_is_listed_or_held_otherwise_is_no_finding(layers: str, params: str, tmp_path: Path) -> None:
    assert found(tmp_path, layers, params) == []


PHYSICS = """    y = net(x)
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph={create_graph})
    {loss}.backward()
"""


@pytest.mark.parametrize(
    ("create_graph", "loss", "labels"),
    [("True", "(slope**2 + y).sum()", []), ("False, retain_graph=True", "y.sum()", ["x is in no optimiser"])],
)
def test_an_input_of_which_the_loss_has_derivatives_is_nothing_to_train(
    create_graph: str, loss: str, labels: list[str], tmp_path: Path
) -> None:
    text = PHYSICS.format(create_graph=create_graph, loss=loss)
    source = NET.replace("    net(torch.ones(3, 2)).sum().backward()\n", text)
    source = source.replace("net = Net()\n", "net = Net()\nx = nn.Linear(2, 3).weight\n")
    found = unlisted(collect(recorded(source.format(layers="nn.ModuleList", params="net.parameters()"), tmp_path)))
    assert [one.label for one in found] == labels


WITHIN = """
class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(2, 1), nn.Linear(1, 2)

    def forward(self, x):
        return {forward}

net = Net()
"""


DOWN = (
    "net.layers[0].down.weight, net.layers[0].down.bias, net.layers[1].down.weight and net.layers[1].down.bias"
    " in `self.down(x)`"
)


@pytest.mark.parametrize(
    ("forward", "named"),
    [("x + self.up(self.down(x))", f"8 parameters, among them {DOWN}"), ("self.down(x) + x", DOWN)],
)
def test_only_parameters_that_the_quoted_expression_uses_are_named(forward: str, named: str, tmp_path: Path) -> None:
    source = NET.replace("\nnet = Net()\n", WITHIN.replace("{forward}", forward))
    source = source.replace("nn.Linear(2, 2), nn.Linear(2, 2)", "Adapter(), Adapter()")
    source = source.replace("for number in range(2):", "for layer in self.layers:").replace(
        "self.layers[number](x)", "layer(x)"
    )
    (one,) = unlisted(collect(recorded(source.format(layers="list", params="net.parameters()"), tmp_path)))
    assert one.why.startswith(f"net uses {named} (line 21), and gradients reach them")
    assert "self.up" not in one.why


CREATED = """        head = nn.Linear(2, 1)
        return head(x)
"""
REPLACED = """        self.head = nn.Linear(2, 1)
        return self.head(x)
"""


@pytest.mark.parametrize(
    ("forward", "name", "iterations"), [(CREATED, "head", 1), (CREATED, "head", 2), (REPLACED, "net.head", 1)]
)
def test_layers_that_each_call_creates_are_told_from_a_plain_list(
    forward: str, name: str, iterations: int, tmp_path: Path
) -> None:
    source = NET.replace("        return self.head(x)\n", forward).replace(
        "range(2):\n    opt", f"range({iterations}):\n    opt"
    )
    (one,) = unlisted(collect(recorded(source.format(layers="nn.ModuleList", params="net.parameters()"), tmp_path)))
    assert one.label == "2 parameters are in no optimiser" and one.line == 14
    assert one.why.startswith(f"net uses {name}.weight and {name}.bias in ")
    assert "again in each call, in line 13, with new initial values, and SGD does not hold" in one.why
    assert "once, in `__init__`, before the optimiser is created" in one.fix


SCALED = """import engine as torch
from engine import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 1)
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        {first}
        return self.head(x * self.scale)

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    opt.step()
"""


def test_parameter_that_forward_creates_is_in_no_optimiser(tmp_path: Path) -> None:
    source = SCALED.format(first="self.scale = nn.Parameter(torch.ones(2))")
    (one,) = unlisted(collect(recorded(source, tmp_path)))
    assert one.line == 12 and "creates it again in each call, in line 11" in one.why
    assert one.fix == "Create it once, in `__init__`, before the optimiser is created."


ON_TORCH = """import torch
from torch import nn
""" + SCALED.split("\n", 2)[2].format(first="self.scale = nn.Parameter(torch.ones(2))")


@pytest.mark.parity
def test_parameter_that_forward_creates_is_one_finding_in_each_iteration(tmp_path: Path) -> None:
    """Of PyTorch, where a module lists the parameter from the call before."""
    pytest.importorskip("torch")
    run = Run(recorded_here(ON_TORCH, tmp_path))
    kinds = [[one.kind for one in findings(collect(run.trace(number)))] for number in range(len(run.sections))]
    assert kinds == [["unlisted"]] * 3
    assert [one["explains"] for one in in_iterations(run)] == [["unheld"]]


@pytest.mark.parametrize("first", ["pass", "self.shift = torch.ones(2)", "x = x.clone().requires_grad_()"])
def test_constants_and_inputs_of_forward_are_no_finding(first: str, tmp_path: Path) -> None:
    assert unlisted(collect(recorded(SCALED.format(first=first), tmp_path))) == []
