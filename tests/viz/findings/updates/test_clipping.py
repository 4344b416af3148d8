"""Gradients clipped before they arrive, or after the step that used them; and clipped in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.findings import findings
from viz.findings.updates.clipping import unused_clips
from viz.reading.facts import collect
from viz.run.run import Run
from viz.scene.reading import reading_of

from ...helpers.traces import recorded

HEAD = """\
import engine as torch
from engine import nn

net, other = nn.Linear(2, 1), nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.tensor([[3.0, 4.0]])
clip = nn.utils.clip_grad_norm_
"""
EARLY = """\
for step in range(2):
    opt.zero_grad()
    loss = net(x).sum()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    loss.backward()
    opt.step()
"""
CLIPS = {
    "of the norm": "nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
    "of each value": "nn.utils.clip_grad_value_(net.parameters(), 0.5)",
    "by hand": "net.weight.grad.clamp_(-1, 1)",
}


def loop(body: str, rounds: int = 2) -> str:
    return f"{HEAD}for step in range({rounds}):\n" + "".join(f"    {line.strip()}\n" for line in body.split(";"))


def test_clip_before_backward_is_a_finding_with_the_norm_that_the_step_uses(tmp_path: Path) -> None:
    trace = recorded(HEAD + EARLY, tmp_path)
    (finding,) = unused_clips(collect(trace))
    assert finding.event in reading_of(trace).line.step_of and finding.at is not None
    assert (finding.kind, finding.label, finding.line) == ("unused-clip", "clipped before backward()", 11)
    assert finding.why == (
        "`nn.utils.clip_grad_norm_(net.parameters(), 1.0)` in line 11 runs before the backward call in line 12, "
        "when no parameter has a gradient, so it clips nothing. SGD.step() in line 13 uses the gradients as they are, "
        "with a norm of 5.1."
    )
    assert finding.fix == "Move it between backward() and step()."


@pytest.mark.parametrize("clip", CLIPS.values(), ids=CLIPS)
@pytest.mark.parametrize("end", ["opt.zero_grad()", "opt.zero_grad(set_to_none=False)"])
def test_change_after_the_step_is_a_finding(clip: str, end: str, tmp_path: Path) -> None:
    program = loop(f"net(x).sum().backward(); opt.step(); {clip}; {end}")
    trace = recorded(program, tmp_path)
    (finding,) = unused_clips(collect(trace))
    assert finding.event in reading_of(trace).line.step_of
    assert (finding.kind, finding.label, finding.line) == ("unused-clip", "gradients changed after the step", 11)
    assert f"`{clip}` in line 11 changes the gradient" in finding.why
    assert "after SGD.step() in line 10 has used them, and line 12 clears them" in finding.why


@pytest.mark.parametrize(
    ("body", "used"),
    [
        (f"opt.zero_grad(); net(x).sum().backward(); opt.step(); {CLIPS['by hand']}", "SGD.step() in line 11"),
        (f"loss = net(x).sum(); {CLIPS['by hand']} if step else 0; opt.zero_grad(); loss.backward(); opt.step()",
         "the step of the previous iteration"),
    ],
)  # fmt: skip
def test_change_is_found_in_an_iteration_of_a_run(body: str, used: str, tmp_path: Path) -> None:
    run = Run(recorded(loop(body, 40), tmp_path))
    assert run.is_divided
    (finding,) = (one for one in findings(collect(run.trace(2))) if one.kind == "unused-clip")
    assert f"after {used} has used them" in finding.why


@pytest.mark.parametrize(
    "body",
    [
        "opt.zero_grad(); net(x).sum().backward(); clip(net.parameters(), 1.0); opt.step()",
        "net(x).sum().backward(); clip(net.parameters(), 1.0); opt.step(); opt.zero_grad()",
        "net(x).sum().backward(); clip(net.parameters(), 1.0); opt.step() if step % 2 else 0; "
        "opt.zero_grad() if step % 2 else 0",
        "opt.zero_grad(); net(x).sum().backward(); opt.step(); clip(net.parameters(), float('inf'))",  # for its norm
        "opt.zero_grad(); net(x).sum().backward(); opt.step(); clip(net.parameters(), 1000.0)",
        "net(x).sum().backward(); opt.step(); net.weight.grad.mul_(0.9)",  # momentum in .grad
        "opt.zero_grad(); clip(other.parameters(), 1); net(x).sum().backward(); clip(net.parameters(), 1); opt.step()",
        "opt.zero_grad(); net(x).sum().backward(); opt.step(); net.weight.grad.zero_()",
        "opt.zero_grad(); net(x).sum().backward(); net.weight.grad.clamp_(-1, 1); opt.step()",
        "opt.zero_grad(); clip(net.parameters(), 1.0); net(x).sum().backward()",  # no step uses any gradient
        "clip(net.parameters(), 1.0); opt.step(); opt.zero_grad(); net(x).sum().backward()",  # of the iteration before
    ],
)
def test_clip_in_time_is_not_a_finding(body: str, tmp_path: Path) -> None:
    assert unused_clips(collect(recorded(loop(body), tmp_path))) == []
    run = Run(recorded(loop(body, 40), tmp_path))
    assert [one for number in range(4) for one in unused_clips(collect(run.trace(number)))] == []
