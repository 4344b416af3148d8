"""A trace with one event of each kind and values of every dtype, for the tests of its file."""

from __future__ import annotations

import importlib
import sys
import typing
from typing import Any

import numpy as np
import pytest

from engine.arrays import array
from engine.ops.op import REGISTRY
from engine.trace.file.database import Rows
from engine.trace.file.encoding import (
    KINDS,
)
from engine.trace.log_reader import value_of

resource: Any = pytest.importorskip("resource") if sys.platform != "win32" else None

tr: Any = importlib.import_module("engine.trace.events")  # `engine.trace` is the sum of a diagonal, as in torch


def every_kind() -> list[tr.AnyEvent]:
    """One event of each kind, with everything optional there, and an op with nothing optional there."""
    attrs = {"dim": (0, -1), "keepdim": False, "path": ((REGISTRY["mul"], {"k": slice(1, None)}), ...)}
    node = tr.NodeRecord(
        0, "MulBackward0", 3, ("self", "other", "value"), (tr.Edge(None, 0), None, tr.Edge(4, None, 1)),
        (tr.Saved("other", None, 2.5, None, 8), tr.Saved("self", 1, None, 0, 16)),
    )  # fmt: skip
    out = tr.Output(1, 0, 2, (2, 3), "float32", True, 1, 0)
    made: list[tr.AnyEvent] = [
        tr.LeafCreated(0, 0, 0, 0, 0, (1, 4), "float32", "cpu", True, "tensor", None, 0, "fc.weight"),
        tr.OpCalled(1, 1, "mul", (tr.Input("self", 0), tr.Input("other", None, 0, True)), attrs, (out,), node, 0, 1),
        tr.OpCalled(2, -1, "exp", (), {}, (out,), None, None, None),
        tr.Refreshed(3, -1, 1, 2, 2),
        tr.FlagChanged(4, 0, 0, "requires_grad", True),
        tr.ModeChanged(5, 0, False),
        tr.GradSet(6, 0, 0, None, None),
        tr.BackwardStarted(7, 1, 0, "backward", (tr.Root(1, 2, True),), (0,), True, False),
        tr.VjpRun(8, -1, 0, 0, (2, None), (None, 3), (None, None), True),
        tr.Accumulated(9, -1, 0, 0, 5, None, 1, 2, False),
        tr.HookRan(10, -1, 0, 0, 1, 2),
        tr.Escaped(11, 0, 0, "item", 0),
        tr.ErrorRaised(12, 0, "RuntimeError", "größe\n\U0001f389", "note", 0, 0, (0, 1), "Traceback"),
        tr.WarningGiven(13, 0, "UserWarning", "careful"),
        tr.BackwardEnded(14, -1, 0, False, (1, None)),
        tr.GroupEntered(15, 0, "layers.0", "Linear", (), 0.25),
        tr.GroupLeft(16, -1),
        tr.WrittenOutside(17, -1, 1, 3, 2),
        tr.CodeEntered(18, -1, 0, "after", None, 2, 0, (1, None, 3), 2),
        tr.CodeLeft(19, -1, (1, None), True),
        tr.DataSet(20, 0, 1, 4, 2, 3),
        tr.Damaged(21, -1),
        tr.Printed(22, 0, "stdout", "57 2.8142\n", 3),
        tr.StatisticMoved(23, -1, 1, 5, 2, 3, 0.1, None, 6),
        tr.Skipped(24, -1, 49, 50),
    ]
    assert {type(event) for event in made} == set(KINDS.values()) == set(typing.get_args(tr.AnyEvent))
    return made


def sample_values() -> list[tr.Value]:
    """Arrays of every dtype, odd shapes, and bits that `==` cannot tell apart."""
    payload = np.array([0x7FC00001, 0xFFC00002, 0x80000000, 0x7F800000], dtype="<u4").view("<f4")
    arrays = [
        payload, np.array(-0.0), np.zeros((0, 3)), np.array(7), np.array([True, False]),
        np.arange(12.0).reshape(3, 4).T, *[np.arange(3).astype(d.numpy) for d in array.DTYPES],
    ]  # fmt: skip
    kept = [value_of(a) for a in arrays]
    stats = {"min": 0.0, "max": float("inf"), "mean": float("nan"), "norm": 1e-300, "nan": 1, "inf": 2, "zeros": 3}
    return [*kept, tr.Value((1000, 1000), "float32", None, np.arange(64, dtype="float32"), stats)]


def sample_trace() -> tr.Trace:
    frames = (tr.Frame("größe.py", "<module>", 1, 2, 0, 4), tr.Frame("lib/a.py", "f.<locals>.g", 3, 3, 4, 9))
    return tr.Trace(
        tuple(every_kind()), (frames, frames[:1]), {"größe.py": "x = 1\n", "lib/a.py": "\n\n\nf(x)"},
        {0: "x", 1: "self.w"},
        tuple(sample_values()), ("script.py", "--größe"), {"seed": 3, "nested": {"a": (1, None)}},
    )  # fmt: skip


def rows(found: Any) -> Rows[Any]:
    """The object that reads from the file."""
    assert isinstance(found, Rows)
    return found
