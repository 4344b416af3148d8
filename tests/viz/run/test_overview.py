"""The numbers of a run: those that the program itself would print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import engine
from engine.trace.events import Trace
from viz.findings.runs import run_findings
from viz.run.overview import Overview, joined, overview
from viz.run.run import Run
from viz.scene.reading import reading_of
from viz.scene.run_overview import document, in_iterations
from viz.server.http.gzip_pieces import pack_json

from ..helpers.traces import recorded

NET = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
norms, losses, ratios = [], [], []
for step in range({steps}):
    opt.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    before = [p.detach().clone() for p in model.parameters()]
    opt.step()
"""
AGAIN = """\
    losses.append(loss.item())
    norms.append([p.grad.norm().item() for p in model.parameters()])
    ratios.append([((p - old).norm() / old.norm()).item() for p, old in zip(model.parameters(), before)])
"""


def of(trace: Trace) -> Overview:
    run = Run(trace)
    return overview(trace, run.outline, run.sections)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Overview:
    return of(recorded(NET.format(steps=12), tmp_path_factory.mktemp("net")))


SIAMESE = NET.replace("(model(x) - y)", "(model(x) - {other} - y)")


@pytest.mark.parametrize(("other", "names"), [("model(y * x)", ["model.2.bias"]), ("model(x)[0] * 2", [])])
def test_a_bias_whose_gradients_cancel_has_no_effect_and_is_not_called_dead(
    other: str, names: list[str], tmp_path: Path
) -> None:
    run = of(recorded(SIAMESE.format(steps=12, other=other), tmp_path))
    assert [one.name for one in run.parameters if one.has_no_effect] == names
    bias = next(row for row, one in enumerate(run.parameters) if one.name == "model.2.bias")
    assert (not run.rows["norm"][bias].any()) == bool(names)
    assert [one.kind for one in run_findings(run)] == []
    blind = replace(run, parameters=tuple(replace(one, has_no_effect=False) for one in run.parameters))
    assert [one.kind for one in run_findings(blind)] == ["dead"] * len(names)


ADDED_UP = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    for _ in range(2):
        (model(torch.randn(8, 3)).square().mean() / 2).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
"""


def test_update_after_a_loop_that_adds_up_gradients_is_that_of_its_last_column(tmp_path: Path) -> None:
    run = of(recorded(ADDED_UP, tmp_path))
    assert run.updates == 20 and run.labels[:2] == ("step = 0 · round 1", "step = 0 · round 2")
    assert np.isfinite(run.rows["ratio"]).tolist() == [[False, True] * 20] * 2


DYING = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(32, 4)
for step in range(30):
    loss = model(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 20:
        model[0].bias.data.fill_(-50.0)
"""


def test_dead_units_are_told_with_the_iterations_that_were_looked_at(tmp_path: Path) -> None:
    found = in_iterations(Run(recorded(DYING, tmp_path)))
    (dead,) = (one for one in found if one["shows"] == ["dead-units"])
    assert dead["label"] == "20 of 20 units are dead, in step = 29"
    assert dead["why"].endswith("in the first three iterations and in the last one.")


