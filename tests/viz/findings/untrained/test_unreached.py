"""Parameters that an optimiser holds and no backward call reaches; and the programs that mean it so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.trace.events import Accumulated
from viz.findings.finding import Finding
from viz.findings.untrained.unreached import unreached
from viz.reading.facts import collect

from ...helpers.traces import recorded

NET = """import engine as torch
from engine import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        return {forward}

net = Net()
{before}
opt = torch.optim.SGD({params}, lr=0.1, weight_decay=0.1)
{after}
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    opt.step()
"""
WHOLE = "self.head(torch.sigmoid(self.gate(x)))"
CUT = "self.head(torch.sigmoid(self.gate(x)).detach())"


def found(folder: Path, forward: str = WHOLE, **parts: str) -> list[Finding]:
    given: dict[str, Any] = {"before": "", "params": "net.parameters()", "after": ""} | parts
    return unreached(collect(recorded(NET.format(forward=forward, **given), folder)))


def test_a_detach_on_the_way_is_told_with_its_line_and_the_names(tmp_path: Path) -> None:
    (one,) = found(tmp_path, CUT)
    assert one.label == "2 parameters never learn" and one.line == 10
    assert one.why.startswith(
        "SGD holds net.gate.weight and net.gate.bias, but no gradient reaches them in 2 backward calls"
    )
    assert "`torch.sigmoid(self.gate(x)).detach()` in line 10 cuts the path to the loss" in one.why
    assert one.fix.startswith("Remove the detach.")


def test_all_that_cut_a_path_are_told_where_there_are_several(tmp_path: Path) -> None:
    gate = "torch.sigmoid(self.gate(x))"
    forward = f"self.head({gate}.detach())\\\n            + {gate}.detach().sum() + (self.gate(x) > 0).sum()"
    (one,) = found(tmp_path, forward)
    places = [f"`{gate}.detach()` in line {line}" for line in (10, 11)]
    assert f"{places[0]} and {places[1]} cut every path to the loss." in one.why and one.line == 10
    assert one.fix.startswith("Remove the detach on the path that should train them.")


def test_what_is_computed_without_gradients_is_told_as_such(tmp_path: Path) -> None:
    forward = "self.head(self.quiet(x))\n\n    @torch.no_grad()\n    def quiet(self, x):\n        return self.gate(x)"
    (one,) = found(tmp_path, forward)
    assert "runs while gradients are switched off" in one.why and one.line == 14


def test_a_choice_on_the_way_is_told_as_such(tmp_path: Path) -> None:
    (one,) = found(tmp_path, "self.head(torch.eye(2)[self.gate(x).argmax(1)])")
    assert "returns a position, which has no derivative" in one.why


def test_a_parameter_that_nothing_uses_is_told_by_name(tmp_path: Path) -> None:
    (one,) = found(tmp_path, "self.head(x)")
    assert "SGD holds net.gate.weight and net.gate.bias" in one.why and "no op uses them" in one.why


def test_a_layer_that_came_after_the_optimiser_is_told(tmp_path: Path) -> None:
    (one,) = found(tmp_path, after="net.head = nn.Linear(2, 1)")
    assert one.label == "2 parameters are in no optimiser"
    assert "net.head.weight and net.head.bias receive a gradient in 2 backward calls" in one.why
    assert "SGD holds 2 other tensors that nothing uses" in one.why and "add_param_group" in one.fix


@pytest.mark.parametrize(
    ("parts", "holds"),
    [
        ({"after": "net = Net()"}, "SGD holds 4 other tensors that nothing uses"),
        (
            {"before": "net.requires_grad_(False)", "after": "net.head = nn.Linear(2, 1)"},
            "SGD holds only tensors that require no gradient",
        ),
    ],
    ids=["the whole model is a new one", "the others are frozen"],
)
def test_an_optimiser_that_changes_nothing_is_told(tmp_path: Path, parts: dict[str, str], holds: str) -> None:
    (one,) = found(tmp_path, **parts)
    assert one.kind == "unheld" and holds in one.why and "so the values never change" in one.why


def test_optimiser_of_another_model_is_said_to_be_one(tmp_path: Path) -> None:
    (other,) = found(tmp_path, before="other = Net()", params="other.parameters()")
    assert "The optimiser was created from another model" in other.why and "add_param_group" not in other.fix
    (head,) = found(tmp_path, after="net.head = nn.Linear(2, 1)")
    assert "was created before the model got these" in head.why


WITHOUT_GRADIENT = pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
CHECKPOINT = "self.head(torch.utils.checkpoint.checkpoint(self.gate, {x}, use_reentrant={reentrant}))"


@WITHOUT_GRADIENT
def test_reentrant_checkpoint_of_inputs_without_gradient_is_the_cause(tmp_path: Path) -> None:
    (one,) = found(tmp_path, CHECKPOINT.format(x="x", reentrant=True))
    assert one.kind == "unreached" and one.line == 10
    assert "SGD holds net.gate.weight and net.gate.bias" in one.why and "here none does" in one.why
    assert one.fix.startswith("Pass use_reentrant=False to checkpoint()") and "optimiser" not in one.fix


ROOT = """import engine as torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    loss = net(torch.ones(3, 2)).sum()
    {loss}
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("loss", "reason"),
    [
        ("loss = torch.tensor(loss.item(), requires_grad=True)", "leaves the graph at `loss.item()` in line 7"),
        ("loss = (loss > 0).float().requires_grad_()", "`loss > 0` in line 7 returns True or False"),
        ("loss = loss.detach().requires_grad_()", "`loss.detach()` in line 7 cuts the path to the loss"),
        ("loss = torch.tensor(1.0, requires_grad=True)", "no root of backward() depends on them"),
    ],
)
def test_loss_without_history_that_was_switched_on_is_cut_off(loss: str, reason: str, tmp_path: Path) -> None:
    (one,) = unreached(collect(recorded(ROOT.format(loss=loss), tmp_path)))
    assert one.label == "2 parameters never learn" and reason in one.why


