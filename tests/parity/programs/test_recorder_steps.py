"""Steps of optimisers as trainers make them: with a closure that computes the loss, and fused into one op."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.trace.events import BackwardStarted, GroupEntered, GroupLeft, OpCalled
from engine.trace.file.outline import outline
from tests.parity.helpers.recordings import recorded_here
from viz.graph.graph import draw
from viz.graph.groups import groups
from viz.graph.tangles import untangle
from viz.reading.facts import collect
from viz.run.iterations import sections
from viz.run.measures import measured

pytestmark = pytest.mark.parity
torch = pytest.importorskip("torch")

CLOSURE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.Tanh())

def train(net):
    optimizer = torch.optim.Adam(net.parameters())

    def loss():
        optimizer.zero_grad()
        out = net.body(torch.ones(2, 3)).sum()
        out.backward()
        return out

    for step in range(2):
        optimizer.step(closure=loss)

train(Net())
"""
FUSED = """
import torch

for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
    w = torch.nn.Parameter(torch.ones(3))
    optimizer = kind([w], lr=0.1, fused=True)
    for step in range(3):
        (w * w).sum().backward()
        optimizer.step()
        assert w._version == 0
"""
FOLLOWING = """
import torch
from torch import nn

online, target = (nn.Sequential(nn.Linear(3, 4), nn.Tanh()) for _ in range(2))
optimizer = torch.optim.SGD(online.parameters(), lr=0.1)

@torch.no_grad()
def follow():
    for theirs, ours in zip(target.parameters(), online.parameters()):
        WRITE

for _ in range(3):
    x = torch.ones(2, 3)
    with torch.no_grad():
        goal = target(x)
    loss = (online(x) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    follow()
"""
"""A network whose weights follow another one's, as in BYOL, DDPG and DQN."""

TESTED_FIRST = """
import torch
from torch import nn

net = nn.Sequential(*(layer for _ in range(30) for layer in (nn.Linear(1, 1), nn.Tanh())))
net.requires_grad_(False)
x = torch.ones(3, 1, requires_grad=True)
y = net(x)
print(torch.autograd.grad(y.sum(), x, create_graph=True)[0].pow(2).mean())
net.requires_grad_(True)
x = torch.zeros(3, 1, requires_grad=True)
y = net(x)
torch.autograd.grad(y.sum(), x, create_graph=True)[0].pow(2).mean().backward()
"""
"""A network that is tested before it is trained, as DeepXDE does it."""


def test_boxes_stay_where_a_network_is_called_before_its_weights_need_gradients(tmp_path: Path) -> None:
    facts = collect(recorded_here(TESTED_FIRST, tmp_path))
    drawing = draw(facts, groups(facts))
    labels = list(drawing.grouping.labels.values())
    untangle(drawing)
    assert list(drawing.grouping.labels.values()) == labels
    owned = {facts.names.get(item.tensor): item.group for item in drawing.items.values() if item.kind == "tensor"}
    first, second = (group for group, label in drawing.grouping.labels.items() if label.startswith("net: Sequential"))
    assert second in drawing.grouping.paths[owned["net.0.weight"]], "its gradient comes from there"
    assert first in drawing.grouping.paths[owned["net.0.bias"]]


@pytest.mark.parametrize(
    "write",
    [
        "theirs.data = 0.9 * theirs.data + 0.1 * ours.data",
        "theirs.data.copy_(0.9 * theirs.data + 0.1 * ours.data)",
        "theirs.data.mul_(0.9).add_(ours.data, alpha=0.1)",
        "theirs.lerp_(ours, 0.1)",
        "target.load_state_dict(online.state_dict())",
    ],
)
@pytest.mark.parametrize("library", ["torch", "engine"])
def test_boxes_stay_where_the_weights_of_a_network_follow_those_of_another(
    library: str, write: str, tmp_path: Path
) -> None:
    imports = {"torch": "import torch\nfrom torch", "engine": "import engine as torch\nfrom engine"}
    source = FOLLOWING.replace("import torch\nfrom torch", imports[library], 1).replace("WRITE", write)
    facts = collect(recorded_here(source, tmp_path))
    drawing = draw(facts, groups(facts))
    labels = list(drawing.grouping.labels.values())
    untangle(drawing)
    assert list(drawing.grouping.labels.values()) == labels
    outer = [label for group, label in drawing.grouping.labels.items() if drawing.grouping.within[group] is None]
    assert outer[:3] == ["round 1", "round 2", "round 3"], outer


