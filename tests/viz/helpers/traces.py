"""Programs recorded for the tests of the pure side of viz, and graphs to lay out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import networkx as nx

import engine
from engine.trace.events import Trace

CASE_1 = """\
import engine as torch

x = torch.tensor([[1., 2., 3., 4.]], requires_grad=True)
z = 2 * x
loss = z.sum(dim=1)

z.backward(torch.tensor([[1., 0., 0., 0.]]),
           retain_graph=True)
x.grad.zero_()
z.backward(torch.tensor([[0., 1., 0., 0.]]), retain_graph=True)
x.grad.zero_()
loss.backward()
"""

CASE_3 = """\
import engine as torch

a = torch.tensor([1., 2., 3.], requires_grad=True)
b = torch.tensor([3., 4., 5.], requires_grad=True)
c = torch.tensor([6., 7., 8.], requires_grad=True)
y = 3 * a + 2 * b * b + torch.log(c)
y.backward(torch.tensor([0.1, 1.0, 0.0001]))
"""

LOOP = """\
import engine as torch

w = torch.tensor([0.5, -0.5], requires_grad=True)
h = torch.tensor([1., 2.])
for step in range(6):
    h = torch.tanh(w * h + 0.1)
loss = h.sum()
loss.backward()
"""


TRANSFORMER = """\
import engine as torch
from engine import nn
from engine.nn import functional as F

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(4)
        self.mlp = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
    def forward(self, x):
        mask = torch.tril(torch.ones(4, 4)) == 0
        a = (x @ x.transpose(1, 2)).masked_fill(mask, -1e9).softmax(-1)
        return x + self.mlp(self.ln(a @ x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(5, 4)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(4, 5)
        self.head.weight = self.tok.weight
    def forward(self, idx, to):
        x = self.tok(idx)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(x).transpose(1, 2), to)

torch.manual_seed(0)
model = Net()
optimizer = torch.optim.AdamW(model.parameters())
data = torch.randint(0, 5, (2, 5))
loss = model(data[:, :-1], data[:, 1:])
loss.backward()
optimizer.step()
print(loss.detach() * 2)
"""
"""A training step of a small transformer whose first and last weight are one."""


def recorded(source: str, folder: Path) -> Trace:
    """The trace of a program; an exception that it raises is its last event."""
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "__main__"}
    trace: Trace | None = None
    try:
        with engine.record() as trace:
            exec(compile(source, str(path), "exec"), scope)
    except Exception:
        if trace is None:
            raise
    return trace


def dag(nodes: int, extra: int, seed: int) -> nx.DiGraph:
    """A random directed acyclic graph with boxes of several sizes: a spanning forest and `extra` edges."""
    draw = random.Random(seed)  # noqa: S311  a graph, no secret
    graph = nx.DiGraph()
    for node in range(nodes):
        graph.add_node(node, size=(draw.choice([96, 116, 212]), draw.choice([38, 56, 84, 136])))
        if node and draw.random() < 0.9:
            graph.add_edge(draw.randrange(max(0, node - 6), node), node)
    for _ in range(extra):
        a, b = sorted(draw.sample(range(nodes), 2))
        graph.add_edge(a, b)
    return graph