@pytest.mark.parametrize(("x", "reentrant"), [("x", False), ("x.requires_grad_()", True)])
def test_checkpoint_that_lets_gradients_through_is_no_finding(x: str, reentrant: bool, tmp_path: Path) -> None:
    assert found(tmp_path, CHECKPOINT.format(x=x, reentrant=reentrant)) == []


QUIET = """self.head(self.quiet(x))

    @torch.no_grad()
    def quiet(self, x):
        return torch.utils.checkpoint.checkpoint(self.gate, x, use_reentrant=True)"""


@WITHOUT_GRADIENT
def test_reentrant_checkpoint_under_no_grad_is_not_the_cause(tmp_path: Path) -> None:
    assert not any("use_reentrant" in one.fix for one in found(tmp_path, QUIET))


@pytest.mark.parametrize(
    ("forward", "parts"),
    [
        (WHOLE, {}),
        (CUT, {"before": "net.gate.requires_grad_(False)"}),
        (CUT, {"params": "net.head.parameters()"}),
        (WHOLE, {"params": "net.head.parameters()"}),
        (WHOLE, {"before": "net.gate.bias.requires_grad = False"}),
    ],
    ids=["whole", "frozen", "left out", "left out of the optimiser alone", "frozen in part"],
)
def test_what_is_meant_is_no_finding(forward: str, parts: dict[str, str], tmp_path: Path) -> None:
    assert found(tmp_path, forward, **parts) == []


def test_a_target_that_is_copied_and_not_trained_is_no_finding(tmp_path: Path) -> None:
    source = NET.format(
        forward=WHOLE, before="import copy\nother = copy.deepcopy(net)", params="net.parameters()", after=""
    )
    source = source.replace(
        "net(torch.ones(3, 2)).sum()", "(net(torch.ones(3, 2)) - other(torch.ones(3, 2)).detach()).sum()"
    )
    assert unreached(collect(recorded(source, tmp_path))) == []


@pytest.mark.parametrize(
    ("forward", "away"),
    [
        ("self.head(torch.tensor(self.gate(x).detach().numpy()))", "numpy"),
        ("self.head(x) * self.gate(x).sum().item()", "item"),
        ("self.head(torch.tensor(self.gate(x).tolist()))", "tolist"),
    ],
)
def test_what_leaves_the_graph_as_plain_numbers_leads_to_its_line(forward: str, away: str, tmp_path: Path) -> None:
    (one,) = found(tmp_path, forward)
    assert one.label == "2 parameters never learn" and one.line == 10 and one.at is not None and one.at.startswith("n")
    assert "leaves the graph at `self.gate(x)" in one.why and "in line 10" in one.why
    assert f"{away}() is for looking at numbers" in one.fix


FUNCTION = """import engine as torch
from engine import nn

class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, power, scale):
        ctx.save_for_backward(x, scale)
        return x * scale**power

    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        return {returned}

scale = nn.Parameter(torch.tensor(2.))
layer = nn.Linear(2, 3)
opt = torch.optim.SGD([*layer.parameters(), scale], lr=0.1)
for _ in range({rounds}):
    opt.zero_grad()
    out = Scaled.apply(layer(torch.ones(4, 2)), 2, {argument})
    {before}
    loss = {loss}
    loss.backward({inputs})
    {after}
    opt.step()
"""
ACCURACY = "accuracy = (out.argmax(1) == 0).float().mean().item()"


