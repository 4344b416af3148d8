"""Pauses of a recording of the real torch: what is recorded is as without them, and the rest as without us."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.trace.events import Accumulated, Trace
from engine.trace.file.consistency import open_checked
from engine.trace.file.iterations import Selection
from viz.record.block import streamed, with_torch
from viz.run.run import Run

pytestmark = pytest.mark.parity
torch: Any = pytest.importorskip("torch")

PROGRAM = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
average = nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 30)
losses, watched = [], []
for step in range(24):
    watched.append(torch.nn.Module.__call__ is plain)
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    average.weight.data.mul_(0.9).add_(model[4].weight.data, alpha=0.1)
    losses.append(loss.item())
"""
CHOSEN = [0, 1, 10, 14, 15, 20]


def run(folder: Path, name: str, chosen: Selection, pauses: bool) -> tuple[dict[str, Any], Trace]:
    script, file = folder / "train.py", folder / name
    script.write_text(PROGRAM, "utf-8")
    space = {"__name__": "__main__", "plain": torch.nn.Module.__call__}
    with with_torch(streamed(file, chosen, sys._getframe(), str(folder), pauses=pauses)):
        exec(compile(PROGRAM, str(script), "exec"), space)
    return space, open_checked(file, 10_000)


def gradients(trace: Trace, section: int) -> dict[str, list[bytes]]:
    """By parameter: the gradients that arrive in a section."""
    window = Run(trace).trace(section)
    found: dict[str, list[bytes]] = {}
    for event in window.events:
        if isinstance(event, Accumulated):
            array = np.asarray(window.value(event.after).array)
            found.setdefault(window.names[event.tensor], []).append(array.tobytes())
    return found


def test_chosen_iterations_are_those_of_a_whole_recording(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"plain": torch.nn.Module.__call__}
    exec(PROGRAM, plain)
    space, trace = run(tmp_path, "paused", Selection(((14, 16),), every=10), pauses=True)
    _, whole = run(tmp_path, "whole", Selection(every=1), pauses=False)
    assert space["losses"] == plain["losses"]
    assert [section.name for section in Run(trace).sections] == [f"step = {step}" for step in CHOSEN]
    for section, step in enumerate(CHOSEN):
        assert gradients(trace, section) == gradients(whole, step), step
    assert space["watched"] == [step not in CHOSEN for step in range(24)]  # a skipped iteration runs torch's own code
    assert torch.nn.Module.__call__ is plain["plain"]


def test_loss_of_the_recorded_iterations_is_that_of_the_program(tmp_path: Path) -> None:
    space, trace = run(tmp_path, "paused", Selection(every=10), pauses=True)
    overview = Run(trace).overview
    assert overview.loss.tolist() == pytest.approx([space["losses"][step] for step in (0, 1, 10, 20)])
    assert overview.skipped.tolist() == [0, 0, 8, 9, 3]
