"""An op that is added, as docs/howto/add-an-op.md says: a declaration and a row; all that shows it is there at once."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from docs.make.ops import formula_of
from engine import autograd
from engine.arrays.array import Array, xp
from engine.ops.choice import gt, le, where
from engine.ops.op import FLOAT, PLAIN, REGISTRY, SAME, OpFunction, op
from engine.ops.presentation import NOTHING_KNOWN, Presentation, elementwise
from engine.ops.result_shapes import like_first
from engine.replay.replay import replay
from engine.trace.events import OpCalled, Trace
from engine.trace.file.consistency import open_checked
from engine.trace.file.database import TraceFileError
from tests.engine.helpers import call, function_of, leaves
from tests.samples import Sample
from viz.scene.details import details
from viz.scene.scene import scene

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "add-an-op.md"
X, Y = np.array([[1.0, 5.0, 2.0], [4.0, 0.5, 3.0]]), np.array([2.0, 1.0, 2.5])
ROWS = [
    Sample("excess", (X, Y), spelled="torch.relu(x - y)"),
    Sample("bell", (X / 4,), spelled="torch.exp(-x * x)"),
    Sample("mirrored", (X,), {"dim": 1}, spelled="torch.flip(x, (1,))"),
]


def _excess(self: Array, other: Array) -> Array:
    return xp.maximum(self - other, 0)


def _bell(self: Array) -> Array:
    return xp.exp(-self * self)


def _mirrored(self: Array, dim: int) -> Array:
    return xp.flip(self, dim).copy()


def _from_the_other_end(p: Any, x: Any, places: Any) -> Any:
    dim = x.attrs["dim"]
    return p.show(x.inputs[0], [*places[:dim], f"{x.shape[dim] - 1}{p.style.minus}{places[dim]}", *places[dim + 1 :]])


PRESENTATIONS = {
    "excess": elementwise(sign="∸"),
    "bell": elementwise(name="gauss", word="exp(−x²)"),
    "mirrored": Presentation(shape=like_first, word="from the other end", indexed=_from_the_other_end),
}


@contextlib.contextmanager
def added(presentations: Mapping[str, Presentation]) -> Iterator[dict[str, OpFunction]]:
    """Three ops for a while: one with a sign, one with a name, and one with an index form, if these are said."""
    excess = op(
        "excess", _excess, SAME, presentations.get("excess", NOTHING_KNOWN),
        self=lambda grad, self, other: where(gt(self, other), grad, 0),
        other=lambda grad, self, other: where(le(self, other), 0, -grad),
    )  # fmt: skip
    bell = op(
        "bell", _bell, FLOAT, presentations.get("bell", NOTHING_KNOWN),
        self=lambda grad, self: -2 * grad * self * bell(self),
    )  # fmt: skip
    mirrored = op(
        "mirrored", _mirrored, PLAIN, presentations.get("mirrored", NOTHING_KNOWN),
        self=lambda grad, dim: mirrored(grad, dim),  # noqa: PLW0108 its parameters say what is saved
    )  # fmt: skip
    try:
        yield {"excess": excess, "bell": bell, "mirrored": mirrored}
    finally:
        for name in PRESENTATIONS:
            del REGISTRY[name]


@pytest.fixture(params=[PRESENTATIONS, {}], ids=["presented", "bare"])
def ops(request: pytest.FixtureRequest) -> Iterator[dict[str, OpFunction]]:
    with added(request.param) as functions:
        yield functions


def program(ops: dict[str, OpFunction]) -> Trace:
    with engine.record() as trace:
        x: Any = engine.tensor(X, requires_grad=True)
        y: Any = engine.tensor(Y, requires_grad=True)
        u = ops["excess"](x, y)
        v = ops["bell"](u)
        w = ops["mirrored"](v, dim=1)
        w.sum().backward()
    return trace


def shown(trace: Trace) -> dict[str, Any]:
    """The parts of a scene: the cards of its ops, the sentences of forward, the formulas and their words."""
    found = scene(trace)
    ids = [next(n["id"] for n in found["nodes"] if n["sub"] == REGISTRY[name].node_name) for name in PRESENTATIONS]
    formulas = [formula for element in ids for formula in details(trace, found, element)["formula"]]
    return {
        "cards": [n["label"] for n in found["nodes"] if n["kind"] == "op"],
        "sentences": [s["say"].partition(" gives ")[0] for s in found["steps"] if s["kind"] == "forward"],
        "formulas": [formula["text"] for formula in formulas],
        "words": {name: word for formula in formulas for name, word in formula["words"].items() if name.isalpha()},
    }


def test_what_is_known_of_an_op_is_read_on_cards_in_sentences_and_in_formulas() -> None:
    with added(PRESENTATIONS) as ops:
        told = shown(program(ops))
    assert told == {
        "cards": ["∸", "bell", "mirrored dim=1", "sum"],
        "sentences": ["x ∸ y", "bell(u)", "mirrored(v, dim=1)", "sum(w)"],
        "formulas": [
            "x̄ = ū where x > y, else 0",
            "ȳᵢ = Σⱼ (0 where xⱼᵢ ≤ yᵢ, else −ūⱼᵢ)",
            "ū = −2·v̄ ⊙ u ⊙ gauss(u)",
            "v̄ᵢⱼ = w̄[i, 2−j]",
        ],
        "words": {"gauss": "exp(−x²)"},
    }


def test_an_op_of_which_nothing_is_known_is_called_by_its_name() -> None:
    with added({}) as ops:
        told = shown(program(ops))
    assert told == {
        "cards": ["excess", "bell", "mirrored dim=1", "sum"],
        "sentences": ["excess(x, y)", "bell(u)", "mirrored(v, dim=1)", "sum(w)"],
        "formulas": [
            "x̄ = ū where x > y, else 0",
            "ȳᵢ = Σⱼ (0 where xⱼᵢ ≤ yᵢ, else −ūⱼᵢ)",
            "ū = −2·v̄ ⊙ u ⊙ bell(u)",
            "v̄ = mirrored(w̄, dim=1)",
        ],
        "words": {},
    }


def test_page_declares_an_op_and_its_row() -> None:
    declaration, row = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    try:
        exec(declaration, {})
        names: dict[str, Any] = {}
        exec(row, names)
        function, inputs = function_of(names["ROW"])
        assert autograd.gradcheck(function, inputs)
        assert REGISTRY["excess"].presentation.sign == PRESENTATIONS["excess"].sign
    finally:
        REGISTRY.pop("excess", None)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)
def test_row_of_an_added_op_is_checked_as_all_are(row: Sample, ops: dict[str, OpFunction]) -> None:
    function, inputs = function_of(row)
    assert autograd.gradcheck(function, inputs)
    with engine.record() as trace:
        call(row, leaves(row)).sum().backward()
    assert list(replay(trace).events) == list(trace.events)
    assert formula_of(REGISTRY[row.op], row)


def test_recording_of_an_added_op_is_read_back(ops: dict[str, OpFunction], tmp_path: Path) -> None:
    trace = program(ops)
    trace.save(str(tmp_path / "added.backstep"))
    again = open_checked(tmp_path / "added.backstep", 1000)
    assert list(again.events) == list(trace.events) == list(replay(again).events)
    assert shown(again) == shown(trace)


def test_a_file_that_contradicts_what_is_known_of_an_added_op_is_refused(tmp_path: Path) -> None:
    with added(PRESENTATIONS) as ops:
        trace = program(ops)
        event = next(e for e in trace.events if isinstance(e, OpCalled) and e.name == "excess")
        x, y = event.inputs
        narrow = dataclasses.replace(event, inputs=(dataclasses.replace(x, tensor=y.tensor), y))
        for wrong, why in ((narrow, "follows from the inputs"), (dataclasses.replace(event, attrs={"by": 1}), "by")):
            events = tuple(wrong if e is event else e for e in trace.events)
            dataclasses.replace(trace, events=events).save(str(tmp_path / "wrong.backstep"))
            with pytest.raises(TraceFileError, match=why):
                open_checked(tmp_path / "wrong.backstep", 1000)
