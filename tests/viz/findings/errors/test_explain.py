"""Errors explained at their place, and fixes that mend them when they are applied."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import engine as torch
from engine.replay.replay import replay
from engine.trace.events import ErrorRaised, Trace
from viz.findings.errors.explain import ErrorExplanation, explain
from viz.findings.nonfinite import findings
from viz.run.run import Run
from viz.scene.reading import reading_of
from viz.server.revisions import to_edits

from ...helpers.traces import CASE_3, recorded

HEAD = "import engine as torch\n"
SECOND = CASE_3 + "y.backward(torch.tensor([0.1, 1.0, 0.0001]))\n"
NOT_SCALAR = HEAD + "a = torch.ones(2, 3, requires_grad=True)\nout = a * a\nout.backward()\n"
MISMATCH = HEAD + "x = torch.ones(2, 2, requires_grad=True)\nz = x * 2\nz.backward(torch.tensor([1., 0.]))\n"


def explained(source: str, folder: Path) -> tuple[Trace, ErrorExplanation]:
    trace = recorded(source, folder)
    read = reading_of(trace)
    found = explain(read.facts, read.drawing)
    assert found is not None
    return trace, found


@pytest.mark.parametrize("source", [SECOND, NOT_SCALAR, MISMATCH])
def test_the_smallest_fix_mends_the_program(source: str, tmp_path: Path) -> None:
    trace, found = explained(source, tmp_path)
    assert found.edits is not None
    mended = replay(trace, to_edits(trace, found.edits))
    assert not any(isinstance(e, ErrorRaised) for e in mended.events)
    assert any(isinstance(e, ErrorRaised) for e in trace.events)


def test_a_second_backward_names_the_call_that_freed(tmp_path: Path) -> None:
    _, found = explained(SECOND, tmp_path)
    assert found.at is not None and found.at.startswith("n")
    assert "`y.backward(torch.tensor([0.1, 1.0, 0.0001]))` in line 7 has already run through it" in found.why
    assert "retain_graph=True to the earlier call" in found.fix
    assert found.edits is not None and found.edits["commands"] is not None
    assert [c["retain_graph"] for c in found.edits["commands"]] == [True, False]


def test_a_root_that_is_no_scalar_gets_a_gradient_of_ones(tmp_path: Path) -> None:
    _, found = explained(NOT_SCALAR, tmp_path)
    assert "out has shape [2, 3]" in found.why and found.at == "t1"
    assert found.edits is not None and (found.edits["commands"] or [])[0]["gradient"] == [[1.0] * 3] * 2


def test_a_gradient_of_another_shape_is_spread_where_it_can_be(tmp_path: Path) -> None:
    _, found = explained(MISMATCH, tmp_path)
    assert found.edits is not None and (found.edits["commands"] or [])[0]["gradient"] == [[1.0, 0.0], [1.0, 0.0]]


def test_no_grad_fn_names_the_leaf_or_the_cut(tmp_path: Path) -> None:
    _, plain = explained(HEAD + "x = torch.ones(1)\ny = x * 2\ny.backward()\n", tmp_path)
    assert plain.fix == "Create x with requires_grad=True before y is computed."
    _, alone = explained(HEAD + "x = torch.ones(1)\nx.backward()\n", tmp_path)
    assert alone.why == "x is not computed from anything, and does not require a gradient itself."
    for whole in ("x.backward()", "(x * 2).backward()"):
        _, found = explained(HEAD + f"x = torch.arange(1)\n{whole}\n", tmp_path)
        assert "holds integers" in found.why and "requires_grad=True" not in found.fix
    source = HEAD + "x = torch.ones(1, requires_grad=True)\nh = x.detach()\ny = h * 2\ny.backward()\n"
    _, cut = explained(source, tmp_path)
    assert "detach() cuts it off" in cut.why and "line 3" in cut.why


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_checkpoint_without_gradient_is_where_the_graph_ends(tmp_path: Path) -> None:
    source = (
        HEAD + "net = torch.nn.Linear(2, 1)\nx = torch.ones(3, 2)\n"
        "y = torch.utils.checkpoint.checkpoint(net, x, use_reentrant=True)\ny.sum().backward()\n"
    )
    _, cut = explained(source, tmp_path)
    assert "in line 4: a checkpoint with use_reentrant=True" in cut.why
    assert cut.fix == "Pass use_reentrant=False to checkpoint()."


def test_an_in_place_change_names_the_line_that_wrote(tmp_path: Path) -> None:
    source = HEAD + "x = torch.ones(2, requires_grad=True)\ny = torch.exp(x)\ny.mul_(2)\ny.sum().backward()\n"
    _, found = explained(source, tmp_path)
    assert "`y.mul_(2)` in line 4" in found.why and "`y = y * …`" in found.fix


def test_a_leaf_changed_in_place_is_explained(tmp_path: Path) -> None:
    _, found = explained(HEAD + "w = torch.ones(2, requires_grad=True)\nw.add_(1)\n", tmp_path)
    assert found.at == "t0" or found.at is None
    assert "no_grad" in found.fix


def test_an_unused_input_is_named(tmp_path: Path) -> None:
    source = (
        HEAD + "x = torch.ones(1, requires_grad=True)\ny = torch.ones(1, requires_grad=True)\n"
        "z = x * 2\ntorch.autograd.grad(z, [x, y])\n"
    )
    _, found = explained(source, tmp_path)
    assert "allow_unused=True" in found.fix


def test_an_error_of_the_users_own_points_at_its_line(tmp_path: Path) -> None:
    _, found = explained(HEAD + "x = torch.ones(1, requires_grad=True)\ny = x * 2\nundefined_name + 1\n", tmp_path)
    assert "`undefined_name + 1` in line 4" in found.why


def test_the_birth_of_an_infinity_is_found_forward_and_backward(tmp_path: Path) -> None:
    source = HEAD + "c = torch.zeros(1, requires_grad=True)\ny = torch.log(c) + 1\ny.backward(torch.ones(1))\n"
    read = reading_of(recorded(source, tmp_path))
    found = findings(read.facts)
    assert [(f.kind, f.at) for f in found] == [("inf", "n0"), ("inf-gradient", "n0")]
    assert (
        "This op produced it, in `torch.log(c)` (line 3)." in found[0].why
        and "from the local derivative" in found[1].why
    )


@pytest.mark.filterwarnings("ignore:Error detected in")
def test_anomaly_mode_is_explained_by_the_op_that_sent_the_first_inf(tmp_path: Path) -> None:
    body = "x = torch.zeros(2, requires_grad=True)\nwith torch.autograd.set_detect_anomaly(True):\n"
    _, found = explained(HEAD + body + "    (x * x).sum().sqrt().backward()\n", tmp_path)
    assert "SqrtBackward0 receives no inf, but it sends one" in found.why
    assert found.fix.startswith("The derivative of a square root is infinite at 0")


def test_a_nan_from_an_infinity_that_came_is_blamed_on_where_that_was_born(tmp_path: Path) -> None:
    source = HEAD + "x = torch.zeros(2, requires_grad=True)\n(x ** 2).sqrt().sum().backward()\n"
    born, spread = findings(reading_of(recorded(source, tmp_path)).facts)
    assert (born.kind, spread.kind) == ("inf-gradient", "nan-gradient")
    assert "The inf is multiplied by a derivative of 0, and 0 · inf is nan, in `x ** 2` (line 3)." in spread.why
    assert spread.fix == "Fix the op that produced the inf: this one only multiplied it."


def test_a_sound_program_has_nothing_to_explain(tmp_path: Path) -> None:
    read = reading_of(recorded(CASE_3, tmp_path))
    assert explain(read.facts, read.drawing) is None and findings(read.facts) == []


def test_a_state_carried_over_a_backward_call_is_to_be_detached(tmp_path: Path) -> None:
    source = HEAD + (
        "w = torch.tensor(0.5, requires_grad=True)\nhidden = torch.tensor(1.)\n"
        "for _ in range(2):\n    hidden = torch.tanh(w * hidden)\n    hidden.backward()\n"
    )
    _, found = explained(source, tmp_path)
    assert "hidden was computed before `hidden.backward()` in line 6" in found.why
    assert "`w * hidden` in line 5" in found.why
    assert "TanhBackward0 no longer has its saved tensors (result)" in found.why
    assert "`hidden = hidden.detach()`" in found.fix


def test_the_grad_of_an_inner_tensor_is_explained_where_it_is_missed(tmp_path: Path) -> None:
    source = HEAD + "x = torch.ones(1, requires_grad=True)\nh = x * 2\nh.backward()\nh.grad.sum()\n"
    with pytest.warns(UserWarning, match="not a leaf"):
        _, found = explained(source, tmp_path)
    assert "retain_grad()" in found.fix


def test_a_missing_module_is_to_be_installed(tmp_path: Path) -> None:
    _, found = explained(HEAD + "import no_such_plot.lib\n", tmp_path)
    assert "no module no_such_plot." in found.why and "Install no_such_plot" in found.fix


STATE = """import engine as torch

