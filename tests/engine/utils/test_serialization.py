"""save and load: what comes back is what was written, and nothing else is read or run."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import nn, optim


def test_states_of_a_module_and_an_optimiser_come_back(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    model(engine.ones(2, 2) * engine.tensor([[1.0], [2.0]])).pow(2).sum().backward()
    optimizer.step()
    path = tmp_path / "checkpoint.pt"
    engine.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    found = engine.load(str(path), map_location="cpu", weights_only=True)
    assert found["epoch"] == 3
    other = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    assert repr(other.load_state_dict(found["model"])) == "<All keys matched successfully>"
    for mine, theirs in zip(other.state_dict().values(), model.state_dict().values(), strict=True):
        assert mine.dtype is theirs.dtype and engine.equal(mine, theirs)
    again = optim.Adam(other.parameters(), lr=0.5)
    again.load_state_dict(found["optimizer"])
    assert again.param_groups[0]["lr"] == 0.1 and again.param_groups[0]["betas"] == (0.9, 0.999)
    assert engine.equal(again.state[other[0].weight]["exp_avg"], optimizer.state[model[0].weight]["exp_avg"])


VALUES: list[Any] = [
    None, True, 3, -0.5, float("inf"), "größe", [1, (2, "x")], {1: "a", "b": [None]}, engine.Size((2, 3)),
    engine.float16, (),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_come_back(value: Any) -> None:
    file = io.BytesIO()
    engine.save(value, file)
    found = engine.load(file)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool"])
def test_tensors_come_back_with_dtype_shape_and_kind(dtype: str) -> None:
    which = getattr(engine, dtype)
    given = [engine.ones(2, 3).to(which).T, engine.zeros(0, 2, dtype=which), engine.tensor(1).to(which)]
    file = io.BytesIO()
    engine.save(given, file)
    for a, b in zip(engine.load(file), given, strict=True):
        assert a.dtype is b.dtype and a.shape == b.shape and engine.equal(a, b)


def test_parameters_and_gradients_asked_for_come_back() -> None:
    file = io.BytesIO()
    frozen = nn.Parameter(engine.ones(1), requires_grad=False)
    engine.save([nn.Parameter(engine.ones(1)), frozen, engine.ones(1, requires_grad=True), np.arange(3)], file)
    first, second, third, fourth = engine.load(file)
    assert type(first) is type(second) is nn.Parameter
    assert first.requires_grad and not second.requires_grad and third.requires_grad
    assert fourth.tolist() == [0, 1, 2]


def test_other_files_are_refused_and_nothing_is_unpickled(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="was not written by save: expected a zip of arrays"):
        engine.load(io.BytesIO(pickle.dumps({"a": 1})))
    path = tmp_path / "torch.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="it may be a pickled file of torch"):
        engine.load(path)
    engine.save({"a": engine.ones(1)}, path)
    with zipfile.ZipFile(path, "a") as archive:
        objects = io.BytesIO()
        np.save(objects, np.array([print], dtype=object), allow_pickle=True)
        archive.writestr("a1.npy", objects.getvalue())
    with pytest.raises(ValueError, match="allow_pickle"):
        engine.load(path)
