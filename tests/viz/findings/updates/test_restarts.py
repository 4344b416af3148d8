"""Trainings that begin again in each iteration, and programs that create or set parameters on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.finding import SectionFinding
from viz.findings.updates.restarts import restart
from viz.run.run import Run
from viz.scene.run_overview import in_iterations

from ...helpers.traces import recorded

PROGRAM = """\
import copy
import engine as torch
from engine import nn

torch.manual_seed(0)
x, y = torch.randn(32, 6), torch.randn(32, 2)
def new():
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))

net = new()
start = copy.deepcopy(net.state_dict())
opt = torch.optim.{optimizer}(net.parameters(), lr=0.01)
for step in range({count}):
    {before}
    opt.zero_grad()
    loss = (net(x) - y).square().mean()
    loss.backward()
    opt.step()
    {after}
"""
AGAIN = "opt = torch.optim.{optimizer}(net.parameters(), lr=0.01)"


def found(
    folder: Path, before: str = "", optimizer: str = "Adam", count: int = 12, after: str = ""
) -> SectionFinding | None:
    before = before.format(optimizer=optimizer)
    source = PROGRAM.format(before=before, optimizer=optimizer, count=count, after=after)
    return restart(Run(recorded(source, folder)))


@pytest.mark.parametrize("seed", ["", "torch.manual_seed(0); "])
def test_model_that_the_loop_creates_is_named_with_its_parameters(seed: str, tmp_path: Path) -> None:
    one = found(tmp_path, f"{seed}net = new(); {AGAIN}")
    assert one is not None and one.label == "The model is created again in each iteration"
    assert "In each of 12 iterations Adam updates 4 parameters that are new: net.0.weight, net.0.bias" in one.why
    assert one.fix == "Create the model and its optimiser once, before the loop in line 13."


def test_optimiser_that_the_loop_creates_forgets_its_averages(tmp_path: Path) -> None:
    one = found(tmp_path, AGAIN)
    assert one is not None and one.label == "Adam is created again in each iteration" and one.section == 1
    assert "Each of 12 steps is the first step of a new Adam" in one.why and "about the learning rate" in one.why


@pytest.mark.parametrize(
    ("write", "values"),
    [
        ("nn.init.xavier_uniform_(net[0].weight)", "new random values"),
        ("net.load_state_dict(start)", "the same values"),
    ],
)
def test_write_that_undoes_each_update_is_the_cause(write: str, values: str, tmp_path: Path) -> None:
    one = found(tmp_path, write)
    assert one is not None and one.label == "Parameters are overwritten in each iteration"
    assert one.why.startswith(f"`{write}` in line 14 writes {values} into net.0.weight")


def test_write_after_each_step_but_the_first_is_found_too(tmp_path: Path) -> None:
    one = found(tmp_path, after="if step: net.load_state_dict(start)")
    assert one is not None and "in line 19 writes the same values" in one.why


@pytest.mark.parametrize(
    ("before", "optimizer", "count", "after"),
    [
        ("", "Adam", 12, ""),
        (AGAIN, "SGD", 12, ""),
        (f"net = new(); {AGAIN}", "Adam", 4, ""),
        (f"net = copy.deepcopy(net); {AGAIN}", "SGD", 12, ""),
        ("", "SGD", 12, "net[0].weight.data.clamp_(-0.1, 0.1)"),
        ("if step == 0: nn.init.xavier_uniform_(net[0].weight)", "SGD", 12, ""),
        ("if step == 6: net.load_state_dict(start)", "SGD", 12, ""),
        ("before = copy.deepcopy(net.state_dict())", "SGD", 12, "net.load_state_dict(before)"),
    ],
    ids=["sound", "sgd keeps nothing", "few models", "copied", "clamped", "once", "a restart", "back to the last one"],
)
def test_what_is_kept_or_meant_is_no_finding(
    before: str, optimizer: str, count: int, after: str, tmp_path: Path
) -> None:
    assert found(tmp_path, before, optimizer, count, after) is None


def test_large_updates_are_explained_by_the_writes_that_follow_them(tmp_path: Path) -> None:
    source = PROGRAM.format(before="nn.init.xavier_uniform_(net[0].weight)", optimizer="Adam", count=12, after="")
    one = next(iter(in_iterations(Run(recorded(source, tmp_path)))))
    assert one["kind"] == "mistake" and "large-updates" in one["explains"]
