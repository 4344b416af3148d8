"""A step of an optimiser whose gradients were cleared before it is found, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.findings import findings
from viz.findings.updates.zeroing import cleared
from viz.reading.facts import collect
from viz.run.run import Run

from ...helpers.traces import recorded

HEAD = """\
import engine as torch
from engine import nn

net, other = nn.Linear(2, 1), nn.Linear(1, 1)
opt, opt_other = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD(other.parameters(), lr=0.1)
x = torch.tensor([[1.0, 2.0]])
"""
ROUND = """\
for step in range(3):
    loss = net(x).sum()
    loss.backward()
"""


@pytest.mark.parametrize(
    ("clear", "found"),
    [
        ("opt.zero_grad()", "None"), ("opt.zero_grad(set_to_none=False)", "0"), ("net.zero_grad()", "None"),
        ("net.weight.grad = net.bias.grad = None", "None"),
        ("net.weight.grad.zero_(); net.bias.grad.zero_()", "0"),
    ],
)  # fmt: skip
def test_gradients_cleared_between_backward_and_step_are_told_of(clear: str, found: str, tmp_path: Path) -> None:
    (told,) = cleared(collect(recorded(f"{HEAD}{ROUND}    {clear}\n    opt.step()\n", tmp_path)))
    assert told.line == 10 and told.label == "gradients cleared before the step"
    assert told.why == (
        "The backward call in line 9 left [1 2] in `net.weight.grad`; line 10 cleared it, so SGD.step() in line 11 "
        f"found {found}: nothing used the computed gradient."
    )


CLIP = "    nn.utils.clip_grad_norm_(net.parameters(), {most})\n    opt.step()\n    opt.zero_grad()\n"


def test_gradients_that_are_clipped_to_nothing_are_a_finding_about_the_norm(tmp_path: Path) -> None:
    (finding,) = cleared(collect(recorded(HEAD + ROUND + CLIP.format(most=0.0), tmp_path)))
    assert "line 10 multiplied it by 0, so SGD.step() in line 11 found 0" in finding.why
    assert finding.fix == "Multiply it by a nonzero number. If this clips it, pass a norm above 0."


def test_gradients_that_are_0_and_are_clipped_are_not_cleared(tmp_path: Path) -> None:
    round_of_zeros = ROUND.replace("net(x)", "(net(x) * 0)")
    assert cleared(collect(recorded(HEAD + round_of_zeros + CLIP.format(most=1.0), tmp_path))) == []


LATE = """\
for step in range(40):  # fewer would be shown as a whole
    opt.zero_grad()
    opt.step()
    net(x).sum().backward()
"""


def test_step_before_backward_is_told_in_the_second_iteration_and_not_as_another_mistake(tmp_path: Path) -> None:
    run = Run(recorded(HEAD + LATE, tmp_path))
    first, second = (findings(collect(run.trace(number))) for number in (0, 1))
    assert [one for one in first if one.kind in ("cleared", "unheld")] == []
    (told,) = (one for one in second if one.kind in ("cleared", "unheld"))
    assert told.why == (
        "The previous iteration left [1 2] in `net.weight.grad`; line 8 cleared it, so SGD.step() in line 9 found "
        "None: nothing used the computed gradient."
    )
    assert told.fix == "Call step() after backward(), and before the next zero_grad()."


@pytest.mark.parametrize(
    "after",
    [
        "    opt.step()\n    opt.zero_grad()\n",
        "    if step == 2:\n        opt.step()\n        opt.zero_grad()\n",
        "    net.bias.grad = None\n    opt.step()\n    opt.zero_grad()\n",  # one of two is left
        "    with torch.no_grad():\n        net.weight -= net.weight.grad\n    opt.zero_grad()\n"
        "    net(x).sum().backward()\n    opt.step()\n    opt.zero_grad()\n",
    ],
)
def test_gradients_that_are_used_before_they_are_cleared_are_no_finding(after: str, tmp_path: Path) -> None:
    assert cleared(collect(recorded(HEAD + ROUND + after, tmp_path))) == []


def test_gradients_that_another_loss_left_and_that_come_anew_are_no_finding(tmp_path: Path) -> None:
    source = """\
for step in range(2):
    other(net(x)).sum().backward()
    opt.step()
    opt.zero_grad()
    opt_other.zero_grad()
    other(net(x).detach()).sum().backward()
    opt_other.step()
    opt_other.zero_grad()
"""
    assert cleared(collect(recorded(HEAD + source, tmp_path))) == []


def test_a_copy_that_is_averaged_needs_no_gradients(tmp_path: Path) -> None:
    source = (
        f"{HEAD}ema = nn.Linear(2, 1)\n"
        "for step in range(3):\n    opt.zero_grad()\n    (net(x) - ema(x)).square().sum().backward()\n    opt.step()\n"
        "    for one, other in zip(ema.parameters(), net.parameters()):\n"
        "        one.data = 0.9 * one.data + 0.1 * other.data\n"
    )
    (finding,) = (one for one in findings(collect(recorded(source, tmp_path))) if one.kind == "not-zeroed")
    assert "No optimiser holds ema.weight" in finding.why
    assert finding.fix.startswith("Such a copy needs no gradients: call `requires_grad_(False)` on it")
