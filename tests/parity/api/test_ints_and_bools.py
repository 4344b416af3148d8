"""Arguments that torch takes for ints, and differences that it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine
from tests.parity.helpers.saying import first_sentence

CALLS = """
1.0 - T.tensor([True, False])
1 - T.tensor([True, False])
True - T.tensor([1.0])
True - T.tensor([True])
T.tensor([True]) - 1.0
T.tensor([True]) - T.tensor([True])
T.tensor([1.0]) - T.tensor([True])
T.tensor([True]).sub_(T.tensor([True]))
T.rsub(T.tensor([True]), 1.0)
T.rsub(T.tensor([1.0]), T.tensor([True]))
T.sub(T.tensor([True]), T.tensor([True]), out=T.tensor([True]))
T.max(T.ones(2, 3), dim=T.tensor(1))[0]
T.max(T.ones(2, 3), T.tensor(1))
T.max(T.ones(2, 3), dim=T.tensor(1.0))
T.min(T.ones(2, 3), dim=T.tensor(1))[0]
T.ones(2, 3).sum(dim=T.tensor(1))
T.roll(T.arange(6).reshape(2, 3), T.tensor(1), T.tensor(0))
T.roll(T.arange(6).reshape(2, 3), shifts=T.tensor(1), dims=T.tensor(0))
T.ones(1, 3).squeeze(dim=T.tensor(0))
T.ones(1, 3).squeeze(T.tensor(0))
T.round(T.tensor([1.25]), decimals=T.tensor(1))
T.histc(T.tensor([1.0, 2, 3]), bins=T.tensor(3), min=T.tensor(0), max=T.tensor(3))
T.mvlgamma(T.tensor([3.0]), T.tensor(2))
T.split(T.ones(4), T.tensor(2))[1]
T.topk(T.arange(4.0), T.tensor(2))[0]
T.flip(T.arange(4), dims=T.tensor(0))
T.tril(T.ones(3, 3), T.tensor(1))
T.unbind(T.ones(2, 3), T.tensor(0))[0]
T.softmax(T.ones(2, 2), dim=T.tensor(0))
T.load("/nowhere/x.pt")
T.save({"x": T.ones(2)}, "/nowhere/x.pt")
""".strip().splitlines()


def outcome(call: str, library: Any) -> Any:
    try:
        made = eval(call, {"T": library})  # noqa: S307 (one of the lines above)
    except Exception as error:  # noqa: BLE001 (which one is compared)
        return type(error).__name__, first_sentence(str(error).split("\n")[0])
    return str(made.dtype), made.tolist()


@pytest.mark.parametrize("call", CALLS)
def test_call_gives_or_refuses_what_torchs_does(call: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (outcome(call, library) for library in (engine, torch))
    if isinstance(theirs[1], list) and call.startswith("T.mvlgamma"):
        assert ours[1] == pytest.approx(theirs[1])
    else:
        assert ours == theirs


def test_loading_a_folder_is_pythons_own_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        engine.load(tmp_path)