@pytest.mark.parametrize("library", ["torch", "engine"])
def test_what_a_closure_computes_is_no_part_of_the_update(library: str, tmp_path: Path) -> None:
    imports = {"torch": "import torch\nfrom torch", "engine": "import engine as torch\nfrom engine"}
    trace = recorded_here(CLOSURE.replace("import torch\nfrom torch", imports[library], 1), tmp_path)
    outer: list[str] = []
    depth = 0
    for event in trace.events:
        if isinstance(event, GroupEntered):
            outer += [event.name] if not depth else []
            depth += 1
        elif isinstance(event, GroupLeft):
            depth -= 1
        elif isinstance(event, BackwardStarted):
            outer.append(f"backward at depth {depth}")
    assert outer == ["net.body", "backward at depth 0", "Adam.step"] * 2
    assert "net.body.0.weight" in trace.names.values()


def test_what_a_fused_step_writes_has_a_new_version_and_the_graph_no_cycle(tmp_path: Path) -> None:
    trace = recorded_here(FUSED, tmp_path)
    steps = [e for e in trace.events if isinstance(e, OpCalled) and "_fused_" in e.name]
    versions = [(step.inputs[0].version, step.outputs[0].version) for step in steps]
    assert versions == [(0, 1), (1, 2), (2, 3)] * 3
    products = [e for e in trace.events if isinstance(e, OpCalled) and e.name == "mul" and e.node is not None]
    assert [e.inputs[0].version for e in products] == [0, 1, 2] * 3
    facts = collect(trace)
    links = draw(facts, groups(facts)).links.values()
    assert not {(link.target, link.source) for link in links} & {(link.source, link.target) for link in links}


TURNS = """
import torch

w = torch.ones(2)
for t in range(3):
    with torch.no_grad():
        a = w * t
    b = a.view(2, 1)
"""


def test_the_last_op_of_an_iteration_is_in_it_where_the_next_begins_without_one(tmp_path: Path) -> None:
    trace = recorded_here(TURNS, tmp_path)
    turns = [(event.loops[0].text, trace.stacks[event.stack][-1].line) for event in trace.events if event.loops]
    assert [value for value, _ in turns] == ["0", "1", "2"]
    assert all(line < 8 for _, line in turns), turns


PADDED = """
import torch

data, w = torch.ones(6, 4), torch.nn.Parameter(torch.ones(4))
for i, n in enumerate(range(1, 4)):
    data[i, n:] = 0
for step in range(3):
    (data[2 * step : 2 * step + 2] * w).sum().backward()
"""


def test_iteration_is_named_by_its_value_where_a_write_through_a_view_is_noted_first(tmp_path: Path) -> None:
    trace = recorded_here(PADDED, tmp_path)
    assert any(event.loops and event.stack < 0 for event in trace.events)
    assert [one.label for one in sections(trace, outline(trace.events)) if one.kind == "iteration"] == [
        "step = 0", "step = 1", "step = 2",
    ]  # fmt: skip


INITIALISED = """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3, 2), 7.0))
        WRITE

    def forward(self, x):
        return x @ self.weight

layer = Layer()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
layer(torch.ones(1, 3)).mean().backward()
optimizer.step()
"""
"""A layer as many programs initialise it, before the recording has met its weight."""


@pytest.mark.parametrize(
    "write",
    ["self.weight.data.fill_(2)", "nn.init.constant_(self.weight.data, 2)", "self.weight.data[:] = 2",
     "self.weight.data[:2] = 2; self.weight.data[2].fill_(2)",
     "self.weight.data = torch.full((3, 2), 2.0)", "nn.init.constant_(self.weight, 2)"],
)  # fmt: skip
def test_weight_has_the_elements_that_its_initialisation_wrote_through_data(write: str, tmp_path: Path) -> None:
    trace = recorded_here(INITIALISED.replace("WRITE", write), tmp_path)
    facts = collect(trace)
    product = next(op.event for op in facts.ops if op.event.name == "mm")
    value = facts.read(product.inputs[1])
    assert value is not None and value.stats["min"] == value.stats["max"] == 2
    ratio = measured(trace, outline(trace.events)).updates.ratio
    assert ratio == pytest.approx([0.5 * 0.5 / 2]), "the gradient is 1/2 everywhere, and the initialisation no update"
