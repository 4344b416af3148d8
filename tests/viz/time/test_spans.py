"""The levels of time: phases, in them calls of modules, each a run of steps; and what is said of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.trace.events import Accumulated
from tests.viz.helpers import programs
from tests.viz.helpers.programs import ALL
from viz.gallery import Program
from viz.reading import text
from viz.scene.reading import Reading, reading_of
from viz.schema.scene import Span

from ..helpers.traces import recorded

TRAINED = """\
import engine as torch
from engine import nn

torch.manual_seed(0)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))

    def forward(self, x):
        return x + self.inner(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        h = self.blocks[0](x)
        h.retain_grad()
        kept.append(h)
        return self.blocks[1](h).square().mean()

kept = []
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
x = torch.randn(2, 3)

def turn():
    loss = net(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

turn()
turn()
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    return reading_of(recorded(TRAINED, tmp_path_factory.mktemp("trained")))


def named(read: Reading, label: str) -> list[Span]:
    return [span for span in read.spans if span["label"] == label]


def test_an_iteration_is_four_phases_though_its_update_runs_many_ops(trained: Reading) -> None:
    phases = [(span["kind"], span["label"]) for span in trained.spans if span["row"] == 0]
    first = [("forward", "forward"), ("backward", "loss.backward()"), ("write", "AdamW.step")]
    assert phases == [*first, first[0], ("write", "optimizer.zero_grad()"), *first[1:]]
    calls = [(kind, label.replace("AdamW.step", "optimizer.step()")) for kind, label in phases]
    assert [(phase.kind, phase.label) for phase in trained.line.phases] == calls, "of a program without a chart, too"


def test_blocks_are_one_span_forward_and_one_backward_with_the_gradients_of_their_parameters(trained: Reading) -> None:
    for block in ("blocks.0", "blocks.1"):
        forward, backward = named(trained, block)[:2]
        assert (forward["kind"], backward["kind"], forward["row"]) == ("forward", "backward", 2)
        steps = trained.line.steps[backward["start"] : backward["end"]]
        assert sum(step.kind == "accumulate" and step.name == "AccumulateGrad" for step in steps) == 4
        assert {one["label"] for one in trained.spans if one["within"] == trained.spans.index(backward)} == {"inner"}
        assert forward["code"] is not None and forward["code"]["line"] in (20, 23)


def test_norms_of_a_sentence_are_those_of_the_gradients_that_crossed(trained: Reading) -> None:
    kept = [e for e in trained.facts.trace.events if isinstance(e, Accumulated) and e.retained]
    for turn, event in enumerate(kept):
        norm = text.norm(trained.facts.trace.value(event.after).stats)
        from_it, into_it = named(trained, "blocks.1")[2 * turn + 1], named(trained, "blocks.0")[2 * turn + 1]
        told = re.search(r"sends (\S+) to blocks\.0; its 4 parameters get theirs\.$", from_it["say"])
        assert told is not None, from_it["say"]
        assert float(told[1]) == pytest.approx(norm, rel=1e-3)  # it goes two ways, of which each is less
        assert into_it["norm"] == pytest.approx(norm, rel=1e-5)
        assert into_it["say"].startswith(f"blocks.0 receives a gradient of norm {told[1]}")


def test_a_module_that_sends_only_zeros_to_its_parameters_says_so(tmp_path: Path) -> None:
    dead = TRAINED.replace("nn.Linear(4, 3))", "nn.Linear(4, 3), nn.Hardtanh(5.0, 6.0))")
    said = [span["say"] for span in named(reading_of(recorded(dead, tmp_path)), "blocks.0")]
    assert said[1].endswith("; its 4 parameters get only zeros.")


def test_a_leaf_that_goes_into_a_module_is_none_of_its_parameters(tmp_path: Path) -> None:
    attacked = TRAINED.replace("randn(2, 3)", "randn(2, 3, requires_grad=True)")
    said = [span["say"] for span in named(reading_of(recorded(attacked, tmp_path)), "blocks.0")]
    assert said[1].endswith("; its 4 parameters and another leaf get theirs.")
    assert said[3].endswith("; its 4 parameters and another leaf add theirs to .grad.")


def test_forward_update_and_clearing_are_told_in_numbers(trained: Reading) -> None:
    said = [span["say"] for span in trained.spans]
    assert "blocks.0 turns 2×3 into 2×3." in said
    assert "Linear 0 turns 2×3 into 2×4." in said
    assert said.count("AdamW.step updates 8 parameters.") == 2
    assert "AdamW.step updates net.blocks.0.inner.0.weight." in said
    assert "optimizer.zero_grad() sets the gradients of 8 parameters to None." in said
    assert any(re.fullmatch(r"net turns 2×3 into loss = 0\.\d+\.", one) for one in said)


def test_clipping_that_changes_nothing_says_so(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nfrom engine import nn\n"
        "net = nn.Linear(2, 1)\nnet(torch.tensor([[1., 2.]])).sum().backward()\n"
        "nn.utils.clip_grad_norm_(net.parameters(), 100.0)\nnn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
    )
    said = [span["say"] for span in reading_of(recorded(source, tmp_path)).spans]
    assert "nn.utils.clip_grad_norm_(net.parameters(), 100.0) leaves the gradients of 2 parameters unchanged." in said
    assert "nn.utils.clip_grad_norm_(net.parameters(), 1.0) sets the gradients of 2 parameters to new values." in said


def test_an_update_by_hand_is_one_span_and_running_means_are_none(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nfrom engine import nn\n"
        "norm = nn.BatchNorm1d(2)\nx = torch.tensor([[1., 2.], [3., 5.]])\nnorm(x).square().sum().backward()\n"
        "with torch.no_grad():\n    for p in norm.parameters():\n        p -= 0.1 * p.grad\n"
        "norm.weight.grad.zero_()\n"
    )
    read = reading_of(recorded(source, tmp_path))
    told = [(span["label"], span["say"]) for span in read.spans if span["row"] == 0]
    assert [label for label, _ in told] == [
        "forward", "norm(x).square().sum().backward()", "p -= 0.1 * p.grad", "norm.weight.grad.zero_()",
    ]  # fmt: skip
    assert next(span["say"] for span in read.spans if span["label"] == "norm") == "norm turns 2×2 into 2×2."
    assert told[2][1] == "p -= 0.1 * p.grad updates 2 parameters."
    assert told[3][1] == "norm.weight.grad.zero_() sets norm.weight.grad to zero."


@pytest.mark.parametrize("program", ALL, ids=programs.named)
def test_phases_cover_all_steps_and_spans_lie_in_the_one_around_them(program: Program) -> None:
    read = reading_of(programs.recorded(program.id)[0])
    spans, steps = read.spans, len(read.line.steps)
    outer = [span for span in spans if span["row"] == 0]
    assert [span["start"] for span in outer] == [0, *(span["end"] for span in outer[:-1])][: len(outer)]
    assert not outer or outer[-1]["end"] == steps
    ends: dict[int | None, int] = {}
    for span in spans:
        assert span["start"] < span["end"] and span["say"].endswith(".")
        around = spans[span["within"]] if span["within"] is not None else None
        assert span["row"] == (0 if around is None else around["row"] + 1)
        if around is not None:
            assert around["start"] <= span["start"] and span["end"] <= around["end"]
        assert ends.get(span["within"], 0) <= span["start"]  # those in one span follow one another
        ends[span["within"]] = span["end"]
    for step, error in enumerate(read.line.steps):
        if error.kind == "error":  # a failure is never hidden in a coarse step
            assert all(span["row"] == 0 or not span["start"] <= step < span["end"] for span in spans)


RETURNED = """
import engine as torch

weights = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
def copied(ws):
    return [(w * 2).exp() for w in ws]
one, other = copied(weights)
torch.autograd.grad(one.sum() + other.sum(), {inputs})
"""


@pytest.mark.parametrize(
    ("inputs", "end"),
    [
        ("weights", "the call returns the gradients of 2 leaves."),
        ("weights[1]", "the call returns the gradient of weights[1]."),
    ],
)
def test_gradients_that_a_call_returns_are_told(inputs: str, end: str, tmp_path: Path) -> None:
    reading = reading_of(recorded(RETURNED.format(inputs=inputs), tmp_path))
    said = [span["say"] for span in named(reading, "copied") if span["kind"] == "backward"]
    assert len(said) == 1 and said[0].endswith(f"; {end}"), said