class Trainer:
    def __init__(self):
        self.cell, self.state = torch.nn.GRUCell(1, 2), torch.zeros(1, 2{asks})

    def step(self, x):
        self.state = self.cell(x, self.state)
        self.state.sum().backward()
        {update}

trainer = Trainer()
opt = torch.optim.SGD(trainer.cell.parameters(), lr=0.1)
for _ in range(2):
    trainer.step(torch.ones(1, 1))
"""


@pytest.mark.parametrize(
    ("update", "asks", "keeping"),
    [
        ("opt.step()", ", requires_grad=True", "would not help: the value of trainer.cell.weight_hh has changed since"),
        ("opt.step()", "", "would help this call only: its graph needs the value of trainer.cell.weight_hh too"),
        ("pass", "", "To go back through all of it, pass retain_graph=True"),
    ],
    ids=["saved and changed", "saved only by the later graph", "not changed"],
)
def test_a_hidden_state_in_an_attribute_is_named_and_cut_off(
    update: str, asks: str, keeping: str, tmp_path: Path
) -> None:
    trace = recorded(STATE.format(update=update, asks=asks), tmp_path)
    read = reading_of(trace)
    found = explain(read.facts, read.drawing)
    assert found is not None and found.why.startswith("self.state was computed before")
    assert "`self.state = self.state.detach()`" in found.fix
    assert keeping in found.fix and (found.edits is None) == (update != "pass")


TRUNCATED = """import engine as torch
rnn = torch.nn.LSTM(2, 3)
opt = torch.optim.SGD(rnn.parameters(), lr=0.1)
hidden, total = (torch.zeros(1, 1, 3), torch.zeros(1, 1, 3)), 0
for step in range(4):
    opt.zero_grad()
    out, {state} = rnn(torch.ones(16, 1, 2), hidden)
    loss = out.square().sum()
    total = total + loss
    {call}
    opt.step()
