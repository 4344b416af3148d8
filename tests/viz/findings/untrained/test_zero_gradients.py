"""Parameters that an optimiser holds and whose gradient is 0 every time; and those that only begin with 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.finding import Finding
from viz.findings.untrained.zero_gradients import zero_gradients
from viz.reading.facts import collect

from ...helpers.traces import recorded

NET = """import engine as torch
from engine import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
{before}
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.ones(8, 3), torch.ones(8, 1)
for _ in range({rounds}):
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    opt.step()
"""
DEAD = "with torch.no_grad():\n    model[0].bias.fill_(-10.0)"


def found(folder: Path, before: str = DEAD, rounds: int = 3) -> list[Finding]:
    return zero_gradients(collect(recorded(NET.format(before=before, rounds=rounds), folder)))


def test_a_dead_relu_is_where_the_gradients_become_0(tmp_path: Path) -> None:
    (one,) = found(tmp_path)
    assert one.label == "2 parameters get only zeros" and one.line == 11
    assert "is 0 in all 3 backward calls" in one.why and "relu in `model(x)`" in one.why
    assert "All of its inputs are below 0" in one.why and "leaky_relu" in one.fix


def test_what_moves_or_is_seen_but_once_is_no_finding(tmp_path: Path) -> None:
    assert found(tmp_path, "") == []
    assert found(tmp_path, rounds=1) == []
    assert found(tmp_path, "nn.init.zeros_(model[2].weight)") == [], (
        "only the first call brings zeros to the first layer"
    )


def test_zeros_of_several_calls_before_one_update_are_no_finding(tmp_path: Path) -> None:
    """As in a fine-tuning with LoRA, whose second factor begins with 0, and whose gradients are accumulated."""
    accumulating = NET.format(before="nn.init.zeros_(model[2].weight)", rounds=2).replace("    opt.zero_grad()\n", "")
    source = accumulating.replace("    opt.step()", "opt.step()")
    assert zero_gradients(collect(recorded(source, tmp_path))) == []


def test_what_is_multiplied_by_0_is_told_too(tmp_path: Path) -> None:
    before = "keep = model.forward\nmodel.forward = lambda x: keep(x) * torch.zeros(1)"
    (one,) = found(tmp_path, before)
    assert one.label == "4 parameters get only zeros" and "mul" in one.why and "which is 0 everywhere" in one.why


def test_a_loss_of_0_has_nothing_to_tell(tmp_path: Path) -> None:
    assert found(tmp_path, "keep = model.forward\nmodel.forward = lambda x: keep(x) * 0 + 1") == []


HALF = """import engine as torch
from engine import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).{dtype}()
with torch.no_grad():
    model[2].weight.mul_({scale})
    model[2].bias.zero_()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.ones(64, 3).{dtype}(), torch.full((64, 1), 1e-3).{dtype}()
for _ in range(3):
    opt.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    opt.step()
"""


def test_product_that_float16_rounds_to_0_is_named(tmp_path: Path) -> None:
    (one,) = zero_gradients(collect(recorded(HALF.format(dtype="half", scale=1e-4), tmp_path)))
    assert "It computes in float16, in which numbers below 6e-8 become 0" in one.why and "GradScaler" in one.fix
    (dead,) = found(tmp_path)
    assert "float16" not in dead.why
    assert zero_gradients(collect(recorded(HALF.format(dtype="float", scale=1e-4), tmp_path))) == []


@pytest.mark.parametrize(
    ("of", "why", "fix"),
    [
        ("model(x).round()", "round in `model(x).round()`", "`x + (x.round() - x).detach()`"),
        ("model(x).clamp(50, 60)", "All of its inputs are below 50", "Widen the range"),
        ("model(x).clamp(-60, -50)", "All of its inputs are above -50", "Widen the range"),
        ("model(x) * mask", "It multiplies by mask, which is 0 everywhere.", "a mask that hides all"),
        ("model(x * 0)", "It multiplies by a factor, which is 0 everywhere.", "a state or a weight that is 0"),
        (
            "Blocks.apply(model(x))",
            "Blocks is a custom Function, whose backward returned",
            "Check the backward of Blocks",
        ),
    ],
)
def test_the_reason_of_zeros_is_given_by_the_op_that_sends_them(tmp_path: Path, of: str, why: str, fix: str) -> None:
    before = (
        "mask = torch.zeros(8, 1)\nclass Blocks(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return x * 1\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 0\n"
    )
    source = NET.format(before=before, rounds=3).replace("mse_loss(model(x)", f"mse_loss({of}")
    one = zero_gradients(collect(recorded(source.replace("ReLU", "Tanh"), tmp_path)))[0]
    assert why in one.why and fix in one.fix
