"""The names of tensors that a recording of PyTorch first sees in an op."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.trace import source
from engine.trace.events import LeafCreated
from tests.parity.helpers.recordings import recorded_here
from viz.graph.graph import draw
from viz.graph.groups import groups
from viz.reading.facts import collect
from viz.scene.reading import reading_of

pytestmark = pytest.mark.parity
torch: Any = pytest.importorskip("torch")

LIBRARY = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3, 2))

    def forward(self, x):
        return x @ self.weight


class Trainer:
    def __init__(self, model, data):
        self.model, self.data = model, data

    def train(self):
        for (batch,) in self.data:
            (batch + 1).sum()
            self.model(batch).sum().backward()
"""

PROGRAM = """
import torch
import torch.nn.functional as F
from network_library import Net, Trainer

net = Net()
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(2, 3)), batch_size=2)
trainer = Trainer(net, data)
w = torch.ones(4, 3)
for batch in data:
    {call}
"""


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("trainer.train()", None),
        ("x = batch[0]; net.forward(x)", "x"),
        ("x = batch[0]; net(x)", "x"),
        ("x = batch[0]; F.linear(x, w)", "x"),
        ("x = batch[0]; x.sum()", "x"),
        ("x = batch[0]; x.flatten()", "x"),
        ("x = batch[0]; x.double()", "x"),
        ("x = batch[0]; x.reshape(-1)", "x"),
    ],
)
def test_a_batch_has_the_name_that_the_program_calls_it_not_that_of_the_object_that_uses_it(
    call: str, name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "network_library.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(library)
    monkeypatch.delitem(sys.modules, "network_library", raising=False)
    trace = recorded_here(PROGRAM.replace("{call}", call), tmp_path)
    batches = [
        event.tensor for event in trace.events if isinstance(event, LeafCreated) and event.source == "DataLoader"
    ]
    assert {trace.names.get(batch) for batch in batches} == {name}


TRAINING = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x, scale=1):
        {before}
        return self.fc(x) * scale

def compare(scores, gold):
    return nn.functional.nll_loss(scores.log_softmax(1), gold)

class Runner:
    def fit(self, model, batch):
        return model.forward(batch)

net = Net()
data = torch.utils.data.TensorDataset(torch.ones(8, 3), torch.zeros(8, dtype=torch.int64))
for batch in torch.utils.data.DataLoader(data, batch_size=2):
    images, labels = batch
    compare({call}, gold=labels).backward()
"""


@pytest.mark.parametrize(
    ("call", "before", "name"),
    [
        ("net(images)", "pass", "images"),
        ("net(scale=2, x=images)", "pass", "images"),
        ("net(*[images])", "pass", "x"),
        ("net(images)", "x = x.clone()", "x"),
        ("Runner().fit(net, images)", "pass", "x"),
    ],
)
def test_a_batch_stands_outside_of_the_calls_that_receive_it_under_its_name_there(
    call: str, before: str, name: str, tmp_path: Path
) -> None:
    trace = recorded_here(TRAINING.format(call=call, before=before), tmp_path)
    loaded = {e.tensor for e in trace.events if isinstance(e, LeafCreated) and e.source == "DataLoader"}
    assert {trace.names.get(tensor) for tensor in loaded} == {name, "labels"}
    drawing = reading_of(trace).drawing
    calls = set(drawing.grouping.callers)
    outside = {i.tensor for i in drawing.items.values() if calls.isdisjoint(drawing.grouping.paths[i.group])}
    assert {tensor for tensor in loaded if trace.names.get(tensor) in ("images", "labels")} <= outside


def test_a_long_program_is_parsed_once_however_many_batches_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = TRAINING.format(call="net(images)", before="pass") + "#" * source.MOST_KEPT
    facts = collect(recorded_here(long, tmp_path))
    parse, texts = source.syntax_tree, []

    def counted(text: str) -> ast.Module:
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(source, "syntax_tree", counted)
    draw(facts, groups(facts))
    assert len(texts) == 1


LISTED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x


net = Net()
net(torch.ones(3, 2)).sum().backward()
"""


def test_equal_layers_in_a_plain_list_of_a_module_have_names_of_their_own(tmp_path: Path) -> None:
    trace = recorded_here(LISTED, tmp_path)
    names = [event.name for event in trace.events if isinstance(event, LeafCreated) and event.source == "parameter"]
    assert names == [f"net.blocks[{place}].{name}" for place in (0, 1) for name in ("weight", "bias")]


LISTS = """
import torch

def parameters():
    return [torch.nn.Linear(2, 2).weight for _ in range(2)]  # of modules that nobody calls
weights, others = parameters(), parameters()
x = torch.ones(1, 2)

def double(y):
    return sum([y.exp() for _ in range(2)])

def exponentials(part):
    return [w.exp() for w in part]

for task in range(2):
    {line}
    (x + 1).sum()
"""


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("copies = [w.clone() for w in weights]", {"weights[0]", "weights[1]"}),
        ("outputs = [(x + 1) @ w.exp() for w in weights]", {"weights[0]", "weights[1]"}),
        ("sums = [a + b for a, b in zip(weights, others)]", {"weights[0]", "weights[1]", "others[0]", "others[1]"}),
        ("sums = [w.exp() * i for i, w in enumerate(weights)]", {"weights[0]", "weights[1]"}),
        ("sums = [double(x) + w.exp() for w in weights]", {"weights[0]", "weights[1]"}),
        ("sums = [w.exp() for w in reversed(weights)]", {"w"}),  # counting would give the other's name
        ("sums = [w.exp() for i, w in enumerate(weights, 1)]", {"w"}),
        ("sums = [w.exp() for w in weights if w.dim()]", {"w"}),
        ("sums = [w.exp() if w is weights[1] else x for w in weights]", {"w"}),
        ("sums = [[w.exp() for w in part] for part in (weights[:1], weights[1:])]", {"w"}),
        ("sums = [exponentials(part) for part in (weights[:1], weights[1:])]", {"w"}),
        ("for part in (weights[:1], weights[1:]): exponentials(part)", {"w"}),
        ("for part in (weights[:1], weights[1:]): [w.exp() for w in part]", {"w"}),
        ("for part in (weights, others): [w.exp() for w in weights]", {"weights[0]", "weights[1]"}),
        ("while weights: exponentials([weights.pop()])", {"w"}),
    ],
)
def test_an_element_of_a_list_is_called_by_its_index_where_that_is_sure(
    line: str, names: set[str], tmp_path: Path
) -> None:
    trace = recorded_here(LISTS.replace("{line}", line), tmp_path)
    tensors = {event.tensor for event in trace.events if isinstance(event, LeafCreated)} - {0}
    assert {trace.names[tensor] for tensor in tensors if tensor in trace.names} - {"x"} == names
