"""Methods of a training that are named without parentheses, and names that mean something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.updates.not_called import not_called
from viz.reading.facts import collect

from ...helpers.traces import recorded

LOOP = """\
import engine as torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for i in range(3):
    {clear}
    (w * w).sum().backward()
    {step}
"""


@pytest.mark.parametrize(
    ("clear", "step", "label", "why", "fix"),
    [
        ("opt.zero_grad", "opt.step()", "opt.zero_grad is not called", "line 5 only names opt.zero_grad, so", "`opt"),
        ("w.grad = None", "opt.step  # here", "opt.step is not called", "nothing is updated there.", "`opt.step()`."),
        (
            "opt.zero_grad", "opt.step", "opt.zero_grad and opt.step are not called",
            "add up; line 7 only names opt.step", "`opt.zero_grad()` and `opt.step()`.",
        ),
    ],
)  # fmt: skip
def test_a_method_without_parentheses_is_found(
    tmp_path: Path, clear: str, step: str, label: str, why: str, fix: str
) -> None:
    (finding,) = not_called(collect(recorded(LOOP.format(clear=clear, step=step), tmp_path)))
    assert finding.kind == "not-called" and finding.label == label
    assert why in finding.why and fix in finding.fix


@pytest.mark.parametrize(
    "clear",
    [
        "opt.zero_grad()",
        "clear = opt.zero_grad; clear()",
        "opt.zero_grad() if i else opt.step",
        "opt.param_groups",
        "def never(model): model.train",
    ],
)
def test_other_statements_are_not_reported(tmp_path: Path, clear: str) -> None:
    assert not_called(collect(recorded(LOOP.format(clear=clear, step="opt.step()"), tmp_path))) == []
