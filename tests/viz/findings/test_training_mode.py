"""A model that stays in evaluation mode after an evaluation, dropout in an evaluation; and modes that are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.helpers.recordings import recorded_here
from viz.findings.finding import SectionFinding
from viz.findings.training_mode import dropout_in_evaluation, left_in_eval
from viz.run.run import Run
from viz.scene.run_overview import in_iterations

from ..helpers.traces import recorded

HEAD = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 4), {norm}, nn.Dropout({p}), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 2)

def evaluate():
    net.eval()
    with torch.no_grad():
        return net(x).mean().item()

{before}
for epoch in range(4):
    {begin}
    for i in range(3):
        {each}
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    {end}
"""
FORGOTTEN = {"norm": "nn.BatchNorm1d(4)", "p": 0.5, "before": "", "begin": "", "each": "", "end": "evaluate()"}


def of(tmp_path: Path, **changed: object) -> tuple[Run, SectionFinding | None]:
    run = Run(recorded(HEAD.format(**FORGOTTEN | changed), tmp_path))
    assert len([one for one in run.sections if one.kind == "iteration"]) == 12
    return run, left_in_eval(run)


def test_model_that_is_not_set_back_is_a_finding_at_the_iteration_after_the_evaluation(tmp_path: Path) -> None:
    run, finding = of(tmp_path)
    assert finding is not None and run.sections[finding.section].name == "epoch = 1 · i = 0"
    assert finding.label == "trained in evaluation mode, from epoch = 1 · i = 0 on"
    assert finding.why == (
        "In 9 of 12 iterations, from epoch = 1 · i = 0 on, net.1 (BatchNorm1d) and net.2 (Dropout) run in evaluation "
        "mode, as in `net(x)` in line 12 just before. Earlier iterations run in training mode."
    )
    assert finding.fix == "Call net.train() after each evaluation, or at the beginning of each epoch."
    (shown,) = (one for one in in_iterations(run) if one["section"] == finding.section)
    assert (shown["kind"], shown["label"], shown["shows"]) == ("mistake", finding.label, [])


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"norm": "nn.LayerNorm(4)"}, "epoch = 1 · i = 0"),
        ({"p": 0.0}, "epoch = 1 · i = 0"),
        ({"end": "", "each": "if i == 2: evaluate()"}, "epoch = 0 · i = 2"),
        ({"end": "if epoch == 1: evaluate()"}, "epoch = 2 · i = 0"),
        ({"before": "evaluate(); net.train()"}, "epoch = 1 · i = 0"),
    ],
)
def test_it_is_found_whatever_shows_the_mode(changed: dict[str, object], name: str, tmp_path: Path) -> None:
    run, finding = of(tmp_path, **changed)
    assert finding is not None and run.sections[finding.section].name == name


@pytest.mark.parametrize(
    "changed",
    [
        {"begin": "net.train()"},
        {"end": "evaluate(); net.train()"},
        {"end": ""},
        {"before": "net.eval()"},  # features that are fixed from the start
        {"begin": "net.train(); net[1].eval()"},
        {"begin": "net.train(); net[1].eval() if epoch else 0"},  # dropout goes on
        {"begin": "net.train(); net.eval() if epoch > 1 else 0"},  # training went on after an evaluation
        {"end": "", "begin": "net.eval() if epoch > 1 else 0"},  # nothing is evaluated
        {"begin": "net.train(epoch % 2 == 0)"},
        {"norm": "nn.LayerNorm(4)", "p": 0.0},  # the mode changes nothing
    ],
)
def test_mode_that_is_meant_is_not_a_finding(changed: dict[str, object], tmp_path: Path) -> None:
    assert of(tmp_path, **changed)[1] is None


DROPOUT = """\
import engine as torch
import engine.nn.functional as F
from engine import nn
from engine.nn.functional import dropout

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.dropout = nn.Linear(2, 4), nn.Dropout(0.5)

    def forward(self, x):
        return {call}

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.ones(8, 2)
for epoch in range(3):
    net.train()
    for i in range(6):
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
    {mode}
    with torch.no_grad():
        {last}
"""


@pytest.mark.parametrize("call", ["F.dropout(self.inner(x))", "dropout(self.inner(x), 0.2)",
                                  "nn.functional.dropout(self.inner(x), p=0.3)"])  # fmt: skip
def test_dropout_that_does_not_know_of_an_evaluation_is_a_finding(call: str, tmp_path: Path) -> None:
    run = Run(recorded(DROPOUT.format(call=call, mode="net.eval()", last="net(x)"), tmp_path))
    finding = dropout_in_evaluation(run)
    assert finding is not None and finding.label.startswith("dropout in an evaluation, in ")
    assert finding.why.startswith(f"`{call}` in line 12 also runs without gradients") and finding.section == 6
    assert [one["label"] for one in in_iterations(run)] == [finding.label]


@pytest.mark.parametrize(
    ("call", "mode", "last"),
    [("self.dropout(self.inner(x))", "net.eval()", "net(x)"),
     ("F.dropout(self.inner(x), training=self.training)", "net.eval()", "net(x)"),
     ("F.dropout(self.inner(x), 0.5, self.training)", "net.eval()", "net(x)"),
     ("F.dropout(self.inner(x)) if self.training else self.inner(x)", "net.eval()", "net(x)"),
     ("F.dropout(self.inner(x))", "net.eval()", "x + 1")],
)  # fmt: skip
def test_dropout_that_knows_its_mode_or_is_meant_is_none(call: str, mode: str, last: str, tmp_path: Path) -> None:
    run = Run(recorded(DROPOUT.format(call=call, mode=mode, last=last), tmp_path))
    assert dropout_in_evaluation(run) is None


@pytest.mark.parity
def test_an_evaluation_of_pytorch_whose_mode_is_read_with_the_first_op_is_found(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    finding = left_in_eval(Run(recorded_here(HEAD.format(**FORGOTTEN).replace("engine", "torch"), tmp_path)))
    assert finding is not None and "epoch = 1 · i = 0" in finding.label