"""


@pytest.mark.parametrize(
    ("state", "call", "name", "where", "reason", "is_sum"),
    [
        ("hidden", "loss.backward()", "hidden", "rnn(torch.ones(16, 1, 2), hidden)", "call has freed", False),
        ("hidden", "loss.backward(retain_graph=True)", "hidden", "rnn(torch.ones(16, 1, 2), hidden)", "changed", False),
        ("_", "total.backward()", "total", "total + loss", "call has freed", True),
    ],
    ids=["freed", "retained and updated", "a sum of losses"],
)
def test_in_an_iteration_of_a_run_the_link_to_an_earlier_one_is_named(
    state: str, call: str, name: str, where: str, reason: str, is_sum: bool, tmp_path: Path
) -> None:
    run = Run(recorded(TRUNCATED.format(state=state, call=call), tmp_path))
    assert run.is_divided
    read = reading_of(run.trace(len(run.sections) - 1))
    error = explain(read.facts, read.drawing)
    assert error is not None and error.why.startswith(f"{name} was computed in an earlier iteration")
    assert f"(in `{where}` in line" in error.why and reason in error.why
    assert f"`{name} = {name}.detach()`" in error.fix
    assert error.fix.endswith("Then leave out retain_graph=True.") == ("retain_graph" in call)
    assert ("add numbers" in error.fix) == is_sum


ADVERSARIES = (
    HEAD + "g, d = torch.ones(2, 2, requires_grad=True), torch.ones(2, 1, requires_grad=True)\n"
    "opt = torch.optim.SGD([d], lr=0.1)\nfor _ in range(1):\n    score = (torch.ones(1, 2) @ g) @ d\n"
    "    score.sum().backward({keeps})\n    opt.step()\n    loss = -score.sum()\n    loss.backward()\n"
)


@pytest.mark.parametrize("keeps", ["", "retain_graph=True"])
def test_a_result_used_below_an_update_is_to_be_computed_again(keeps: str, tmp_path: Path) -> None:
    """It is not handed to a next iteration: detached, it would train nothing."""
    _, found = explained(ADVERSARIES.format(keeps=keeps), tmp_path)
    assert found.fix.startswith("Compute score again after ") and "detach" not in found.fix


@pytest.mark.parametrize(("gradient", "is_once"), [("", True), ("torch.tensor(1.0)", False)])
def test_a_loss_computed_before_the_loop_is_to_be_computed_inside(gradient: str, is_once: bool, tmp_path: Path) -> None:
    source = (
        f"{HEAD}x = torch.ones(2, requires_grad=True)\nloss = x.square().sum()\n"
        f"for _ in range(2):\n    loss.backward({gradient})\n"
    )
    _, found = explained(source, tmp_path)
    assert found.fix.startswith("Compute loss inside the loop") == is_once == (found.edits is None)


def test_a_state_that_is_written_in_place_leads_to_the_earlier_iteration(tmp_path: Path) -> None:
    source = (
        HEAD + "w = torch.ones(2, 2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nh = torch.ones(2, 2)\n"
        "for step in range(4):\n    opt.zero_grad()\n    h = h @ w\n    h += 1\n    loss = h.square().sum()\n"
        "    loss.backward(retain_graph=True)\n    opt.step()\n"
    )
    run = Run(recorded(source, tmp_path))
    read = reading_of(run.trace(len(run.sections) - 1))
    error = explain(read.facts, read.drawing)
    assert error is not None and error.why.startswith("h was computed in an earlier iteration")
    assert "`h = h.detach()`" in error.fix and "out-of-place" not in error.fix


@pytest.mark.parametrize("before", ["", "table.weight.mul_(1); "])
def test_only_a_tensor_that_a_node_saved_is_said_to_stand_in_the_way(before: str, tmp_path: Path) -> None:
    source = HEAD + (
        "table = torch.nn.Embedding(3, 2)\nw, h = torch.ones(2, requires_grad=True), torch.zeros(2)\n"
        "for _ in range(2):\n    h = torch.tanh((h + table(torch.tensor(1))) * w)\n    h.sum().backward()\n"
        f"    with torch.no_grad():\n        {before}w.mul_(0.5)\n"
    )
    _, found = explained(source, tmp_path)
    assert "retain_graph=True would not help: the value of w has changed since." in found.fix
    unsaved = source.replace("w.mul_(0.5)", "table.weight.mul_(0.5)")
    _, found = explained(unsaved, tmp_path)
    assert "changed since" not in found.fix and found.edits is not None


FROZEN = """\
import engine as torch
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
x = torch.ones(3, 2)
for p in model.parameters():
    p.requires_grad = False
