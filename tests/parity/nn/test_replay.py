"""A training loop, and networks that keep state and draw, are run again bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as torch
from engine import nn, optim
from engine.replay.program import Edits, commands
from engine.replay.replay import replay
from engine.trace.events import ErrorRaised, Escaped, LeafCreated, OpCalled, Trace
from tests.fresh import canonical

FILE = Path(__file__).name
OPTIMISERS: dict[str, Callable[[Any], Any]] = {
    "SGD momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: optim.Adam(p, lr=0.05),
    "AdamW amsgrad": lambda p: optim.AdamW(p, lr=0.05, amsgrad=True),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
}
WEIGHT = np.random.default_rng(1).standard_normal((4, 3)).astype("float32")
OTHER = np.random.default_rng(2).standard_normal((4, 3)).astype("float32")


def training(make: Callable[[Any], Any], weight: np.ndarray) -> Trace:
    """Four steps of a small model whose first weight is given."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    with torch.no_grad():
        model[0].weight.copy_(torch.from_numpy(weight))
    optimizer = make(model.parameters())
    with torch.record() as trace:
        x = torch.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
        for _ in range(4):
            optimizer.zero_grad()
            loss = (model(x).tanh() - 0.5).pow(2).mean()
            loss.backward()
            optimizer.step()
    return trace


@pytest.mark.parametrize("name", OPTIMISERS)
def test_replay_of_a_training_loop_is_the_recording(name: str) -> None:
    base = training(OPTIMISERS[name], WEIGHT)
    assert canonical(replay(base), FILE) == canonical(base, FILE)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_replay_with_another_first_weight_equals_a_fresh_run(name: str) -> None:
    base, fresh = (training(OPTIMISERS[name], weight) for weight in (WEIGHT, OTHER))
    weight = next(e.tensor for e in base.events if isinstance(e, LeafCreated) and e.name == "model.0.weight")
    again = replay(base, Edits({weight: OTHER.tolist()}))
    assert canonical(again, FILE) == canonical(fresh, FILE)
    assert again.meta["doubt"] is None
    assert not any(isinstance(e, Escaped) for e in base.events)


def test_trace_of_a_training_loop_is_saved_and_opened(tmp_path: Path) -> None:
    base = training(OPTIMISERS["Adam"], WEIGHT)
    base.save(str(tmp_path / "t.backstep"))
    opened = Trace.open(str(tmp_path / "t.backstep"))
    assert tuple(opened.events) == tuple(base.events)
    assert opened.names == base.names


class Images(nn.Module):
    """Everything that keeps state or draws: batch norm, dropout, pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout(0.5), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(8, 3),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return self.body(x)


class Words(nn.Module):
    """Tables, recurrent layers and attention."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 4)
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, batch_first=True), 1)
        self.head = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return self.head(self.encoder(self.lstm(self.table(x))[0])[:, -1])


NETWORKS: dict[str, tuple[type[nn.Module], Callable[[], Any], str]] = {
    "images": (Images, lambda: torch.randn(4, 1, 7, 6), "body.0.bias"),
    "words": (Words, lambda: torch.randint(0, 5, (4, 3)), "head.bias"),
}


def network(name: str, bias: float) -> Trace:
    """Two steps of a network, one bias of which is given."""
    torch.manual_seed(0)
    kind, data, edited = NETWORKS[name]
    model, x = kind(), data()
    with torch.no_grad():
        model.get_parameter(edited).fill_(bias)
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    with torch.record() as trace:
        for _ in range(2):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 2, 0])).backward()
            optimizer.step()
    return trace


@pytest.mark.parametrize("name", NETWORKS)
def test_replay_of_a_network_equals_a_fresh_run(name: str) -> None:
    base, fresh = (network(name, bias) for bias in (0.5, 0.25))
    assert canonical(replay(base), FILE) == canonical(base, FILE)
    leaf = next(e for e in base.events if isinstance(e, LeafCreated) and e.name == f"model.{NETWORKS[name][2]}")
    again = replay(base, Edits({leaf.tensor: [0.25] * leaf.shape[0]}))
    assert canonical(again, FILE) == canonical(fresh, FILE)


@pytest.mark.parametrize("make", [optim.SGD, optim.Adam])
def test_an_optimiser_passes_over_what_has_no_gradient_also_in_a_replay(make: Any) -> None:
    with torch.record() as trace:
        model = nn.Linear(1, 1)
        optimizer = make(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(1, 1)).sum().backward()
            optimizer.step()
    calls = [c for c in commands(trace) if c.kind == "backward"]
    kept = tuple(c for c in commands(trace) if c != calls[0])
    again = replay(trace, Edits(commands=kept))
    assert not [e for e in again.events if isinstance(e, ErrorRaised)]
    assert again.meta["doubt"] is not None
    steps = [e for e in again.events if isinstance(e, OpCalled) and e.name == "add.alpha"]
    assert len(steps) == (2 if make is optim.SGD else 0)


VERSIONS = """
x = torch.ones(*shape).cumsum(0)
versions = lambda: [buffer._version for buffer in model.buffers()]
seen = [versions()]
for training in (True, True, False, True):
    model.train(training)
    model(x)
    seen.append(versions())
model.eval()
w = torch.ones(*shape, requires_grad=True)
saved = model(w)
model.train()
model(x)
error = None
try:
    saved.sum().backward()
except RuntimeError as raised:
    error = str(raised).split(":")[0]
"""


@pytest.mark.parametrize(
    ("kind", "shape"), [("BatchNorm1d", (4, 3)), ("BatchNorm2d", (2, 3, 4, 4)), ("InstanceNorm1d", (2, 3, 5))]
)
@pytest.mark.parametrize("momentum", [0.1, None])
def test_running_statistics_have_torchs_versions_and_are_moved_again_in_a_replay(
    kind: str, shape: tuple[int, ...], momentum: float | None
) -> None:
    reference = pytest.importorskip("torch")

    def run(library: Any) -> dict[str, Any]:
        model = getattr(library.nn, kind)(3, momentum=momentum, track_running_stats=True)
        space: dict[str, Any] = {"torch": library, "model": model, "shape": shape}
        exec(compile(VERSIONS, "<program>", "exec"), space)
        return space

    theirs, ours = run(reference), run(torch)
    assert ours["seen"] == theirs["seen"] and ours["error"] == theirs["error"]
    for one, other in zip(ours["model"].buffers(), theirs["model"].buffers(), strict=True):
        assert one.tolist() == pytest.approx(other.tolist(), rel=1e-5)  # float32
    with torch.record() as trace:
        run(torch)
    again = replay(trace)
    plain = [[replace(e, traceback="") if isinstance(e, ErrorRaised) else e for e in t.events] for t in (trace, again)]
    assert plain[0] == plain[1]
    assert [v.sample.tolist() for v in again.values] == [v.sample.tolist() for v in trace.values]