def behind_a_function(folder: Path, **parts: str) -> list[Finding]:
    usual = {
        "returned": "grad * scale**2, None, None", "argument": "scale", "loss": "out.sum()", "inputs": "",
        "before": "pass", "after": "pass", "rounds": "2",
    }  # fmt: skip
    return unreached(collect(recorded(FUNCTION.format(**usual | parts), folder)))


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"before": ACCURACY},
        {"after": ACCURACY},
        {"argument": "scale.exp()"},
        {"loss": "out.sum() * (out.detach().mean() + 1)"},
    ],
    ids=["alone", "with a number read before", "with a number read after", "through an op", "beside a detach"],
)
def test_a_function_that_returns_none_for_an_input_is_the_cause(parts: dict[str, str], tmp_path: Path) -> None:
    (one,) = behind_a_function(tmp_path, **parts)
    assert one.label == "scale never learns" and one.line == 20
    assert one.why == (
        "SGD holds scale, but no gradient reaches it in 2 backward calls: the loss depends on it through the custom "
        "Function Scaled, whose backward returns None for its input scale "
        "(`return grad * scale**2, None, None` in line 13). It never changes."
    )
    assert one.fix == (
        "Return the gradient of the loss with respect to scale there instead of None. To freeze it on purpose, call "
        "`requires_grad_(False)`."
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"returned": "grad * scale**2, None, (grad * x).sum() * 2 * scale"},
        {"loss": "out.sum() + scale"},
        {"argument": "scale.requires_grad_(False)"},
    ],
    ids=["a gradient is returned", "another path", "frozen"],
)
def test_a_function_that_stops_no_parameter_is_no_finding(parts: dict[str, str], tmp_path: Path) -> None:
    assert behind_a_function(tmp_path, **parts) == []


def test_parameters_that_the_calls_leave_out_are_not_said_to_be_unused(tmp_path: Path) -> None:
    returned = "grad * scale**2, None, (grad * x).sum() * 2 * scale"
    (one,) = behind_a_function(tmp_path, returned=returned, inputs="inputs=list(layer.parameters())", before=ACCURACY)
    assert "the backward calls that depend on it list only other tensors in `inputs=`" in one.why


def test_a_number_that_is_read_after_the_backward_call_is_not_the_cause(tmp_path: Path) -> None:
    (one,) = behind_a_function(
        tmp_path, loss="layer(torch.ones(4, 2)).sum()", after="print(out.sum().item())", rounds="1"
    )
    assert "no root of backward() depends on it" in one.why and "item()" not in one.why + one.fix


def test_a_number_is_the_cause_only_for_the_parameters_behind_it(tmp_path: Path) -> None:
    net = NET.replace("self.gate, self.head =", "self.idle, self.gate, self.head = nn.Linear(2, 2),")
    source = net.format(
        forward="self.head(x) * self.gate(x).sum().item()", before="", params="net.parameters()", after=""
    )
    idle, gate = unreached(collect(recorded(source, tmp_path)))
    assert "net.idle.weight and net.idle.bias" in idle.why and "no op uses them" in idle.why
    assert "net.gate.weight and net.gate.bias" in gate.why and "leaves the graph" in gate.why


def test_a_section_without_a_gradient_says_nothing_about_parameters(tmp_path: Path) -> None:
    source = FUNCTION.format(
        returned="grad, None, None",
        argument="scale",
        before="pass",
        loss="out.sum()",
        inputs="",
        after="pass",
        rounds="2",
    )
    trace = recorded(source.replace("loss.backward()", "print(loss.item())"), tmp_path)
    assert unreached(collect(replace(trace, meta={**trace.meta, "section": {"taught": [0]}}))) == []


SCORES = """\
import engine as torch
from engine import nn

score = nn.Linear(2, 2)
energy = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD([*score.parameters(), *energy.parameters()], lr=0.1)
for step in range(2):
    opt.zero_grad()
    score(torch.randn(8, 2)).square().mean().backward()
    x = torch.randn(8, 2, requires_grad=True)
    (field,) = torch.autograd.grad(energy(x).sum(), x, create_graph=True)
    field.square().mean().backward()
    opt.step()
"""


def test_a_constant_of_a_gradient_is_not_said_to_be_left_out_of_inputs(tmp_path: Path) -> None:
    """Score matching: the loss is computed from the gradient of an energy, whose last bias drops out of it."""
    trace = recorded(SCORES, tmp_path)
    (one,) = unreached(collect(trace))
    assert one.label == "energy.2.bias never learns" and "inputs=" not in one.why + one.fix
    assert "that gradient does not depend on it: the derivative of an added constant is 0" in one.why
    gradient = trace.events[one.event]
    assert isinstance(gradient, Accumulated) and trace.names[gradient.tensor].startswith("energy.")
