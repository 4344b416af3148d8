"""The names of tensors that a recording of PyTorch first sees in an op."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from engine.trace.events import LeafCreated
from tests.parity.helpers.recordings import recorded_here

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
