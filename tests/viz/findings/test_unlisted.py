"""Layers that a module keeps in a plain list, and programs that mean it so."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.finding import Finding
from viz.findings.untrained import unlisted
from viz.reading.facts import collect

from ..helpers.traces import recorded

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