ALONE = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
query, value = nn.Linear(3, 3), nn.Linear(3, 3)
opt = torch.optim.Adam([*query.parameters(), *value.parameters()], lr=0.01)
for step in range(20):
    x = torch.randn(1, 5, 3)
    weights = torch.softmax(query(x) @ x.transpose(1, 2), dim={dim})
    loss = (weights @ value(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_the_op_that_sends_zeros_through_a_whole_run_is_named(tmp_path: Path) -> None:
    """A softmax over the batch, which is of one sample."""
    (stop,) = (one for one in in_iterations(Run(recorded(ALONE.format(dim=0), tmp_path))) if "zeros" in one["label"])
    assert stop["kind"] == "mistake", "it stands before the finding that only counts the parameters"
    assert stop["section"] == 0 and stop["parameter"] == "query.weight"
    assert "of query.bias and query.weight is 0 from here to the end of the run" in stop["why"]
    assert "(line 9) receives a nonzero gradient and sends only zeros." in stop["why"]
    assert stop["explains"] == ["dead"]
    assert in_iterations(Run(recorded(ALONE.format(dim=-1), tmp_path))) == []


OTHER = NET.replace("opt =", "other = nn.Linear(3, 1)\nopt =").replace("SGD(model", "SGD(other")


def test_optimiser_of_another_model_explains_that_nothing_is_updated(tmp_path: Path) -> None:
    run = Run(recorded(OTHER.format(steps=12), tmp_path))
    assert [one.kind for one in run_findings(run.overview)] == ["never-updated"]
    (mistake,) = in_iterations(run)
    assert mistake["shows"] == ["unheld"] and "never-updated" in mistake["explains"]


CALLS = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.randn(8, 3)
norms = []
for scale in (1.0, 10.0):
    (model(x) * scale).mean().backward()
    norms.append([p.grad.norm().item() for p in model.parameters()])
    model.zero_grad()
(model(x) * torch.autograd.grad(model(x).sum(), model[0].bias)[0].sum()).sum().backward()
norms.append([p.grad.norm().item() for p in model.parameters()])
"""


def test_a_program_without_iterations_has_a_column_for_each_backward_call(tmp_path: Path) -> None:
    run = Run(recorded(CALLS, tmp_path))
    seen: dict[str, object] = {}
    exec(CALLS, seen)
    flow = run.flow
    assert not run.is_divided and flow.calls == (0, 1, 3), "the third call accumulates nothing"
    assert flow.labels[:2] == ("(model(x) * scale).mean().backward()", "(model(x) * scale).mean().backward() (2)")
    assert pytest.approx(np.array(seen["norms"]), rel=1e-5) == flow.rows["norm"].T
    made = document(run.overview, "p", 1, None, flow)
    assert made["calls"] == [0, 1, 3] and made["first"] == [0, 0, 0] and not made["findings"]


def test_numbers_are_those_that_the_program_sees(trained: Overview) -> None:
    seen: dict[str, object] = {}
    exec(NET.format(steps=12) + AGAIN, seen)
    names = ["model.0.weight", "model.0.bias", "model.2.weight", "model.2.bias"]
    assert [one.name for one in trained.parameters] == names
    assert [one.group for one in trained.parameters] == ["model.0", "model.0", "model.2", "model.2"]
    assert trained.labels == tuple(f"step = {k}" for k in range(12))
    assert trained.loss == pytest.approx(np.array(seen["losses"]), rel=1e-5)
    assert pytest.approx(np.array(seen["norms"]), rel=1e-5) == trained.rows["norm"].T
    assert pytest.approx(np.array(seen["ratios"]), rel=1e-3) == trained.rows["ratio"].T
    assert trained.total == pytest.approx(np.sqrt((np.array(seen["norms"]) ** 2).sum(axis=1)), rel=1e-5)
    assert trained.updates == 12 and (trained.rows["nonfinite"] == 0).all()


TWO_LOSSES = """\
import engine as torch
w = torch.tensor([1., 2.], requires_grad=True)
v = torch.tensor([3., 4.], requires_grad=True)
for i in range(80):
    g_loss = (w * v.detach()).sum() + i
    g_loss.backward()
    d_loss = (v * w.detach()).sum() - i
    {call}
    w.grad = v.grad = None
"""


def test_further_losses_of_an_iteration_have_their_names(tmp_path: Path) -> None:
    found = of(recorded(TWO_LOSSES.format(call="d_loss.backward()"), tmp_path))
    assert found.root == "g_loss" and found.loss.tolist() == [11.0 + i for i in range(80)]
    assert {name: values.tolist() for name, values in found.others.items()} == {"d_loss": [11.0 - i for i in range(80)]}
    made = document(joined(found, 4), "p", 1, None)
    assert made["root"] == "g_loss" and [one["name"] for one in made["others"]] == ["d_loss"]
    assert len(made["others"][0]["loss"]) == len(made["loss"])


ALTERNATING = """\
import engine as torch
w = torch.tensor([1., 2.], requires_grad=True)
for i in range(80):
    w.grad = None
    if i % 4:
        critic = (w * w).sum() + i
        critic.backward()
    else:
        actor = (w * 2).sum() - i
        actor.backward()
"""


def test_losses_of_different_iterations_have_their_names(tmp_path: Path) -> None:
    found = of(recorded(ALTERNATING, tmp_path))
    assert found.root == "critic" and found.loss[:5].tolist() == pytest.approx([np.nan, 6, 7, 8, np.nan], nan_ok=True)
    assert found.rooted[:5] == (False, True, True, True, False)
    assert found.others["actor"][:5].tolist() == pytest.approx([6, np.nan, np.nan, np.nan, 2], nan_ok=True)


SELDOM = """\
import engine as torch
w = torch.tensor([1., 2.], requires_grad=True)
v = torch.tensor([3., 4.], requires_grad=True)

def energy(x, y):
    loss = (x * y.detach()).sum()
    return loss

for i in range(80):
    {critic} = energy(w, v) + i if {is_sum} else energy(w, v)
    {critic}.backward()
    if i % 5 == 0:
        {generator} = energy(v, w) - i if {is_sum} else energy(v, 2 * w)
        {generator}.backward()
    w.grad = v.grad = None
"""


def test_a_generator_that_is_trained_now_and_then_has_a_line_of_its_own(tmp_path: Path) -> None:
    source = SELDOM.format(critic="d_loss", generator="g_loss", is_sum=True)
    losses = of(recorded(source, tmp_path))
    assert losses.root == "d_loss" and losses.loss.tolist() == [11.0 + i for i in range(80)]
    seldom = losses.others["g_loss"]
    assert seldom[::5].tolist() == [11.0 - i for i in range(0, 80, 5)] and np.isnan(seldom[1:5]).all()


def test_losses_that_a_function_returns_have_the_names_of_the_calls(tmp_path: Path) -> None:
    """The function calls both of them `loss`."""
    losses = of(recorded(SELDOM.format(critic="d_loss", generator="g_loss", is_sum=False), tmp_path))
    assert losses.root == "d_loss" and losses.loss.tolist() == [11.0] * 80
    assert losses.others["g_loss"][0] == 22.0


def test_a_loss_that_is_called_at_two_places_by_one_name_is_one_line(tmp_path: Path) -> None:
    losses = of(recorded(SELDOM.format(critic="total", generator="total", is_sum=False), tmp_path))
    assert losses.root == "loss" and not losses.others and losses.loss.tolist() == [11.0] * 80


def test_each_backward_call_of_a_program_without_iterations_has_its_root(tmp_path: Path) -> None:
    text = "import engine as torch\nw = torch.tensor([1., 2.], requires_grad=True)\n"
    for number, name in enumerate("abcde"):
        text += f"{name} = (w * {number}).sum()\n{name}.backward()\n"
    text += "with torch.no_grad():\n    w -= w.grad\n"
    run = Run(recorded(text, tmp_path))
    assert run.flow.loss.tolist() == [0, 3, 6, 9, 12] and all(run.flow.rooted) and run.flow.root == "loss"


MAP = """\
    if step % 4 == 3:
        image = x.clone().requires_grad_()
        model(image)[0, 0].mul(1000.0).backward()
"""


@pytest.mark.parametrize("indent", [0, 4])
def test_a_map_of_what_a_network_looks_at_is_not_a_loss(indent: int, tmp_path: Path) -> None:
    text = NET.format(steps=80)
    text += MAP if indent else MAP.replace("    if step % 4 == 3:\n", "").replace("        ", "")
    found = of(recorded(text, tmp_path))
    known = found.loss[np.isfinite(found.loss)]
    assert len(known) >= 80 and np.ptp(known) < 10
    assert [one.name for one in found.parameters if one.is_input] == ["image"]


SIDE_BY_SIDE = """\
import engine as torch
from engine import nn

actor = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
for step in range(20):
    x = torch.randn(8, 3)
    loss = (actor(x) * {value}).sum() + critic(x).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("value", "apart"), [("critic(x).detach()", True), ("2", True), ("1 + critic(actor(x) + x)", False)]
)
def test_parameters_know_those_behind_them(value: str, apart: bool, tmp_path: Path) -> None:
    found = of(recorded(SIDE_BY_SIDE.format(value=value), tmp_path))
    place = {one.name: number for number, one in enumerate(found.parameters)}
    before = {
        one.name: {name for name, number in place.items() if one.before >> number & 1} for one in found.parameters
    }
    assert before["actor.2.weight"] == {"actor.0.weight", "actor.0.bias"} and before["actor.0.weight"] == set()
    assert {"critic.0.weight", "critic.0.bias"} <= before["critic.2.weight"]
    assert ("actor.2.weight" not in before["critic.0.weight"]) == apart


@pytest.mark.parametrize("call", ["(d_loss * 2).backward()", "g_loss = d_loss * 2; g_loss.backward()"])
def test_further_roots_without_names_of_their_own_are_not_shown(call: str, tmp_path: Path) -> None:
    found = of(recorded(TWO_LOSSES.format(call=call), tmp_path))
    assert found.root == "loss" and not found.others


WAITS = """\
import engine as torch
w = torch.tensor([1., 2.], requires_grad=True)
seen = []
for i in range(80):
    seen.append((w.detach() * i).sum())
    if len(seen) > 30:
        seen[0].add(w.sum()).backward()
"""


def test_a_run_opens_at_its_first_iteration_with_a_backward_call(tmp_path: Path) -> None:
    run = Run(recorded(WAITS, tmp_path))
    assert run.is_divided and run.sections[run.opens].name == "i = 30"


PENALTY = """\
import engine as torch
w = torch.tensor([1., 2.], requires_grad=True)
losses = []
for i in range(80):
    x = torch.tensor([3., 4.], requires_grad=True)
    out = (w * x).sum() ** 2
    penalty, = torch.autograd.grad(out, x, create_graph=True)
    loss = out + penalty.norm() + i
    losses.append(loss.item())
    {call}
"""


@pytest.mark.parametrize("call", ["loss.backward()", "w.grad, = torch.autograd.grad(loss, w)"])
def test_a_root_whose_gradient_is_a_part_of_the_loss_is_no_loss(call: str, tmp_path: Path) -> None:
    seen: dict[str, object] = {}
    source = PENALTY.format(call=call)
    exec(source, seen)
    found = of(recorded(source, tmp_path))
    assert found.root == "loss" and not found.others and found.loss.tolist() == seen["losses"]


ADJOINT = """\
import engine as torch

class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        with torch.no_grad():
            return (w * w).sum()

    @staticmethod
    def backward(ctx, g):
        w, = ctx.saved_tensors
        with torch.enable_grad():
            x = w.detach().requires_grad_()
            inner = (x * x).sum() + 100
            return torch.autograd.grad(inner, x)[0] * g

w = torch.tensor([1., 2.], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
losses = []
for i in range(40):
    loss = Adjoint.apply(w)
    losses.append(loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_the_root_of_a_call_inside_another_one_is_no_loss(tmp_path: Path) -> None:
    variables: dict[str, object] = {}
    exec(ADJOINT, variables)
    run = of(recorded(ADJOINT, tmp_path))
    assert run.root == "loss" and not run.others and run.loss.tolist() == variables["losses"]


SAMPLER = """\
import engine as torch
w = torch.tensor([1., 2.], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
losses = []
for i in range(40):
    x = torch.ones(2, requires_grad=True)
    w.requires_grad_(False)
    for k in range(3):
        out = (w * x).sum() ** 2
        out.backward()
        with torch.no_grad():
            x -= 0.1 * x.grad
        x.grad = None
    w.requires_grad_(True)
    loss = (w * x.detach()).sum() ** 2 + (w * w).sum()
    losses.append(loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


ATTACK = """\
import engine as torch
w = torch.tensor([1., 2.], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
losses = []
for i in range(40):
    x = torch.ones(2, requires_grad=True)
    for k in range(3):
        loss = (w * x).sum() ** 2
        loss.backward()
        with torch.no_grad():
            x += 0.1 * x.grad.sign()
        x.grad = None
    loss = (w * x.detach()).sum() ** 2
    losses.append(loss.item())
    optimizer.zero_grad({clear})
    loss.backward()
    optimizer.step()
"""


CLEARED = ATTACK.format(clear="")
ZEROED = ATTACK.format(clear="set_to_none=False")


@pytest.mark.parametrize("source", [SAMPLER, CLEARED, ZEROED], ids=["a sampler", "an attack", "an attack, zeroed"])
def test_inner_loop_without_a_step_is_a_part_of_an_iteration_and_its_root_is_no_loss(
    source: str, tmp_path: Path
) -> None:
    """The attack leaves gradients in the model, which are cleared before the step."""
    seen: dict[str, object] = {}
    exec(source, seen)
    found = of(recorded(source, tmp_path))
    assert found.labels[:2] == ("i = 0", "i = 1") and len(found.labels) == 40
    assert not found.others and found.loss.tolist() == seen["losses"]


GRADIENTS = """\
import engine as torch
w = torch.tensor([1., 2.], requires_grad=True)
for i in range(90):
    x = torch.tensor([1., i]{asks})
    w.grad = None
    (w * x).sum().backward()
    {then}
"""


@pytest.mark.parametrize(
    ("asks", "then", "about"),
    [
        ("", "pass", False),
        ("", "w.grad.zero_()", False),
        ("", "w.grad.sum", False),
        ("", "squares = w.grad ** 2", True),
        (", requires_grad=True", "x.grad", True),
    ],
)
def test_a_program_is_about_gradients_if_it_computes_with_them(
    asks: str, then: str, about: bool, tmp_path: Path
) -> None:
    found = of(recorded(GRADIENTS.format(asks=asks, then=then), tmp_path))
    assert len(found.labels) == 90 and found.about_gradients is about


def test_a_program_without_a_loop_has_one_column(tmp_path: Path) -> None:
    found = of(
        recorded("import engine as torch\nw = torch.ones(2, requires_grad=True)\n(w * 3).sum().backward()\n", tmp_path)
    )
    assert found.labels == ("the program",) and found.loss.tolist() == [6.0]
    assert found.rows["norm"].ravel() == pytest.approx([18**0.5]) and found.rows["largest"].tolist() == [[3.0]]


def test_a_program_without_a_backward_call_has_none(tmp_path: Path) -> None:
    found = of(recorded("import engine as torch\ntorch.ones(2) * 3\n", tmp_path))
    assert found.labels == () and found.parameters == () and found.total.tolist() == []


def test_what_is_not_finite_is_counted_and_the_loss_is_told(tmp_path: Path) -> None:
    text = "import engine as torch\nw = torch.tensor([1., 0.], requires_grad=True)\n(1 / w).sum().backward()\n"
    found = of(recorded(text, tmp_path))
    assert found.loss.tolist() == [np.inf] and found.rooted == (True,)
    assert found.rows["nonfinite"].tolist() == [[1]] and found.rows["norm"].tolist() == [[1.0]]


def test_leaves_made_anew_share_a_row_and_leaves_of_one_section_do_not(tmp_path: Path) -> None:
    text = """\
import engine as torch
for step in range(3):
    pair = [torch.ones(2, requires_grad=True) for _ in range(200)]
    x = torch.ones(3, requires_grad=True)
    (x.sum() + pair[0].sum() + pair[1].sum()).backward()
"""
    found = of(recorded(text, tmp_path))
    assert [one.shape for one in found.parameters] == [(3,), (2,), (2,)]
    assert len({one.name for one in found.parameters}) == 3 and np.isfinite(found.rows["norm"]).all()


def test_of_a_value_that_is_too_large_the_ratio_is_estimated_from_its_sample() -> None:
    w = engine.ones(300, requires_grad=True)
    with engine.record(limit=100) as trace:
        for _ in range(2):
            (w * w).sum().backward()
            with engine.no_grad():
                w -= 0.01
    found = of(trace)
    assert found.rows["ratio"][0, -1] == pytest.approx(0.01 / 0.99, rel=1e-3) and found.parameters[0].is_sampled


def test_many_columns_become_few_with_the_largest_norms_and_the_last_loss(trained: Overview) -> None:
    found = joined(trained, most=5)
    assert found.labels[0] == "step = 0 to 2" and len(found.labels) == 4
    assert found.loss.tolist() == trained.loss[[2, 5, 8, 11]].tolist()
    assert found.rows["norm"][0].tolist() == trained.rows["norm"][0].reshape(4, 3).max(axis=1).tolist()
    assert (found.first, found.last) == ((0, 3, 6, 9), (2, 5, 8, 11))
    assert joined(trained) is trained and (trained.joined, found.joined) == (1, 3)


def test_what_is_sent_of_a_long_run_has_less_than_500_kb(trained: Overview) -> None:
    count, columns = 76, 3000
    numbers = np.random.default_rng(0).standard_normal((len(trained.rows), count, columns))
    rows = dict(zip(trained.rows, np.exp(3 * numbers), strict=True))
    names, events = tuple(f"step = {k}" for k in range(columns)), tuple(range(columns))
    parameters = tuple(replace(trained.parameters[0], name=f"model.{k}.weight") for k in range(count))
    long = Overview(
        names,
        events,
        events,
        rows["norm"][0],
        (True,) * columns,
        parameters,
        rows,
        columns,
        np.zeros(columns + 1, np.int64),
        {},
        10**6,
        np.full(columns, 0.1),
    )
    found = document(long, "program", 1, None)
    assert len(found["labels"]) == 500 and found["joined"] == 6
    assert len(pack_json(found).blocks) < 500_000


LATE = """\
import engine as torch
from engine import nn

memory, model = [], nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(60):
    memory.append((model(torch.randn(8, 3)).detach(), torch.randn(8)))
    if len(memory) > 20:
        loss = (model(torch.randn(8, 3)) - memory[-1][1]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_graphs_are_searched_from_the_first_backward_call_on(tmp_path: Path) -> None:
    (finding,) = in_iterations(Run(recorded(LATE, tmp_path)))
    assert finding["shows"] == ["shape"] and finding["label"].endswith("in step = 20")


def test_what_only_graphs_show_is_found_in_the_first_iteration_that_shows_it() -> None:
    w = engine.tensor([1.0, 2.0], requires_grad=True)
    optimizer = engine.optim.SGD([w], lr=0.1)
    with engine.record() as trace:
        for _ in range(100):
            (w * w).sum().backward()
            optimizer.step()
    (finding,) = in_iterations(Run(trace))
    assert (finding["kind"], finding["section"]) == ("mistake", 1)
    assert "w.grad not zeroed, in round 2" in finding["label"] and "from an earlier call" in finding["why"]


def test_the_op_that_gives_the_first_nan_is_found_where_it_does() -> None:
    w = engine.tensor([1.0, 2.0], requires_grad=True)
    with engine.record() as trace:
        for step in range(60):
            w.grad = None
            (w * engine.log(engine.tensor(2.0 - step / 20))).sum().backward()
    (finding,) = in_iterations(Run(trace))
    assert (finding["section"], finding["label"], finding["shows"]) == (40, "first inf: log, in step = 40", ["inf"])


EMPTY_ROW = """\
import engine as torch
from engine import nn

torch.manual_seed(0)
used, unused = nn.Linear(3, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*used.parameters(), *unused.parameters()], lr=0.05)
for step in range(12):
    keep = torch.arange(3) < (0 if step == 5 else 2)
    opt.zero_grad()
    scores = used(torch.randn(4, 3))
    unused(scores)
    scores.masked_fill(~keep, float("-inf")).softmax(-1).square().sum().backward()
    opt.step()
"""


def test_the_source_of_a_nan_comes_before_milder_mistakes(tmp_path: Path) -> None:
    source, unreached = in_iterations(Run(recorded(EMPTY_ROW, tmp_path)))
    assert (source["kind"], source["label"]) == ("source", "first nan: softmax, in step = 5")
    assert (unreached["kind"], unreached["shows"]) == ("mistake", ["unreached"])


OVERFLOWING = """\
import engine as torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=100.0)
for step in range(60):
    loss = w.square().sum()
    loss.backward()
    opt.step()
"""


def test_a_mistake_that_lets_numbers_grow_comes_before_the_inf_that_they_become(tmp_path: Path) -> None:
    first, source, *_ = in_iterations(Run(recorded(OVERFLOWING, tmp_path)))
    assert (first["shows"], first["section"]) == (["not-zeroed"], 1)
    assert source["kind"] == "source" and source["section"] > 1 and "first inf" in source["label"]


LATE_ROW = """\
import engine as torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
opt = torch.optim.Adam([w], eps=0.0)
for step in range(30):
    loss = w[1 if step >= 7 else 0].square()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("at_end", [False, True])
def test_a_nan_in_a_parameter_leads_to_the_update_that_wrote_it(at_end: bool, tmp_path: Path) -> None:
    text = LATE_ROW
    if at_end:
        text = text.replace("    opt.zero_grad()\n", "") + "    opt.zero_grad()\n"
    run = Run(recorded(text, tmp_path))
    source = in_iterations(run)[0]
    assert (source["kind"], source["label"], source["section"]) == ("source", "first nan: addcdiv_, in step = 0", 0)
    assert "This op of Adam.step() produced it" in source["why"]
    assert source["why"].endswith("step = 7 uses w, which holds nan since then.")
    assert source["fix"] == "The update divides by 0: pass a larger eps to Adam."
    use = next(one for one in reading_of(run.trace(7)).findings if one.kind == "nan")
    assert use.why.startswith("w, which Adam updates, already holds nan when this iteration begins: step = 6 wrote it.")
    assert use.fix == "Go to step = 6 and look for the op that produced the nan."


def test_a_nan_that_a_parameter_has_from_the_start_is_not_of_an_update(tmp_path: Path) -> None:
    text = LATE_ROW.replace("w = torch.randn(3, requires_grad=True)", "w = torch.tensor([1., float('nan'), 1.])\n"
                            "w.requires_grad_()").replace("Adam([w], eps=0.0)", "SGD([w])")  # fmt: skip
    source = in_iterations(Run(recorded(text, tmp_path)))[0]
    assert (source["kind"], source["section"]) == ("source", 7) and "holds nan" in source["why"]


def test_learning_rate_is_that_of_each_step_also_from_a_file(tmp_path: Path) -> None:
    schedule = "    schedule.step()\n"
    text = NET.format(steps=10).replace("x, y =", "schedule = torch.optim.lr_scheduler.StepLR(opt, 4, 0.5)\nx, y =")
    trace = recorded(text + schedule, tmp_path)
    rates = [0.1] * 4 + [0.05] * 4 + [0.025] * 2
    assert of(trace).rate.tolist() == rates
    trace.save(str(tmp_path / "run.backstep"))
    assert of(Trace.open(str(tmp_path / "run.backstep"))).rate.tolist() == rates


ASSIGNED = """\
import engine as torch
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(40):
    w.grad = torch.zeros(3)
    (g,) = torch.autograd.grad((w * w).sum(), [w])
    w.grad = g
    opt.step()
"""


def test_gradients_that_the_program_assigns_are_those_of_leaves_that_no_backward_call_reaches(tmp_path: Path) -> None:
    run = Run(recorded(ASSIGNED, tmp_path)).overview
    assert [one.name for one in run.parameters] == ["w"] and run.updates == 40
    assert run.rows["norm"][0, :2].tolist() == pytest.approx([2 * 3**0.5, 1.6 * 3**0.5])
    arrived = ASSIGNED.replace("(g,) = torch.autograd.grad((w * w).sum(), [w])", "(w * w).sum().backward()")
    halved = Run(recorded(arrived.replace("w.grad = g", "w.grad = w.grad * 0.5"), tmp_path)).overview
    assert halved.rows["norm"][0, 0] == pytest.approx(2 * 3**0.5), "what arrived, and not what was made of it"
