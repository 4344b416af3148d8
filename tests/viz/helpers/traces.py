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