loss = model(x).sum()
loss.backward()
"""


def test_what_was_frozen_is_not_said_to_be_computed_under_no_grad(tmp_path: Path) -> None:
    _, found = explained(FROZEN, tmp_path)
    assert (
        "requires_grad was switched off for model.0.weight, model.0.bias, model.1.weight and model.1.bias" in found.why
    )
    assert "`p.requires_grad = False` in line 5" in found.why and "no_grad" not in found.why + found.fix


def test_what_was_frozen_before_its_use_is_no_leaf(tmp_path: Path) -> None:
    known = reading_of(recorded(FROZEN, tmp_path)).facts
    frozen = [t for t, fact in known.tensors.items() if fact.flags]
    assert len(frozen) == 4 and not any(known.tensors[tensor].is_leaf for tensor in frozen)


def test_gradients_that_were_never_switched_on_again_lead_to_the_line_that_switched_them_off(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\n"
        "def evaluate():\n    torch.set_grad_enabled(False)\n    return x.sum()\n"
        "evaluate()\nloss = (x * x).sum()\nloss.backward()\n"
    )
    try:
        _, found = explained(source, tmp_path)
    finally:
        torch.set_grad_enabled(True)
    assert "`torch.set_grad_enabled(False)` in line 4 has switched gradients off" in found.why
    assert "torch.set_grad_enabled(True)" in found.fix


def test_an_op_without_a_derivative_is_the_place_of_its_error(tmp_path: Path) -> None:
    source = "import engine as torch\nx = torch.ones(2, requires_grad=True)\ny = 3 * (x // 2)\ny.sum().backward()\n"
    trace, found = explained(source, tmp_path)
    assert "The gradient reaches `x // 2` in line 3, but PyTorch has no derivative for floor_divide" in found.why
    assert found.at is not None and reading_of(trace).facts.ops[0].id == found.at
    assert "Write `/`" in found.fix


@pytest.mark.parametrize(
    ("code", "told", "mended"),
    [
        ("x = torch.tensor([1, 2], requires_grad=True)", "as in `1.`", "torch.tensor([1., 2], requires_grad=True)"),
        ("x = torch.tensor([1, 2])\nx.requires_grad_()", "call `x = x.float()` first, then `x.requires_grad_()`", ""),
        ("a, b = torch.ones(2, requires_grad=True).clone().unbind()\na *= 10", "`a = a * 10`", ""),
        ("a, b = torch.ones(2, requires_grad=True).clone().unbind()\na -= b + 1", "`a = a - (b + 1)`", ""),
        ("a, b = torch.ones(2, requires_grad=True).clone().unbind()\na.mul_(3)", "`a = a * 2`", ""),
        ("y = torch.ones(2, requires_grad=True) * 2\ny.numpy()", "`y.detach().numpy()`", ""),
    ],
)  # fmt: skip
def test_what_is_advised_fits_the_line_that_was_refused(code: str, told: str, mended: str, tmp_path: Path) -> None:
    _, found = explained(HEAD + code + "\n", tmp_path)
    assert told in found.fix
    lines = [line for line in code.splitlines() if "unbind" in line or "= torch" in line]
    spaces = {"torch": torch}
    exec("\n".join([*lines[: not mended], mended or re.findall(r"`([^`]+)`", found.fix)[0]]), spaces)


def test_what_a_number_was_taken_from_is_not_the_place_of_its_error(tmp_path: Path) -> None:
    source = HEAD + "w = torch.ones(1, requires_grad=True)\nloss = w * 2\ntotal = loss.item()\ntotal.backward()\n"
    _, found = explained(source, tmp_path)
    assert found.at is None and "took the number of loss out of the graph" in found.why


def test_a_file_that_is_not_there_is_told_with_the_folder_that_counts(tmp_path: Path) -> None:
    _, found = explained(HEAD + 'open("no_such_file.csv")\n', tmp_path)
    assert found.why.endswith(": the file that it opens does not exist.")
    assert "the folder where Backstep was started" in found.fix


def test_clip_of_parameters_without_gradients_is_to_be_moved(tmp_path: Path) -> None:
    """The words are PyTorch's; the engine's own clip_grad_value_() does nothing then."""
    raised = "raise RuntimeError('Expected !nested_tensorlist[0].empty() to be true, but got false.')"
    _, found = explained(f"{HEAD}x = torch.ones(2, requires_grad=True) * 2\n{raised}\n", tmp_path)
    assert "clips gradients, but none of these parameters has one" in found.why
    assert found.fix == "Move it between backward() and step()." and found.edits is None


@pytest.mark.parametrize(
    ("target", "why", "fix"),
    [
        ("torch.nn.functional.one_hot(y, 3)", "from `torch.nn.functional.one_hot(y, 3)`", "the one-hot encoding, or"),
        ("torch.tensor([[0, 1, 0]] * 6)", "which are floats; these are integers.", "as in `target.argmax(1)`"),
        ("y.view(6, 1)", "program.py has shape [6, 1]", "Call `squeeze(1)` on the target"),
        ("torch.eye(6).long()[:, :2]", "has one number per row of scores", "one-hot encoding, pass the number"),
        ("torch.eye(6)[:, :3].argmax(0).repeat(2) + 2", "one is 3. `torch.eye(6)[:, :3].argmax(0)`", "Write dim=1"),
        ("y + 2", "one is 3.", "Give the last layer an output for each class (at least 4)"),
    ],
)
def test_a_target_that_names_no_classes_is_explained(target: str, why: str, fix: str, tmp_path: Path) -> None:
    source = (
        f"{HEAD}y = torch.tensor([0, 1, 0, 1, 0, 1])\nx = torch.ones(6, 3, requires_grad=True)\n"
        f"torch.nn.functional.cross_entropy(x, {target})\n"
    )
    _, found = explained(source, tmp_path)
    assert why in found.why and fix in found.fix


def test_a_parameter_that_its_update_replaces_is_to_be_updated_in_place(tmp_path: Path) -> None:
    source = HEAD + (
        "w = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (w * w).sum().backward()\n"
        "    w = w - 0.1 * w.grad\n"
    )
    with pytest.warns(UserWarning, match="not a leaf"):
        trace, found = explained(source, tmp_path)
    assert "`w - 0.1 * w.grad` in line 5" in found.why and "has computed a new w" in found.why
    assert found.fix == "Update w in place: `with torch.no_grad(): w -= …`. Then it stays a leaf."
    (leaf,) = (one for one in reading_of(trace).findings if one.kind == "leaf")
    assert leaf.fix.startswith("Update w in place, as in `with torch.no_grad(): w -= …`")
