"""What is drawn: who gets a card, a stub or a bare edge, with ids that stay."""

from __future__ import annotations

import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

import engine as torch
from engine.trace.events import Frame, Trace
from viz.graph.groups import groups
from viz.reading import labels
from viz.reading.facts import collect
from viz.scene.reading import Reading, reading_of

from ..helpers.traces import CASE_1, CASE_3, LOOP, recorded


def read(source: str, folder: Path) -> Reading:
    return reading_of(recorded("import engine as torch\n" + source, folder))


def labels_of(found: Reading) -> dict[str, str | None]:
    items = found.drawing.items.values()
    return {i.id: found.facts.names.get(i.tensor) for i in items if i.tensor is not None}


def test_leaves_roots_and_named_results_have_cards_and_unnamed_ones_have_none(tmp_path: Path) -> None:
    found = read(CASE_3, tmp_path)
    assert sorted(filter(None, labels_of(found).values())) == ["a", "b", "c", "y"]
    graph = found.drawing.graph
    ops = [n for n in graph if n.startswith("n")]
    assert len(ops) == 6 and len(graph) == 10
    assert any(u.startswith("n") and v.startswith("n") for u, v in graph.edges())
    assert nx.is_directed_acyclic_graph(graph)


def test_ids_follow_tensors_versions_and_ops(tmp_path: Path) -> None:
    found = read("x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.add_(1)\nz = y.sum()\n", tmp_path)
    assert set(found.drawing.items) == {"t0", "n0", "t1", "n1", "t1.1", "n2", "t2"}
    assert set(found.drawing.links) >= {"et0>n0:0", "en0>t1:0", "et1>n1:0", "en1>t1.1:0", "et1.1>n2:0"}


def test_what_a_write_without_history_made_hangs_on_it_and_no_gradient_comes_that_way(tmp_path: Path) -> None:
    source = "x = torch.ones(3, requires_grad=True)\ny = 2 * x\n"
    source += "with torch.no_grad():\n    y[:2].mul_(10)\ny.sum().backward()\n"
    found = read(source, tmp_path)
    links = {link.id: link for link in found.drawing.links.values()}
    assert links["en2>t1.1:0"].grad is False
    assert links["et1.1>n3:0"].grad is True


def test_two_uses_by_one_op_are_two_edges(tmp_path: Path) -> None:
    found = read("x = torch.ones(2, requires_grad=True)\ny = x * x\n", tmp_path)
    assert [link.id for link in found.drawing.into[0]] == ["et0>n0:0", "et0>n0:1"]
    assert [link.slot for link in found.drawing.into[0]] == [0, 1]


def test_a_leaf_used_far_apart_has_stubs_and_near_by_none(tmp_path: Path) -> None:
    near = read(CASE_3, tmp_path)
    assert not any(i.kind == "stub" for i in near.drawing.items.values())
    far = read(LOOP, tmp_path)
    stubs = [i for i in far.drawing.items.values() if i.kind == "stub"]
    assert len(stubs) == 5
    assert all(i.twin == "t0" and i.id.startswith("t0@n") for i in stubs)
    assert {i.group for i in stubs} == set(list(far.drawing.grouping.labels)[1:])


def test_zeroing_a_gradient_is_no_node(tmp_path: Path) -> None:
    found = read(CASE_1, tmp_path)
    assert [i.id for i in found.drawing.items.values() if i.op is not None] == ["n0", "n1"]


def test_an_update_reads_the_gradient_from_its_leaf(tmp_path: Path) -> None:
    source = (
        "w = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()\n"
        "with torch.no_grad():\n    w -= 0.1 * w.grad\n"
    )
    found = read(source, tmp_path)
    update = found.facts.ops[2]
    assert [link.source for link in found.drawing.into[update.index]] == ["t0"]
    assert "t0.1" in found.drawing.items and found.drawing.items["t0.1"].role == "leaf"
    assert nx.is_directed_acyclic_graph(found.drawing.graph)


def test_ops_of_a_backward_with_create_graph_are_a_group_of_order_one(tmp_path: Path) -> None:
    source = (
        "x = torch.tensor([2.0], requires_grad=True)\ny = x ** 3\n"
        "g, = torch.autograd.grad(y, x, torch.ones(1), create_graph=True)\ng.backward(torch.ones(1))\n"
    )
    found = read(source, tmp_path)
    second = [op for op in found.facts.ops if op.order == 1]
    assert second
    grouping = found.drawing.grouping
    group = grouping.of[second[0].index]
    assert group is None or grouping.labels[group].startswith("recorded by torch.autograd.grad(y, x")
    orders = [s.order for s in found.line.steps if s.kind == "vjp"]
    assert orders[0] == 1 and max(orders) == 2


def test_rounds_of_a_loop_and_calls_of_a_function_are_groups(tmp_path: Path) -> None:
    source = (
        "import engine as torch\n"
        "def cell(h):\n    h = h * 2\n    return h.exp()\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "a = cell(cell(x))\nb = [cell(a) for _ in range(2)]\n"
        "for i in range(3):\n    a = a + i\n    for j in range(2):\n        c = a * j\n        c = c + a\n"
    )
    found = groups(collect(recorded(source, tmp_path)))
    named = list(found.labels.values())
    told = ["cell", "cell", "cell · 1", "cell · 2"]  # those of the comprehension are counted, as the rounds of a loop
    assert [n for n in named if n.startswith("cell")] == told
    assert [n for n in named if n.startswith("i = ")] == ["i = 0", "i = 1", "i = 2"]
    assert sum(n.startswith("j = ") for n in named) == 6
    outer = {found.labels[found.within[g] or ""] for g, n in found.labels.items() if n.startswith("j = ")}
    assert outer == {"i = 0", "i = 1", "i = 2"}


def as_inlined(trace: Trace) -> Trace:
    """The trace as Python 3.12 and later record it: a comprehension has no frame of its own."""
    stacks = []
    for frames in trace.stacks:
        inlined: list[Frame] = []
        for frame in frames:
            if frame.function.endswith("<listcomp>"):
                frame = replace(frame, function=inlined.pop().function)
            inlined.append(frame)
        stacks.append(tuple(inlined))
    return replace(trace, stacks=tuple(stacks))


def test_calls_of_a_comprehension_are_parts_of_one_call_in_every_version_of_python(tmp_path: Path) -> None:
    source = (
        "import engine as torch\n"
        "def cell(h):\n    return torch.tanh(h * 2)\n"
        "def both(h):\n    parts = [cell(h) for _ in range(2) if cell(h).sum() < 9]\n    return sum(parts)\n"
        "x = torch.ones(2, requires_grad=True)\ny = both(both(x))\n"
    )
    trace = recorded(source, tmp_path)
    for one in (trace, as_inlined(trace)):
        found = groups(collect(one))
        outer = [group for group, label in found.labels.items() if label == "both"]
        inside = [[found.labels[g] for g, around in found.within.items() if around == group] for group in outer]
        assert inside == [["cell · 1", "cell · 1", "cell · 2", "cell · 2"]] * 2


def test_an_expression_of_two_ops_at_one_place_is_one_round(tmp_path: Path) -> None:
    source = (
        "import engine as torch\na = torch.ones(2, 3, requires_grad=True)\n"
        "for j in range(3):\n    out = a[1, j] * a[0, j]\n"
    )
    trace = recorded(source, tmp_path)
    found = groups(collect(trace))
    assert list(found.labels.values()) == ["j = 0", "j = 1", "j = 2"]
    assert [labels.label(op.event) for op in reading_of(trace).facts.ops[:4]] == ["[1]", "[0]", "[0]", "[0]"]


def test_labels_are_what_a_person_writes(tmp_path: Path) -> None:
    source = (
        "x = torch.ones(2, 3, requires_grad=True)\nx * 2\nx / 2\nx ** 3\nx - 1\nx.sum(dim=1)\nx @ x.t()\n"
        "x[:, 1]\nx.reshape(3, 2)\n-x\ntorch.log(x)\n"
    )
    written = [labels.label(op.event) for op in read(source, tmp_path).facts.ops]
    assert written == [
        "× 2", "÷ 2", "** 3", "− 1", "sum dim=1", "t", "@", "[:, 1]", "view 3×2", "−", "log",
    ]  # fmt: skip


def test_labels_have_the_user_s_names_and_leave_out_what_nobody_wrote(tmp_path: Path) -> None:
    source = (
        "F = torch.nn.functional\nx = torch.ones(1, 1, 4, 4, requires_grad=True)\nw = torch.ones(1, 1, 3, 3)\n"
        "F.conv2d(x, w)\nF.conv2d(x, w, padding=1, stride=2)\nF.max_pool2d(x, 2)\nF.max_pool2d(x, 3, 1)\n"
        "F.layer_norm(x, (4,))\nF.mse_loss(x, x)\nF.mse_loss(x, x, reduction='sum')\n"
        "F.nll_loss(x[0, 0], torch.tensor([0, 1, 2, 3]))\ntorch.add(w, w, alpha=-0.1)\nw.sub_(w, alpha=2)\n"
    )
    written = [labels.label(op.event) for op in read(source, tmp_path).facts.ops]
    assert [text for text in written if text not in ("[0]", "expand 1×1×4×4")] == [
        "conv2d", "conv2d stride=2 padding=1", "max_pool2d kernel_size=2", "max_pool2d kernel_size=3 st…",
        "layer_norm", "mse_loss", "mse_loss reduction=sum", "nll_loss", "− 0.1 ×", "−= 2 ×",
    ]  # fmt: skip


def test_a_loop_whose_round_is_one_call_is_told_apart(tmp_path: Path) -> None:
    source = (
        "import engine as torch\ndef cell(h):\n    h = h * 2\n    return h.exp()\n"
        "h = torch.zeros(2, requires_grad=True)\nfor _ in range(3):\n    h = cell(h)\n"
    )
    found = groups(collect(recorded(source, tmp_path)))
    assert list(found.labels.values()) == ["cell · round 1", "cell · round 2", "cell · round 3"]


HEAD = "import engine as torch\nx = torch.ones(2, requires_grad=True)\ny = x\n"


def without_values(trace: Trace) -> Trace:
    """A trace as it was before it had what the variables of loops hold."""
    return replace(trace, events=[replace(event, loops=()) for event in trace.events])


def nest(text: str, tmp_path: Path) -> list[tuple[str, int]]:
    """The groups on top of a trace from before the values of loops were in it, each with the number of groups in it."""
    found = groups(collect(without_values(recorded(f"{HEAD}{text}", tmp_path))))
    inside = Counter(found.within.values())
    return [(found.labels[g], inside[g]) for g, around in found.within.items() if around is None]


BODY = "        y = y * x\n        y = y + 1\n"


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("for i in range(3):\n    for j in range(4):\n", 4),
        ("n = 2\nfor i in range(3):\n    for j in range(0, 2 * 2, n):\n", None),
        ("n = 2\nfor i in range(3):\n    for j in range(n):\n", 2),
        ("rows = [1, 2, 5, 3]\nfor i in range(3):\n    for k, row in enumerate(rows):\n", 4),
        ("for i in range(3):\n    for a, b in zip(range(9), (1, 2)):\n", 2),
        ("rows = [1, 2, 5, 3]\nrows.append(2)\nfor i in range(3):\n    for row in rows:\n", None),
    ],
)
def test_nested_loops_with_nothing_between_are_rounds_of_both(text: str, inner: int | None, tmp_path: Path) -> None:
    found = nest(text + BODY, tmp_path)
    if inner is None:  # the program does not say how often it runs
        assert [count for _, count in found] != [] and found[0][0] in ("for i", "round 1")
    else:
        assert found == [("round 1", inner), ("round 2", inner), ("round 3", inner)]


@pytest.mark.parametrize("order", ["batches", "reversed(batches)", "batches[k:] + batches[:k]"])
def test_data_that_come_again_begin_the_next_epoch(order: str, tmp_path: Path) -> None:
    text = (
        "batches = list(torch.arange(6.0).view(3, 2).unbind())\nfor k in range(4):\n"
        f"    for row in {order}:\n        y = y * x\n        y = y + row\n"
    )
    assert nest(text, tmp_path) == [(f"round {n}", 3) for n in (1, 2, 3, 4)]


LOADER = """data = torch.utils.data.TensorDataset(torch.arange(6.0).view(6, 1))
loader = torch.utils.data.DataLoader(data, 2{})
for epoch in range(3):
    total = 0.0
    for (row,) in loader:
        y = y * x
        y = y + row.sum()
        total += y.sum().item()
    print(total)
"""


@pytest.mark.parametrize("how", ["", ", shuffle=True"])
def test_a_loader_that_begins_anew_begins_the_next_epoch(how: str, tmp_path: Path) -> None:
    assert nest(LOADER.format(how), tmp_path) == [(f"round {n}", 3) for n in (1, 2, 3)]


def test_parts_of_the_data_that_come_again_begin_the_next_epoch(tmp_path: Path) -> None:
    text = (
        "X = torch.arange(6.0)\nfor epoch in range(3):\n    total = 0.0\n    for i in range(0, len(X), 2):\n"
        "        y = y * x\n        y = y + X[i : i + 2]\n        total += y.sum().item()\n    print(total)\n"
    )
    assert nest(text, tmp_path) == [(f"round {n}", 3) for n in (1, 2, 3)]


def test_an_epoch_that_is_cut_short_by_an_error_has_fewer_rounds(tmp_path: Path) -> None:
    text = "rows = torch.arange(6.0).view(3, 2).unbind()\nleft = [1] * 7\nfor k in range(4):\n    for row in rows:\n"
    body = "        y = y * x\n        y = y + row\n        left.pop()\n"
    assert nest(text + body, tmp_path) == [("round 1", 3), ("round 2", 3), ("round 3", 2)]


def test_state_that_every_round_after_the_first_reads_is_no_sign_of_an_epoch(tmp_path: Path) -> None:
    text = (
        "rows = torch.arange(6.0).view(3, 2).unbind()\nstate = []\nfor k in range(2):\n    for row in rows:\n"
        "        y = y * x\n        y = y + row\n        state = state or [torch.zeros(2)]\n        state[0].add_(1)\n"
    )
    assert nest(text, tmp_path) == [("round 1", 3), ("round 2", 3)]


def test_what_stands_after_the_inner_loop_is_the_last_rounds(tmp_path: Path) -> None:
    text = (
        "for i in range(2):\n    for j in range(3):\n        y = y * x\n        y = y + 1\n"
        "    if i:\n        y = y - 1\n        y = y / 2\n        y = y * 3\n"
    )
    found = groups(collect(without_values(recorded(f"{HEAD}{text}", tmp_path))))
    members = Counter(found.of.values())
    assert [members[g] for g, around in found.within.items() if around is None] == [0, 3]


def test_rounds_that_may_be_left_out_are_not_counted(tmp_path: Path) -> None:
    text = "for i in range(3):\n    for j in range(4):\n        if j:\n            y = y * x\n            y = y + 1\n"
    assert nest(text, tmp_path) == [(f"round {n}", 0) for n in range(1, 10)]  # a box around all would tell nothing


def test_three_loops_without_anything_between(tmp_path: Path) -> None:
    head = "for i in range(2):\n    for j in range(3):\n        for k in range(2):\n"
    found = nest(head + "            y = y * x\n            y = y + 1\n", tmp_path)
    assert found == [("round 1", 3), ("round 2", 3)]


TWO = "y = y * x; y = y + 1"
CALLED = f"""
def f(y):
    for t in (3, 4):
        {TWO}
    return y
for k in range(2):
    y = f(y)
    y = f(y)
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"for step in range(5, 50, 15):\n    {TWO}\n", ["step = 5", "step = 20", "step = 35"]),
        (f"for i, (a, b) in enumerate([(1, 2), (3, 4)]):\n    {TWO}\n", ["i = 0", "i = 1"]),
        (f"for name in ('in', 'out'):\n    {TWO}\n", ["name = 'in'", "name = 'out'"]),
        (f"for rate in (0.1, 1e-4, 1e-4):\n    {TWO}\n", ["rate = 0.1", "rate = 0.0001", "rate = 0.0001"]),
        (f"for reward in (1.0, 1.0):\n    {TWO}\n", ["round 1", "round 2"]),
        (f"for s in range(5):\n    if s % 2: continue\n    {TWO}\n", ["s = 0", "s = 2", "s = 4"]),
        (f"for s in range(5):\n    if s == 2: break\n    {TWO}\n", ["s = 0", "s = 1"]),
        (
            f"for s in range(4):\n    if s % 2:\n        {TWO}\n    else:\n        {TWO}\n",
            [f"s = {n}" for n in range(4)],
        ),
        (f"k = 0\nwhile k < 2:\n    k += 1\n    {TWO}\n", ["round 1", "round 2"]),
        (f"for a in torch.eye(2):\n    {TWO}\n", ["round 1", "round 2"]),
        (f"for _ in range(2):\n    {TWO}\n", ["round 1", "round 2"]),
        (f"for a in (1.0, 2.0):\n    for k in range(1): a = a * x\n    {TWO}\n", ["round 1", "round 2"]),
        (CALLED, [*(["k = 0"] + ["f", "t = 3", "t = 4"] * 2), *(["k = 1"] + ["f", "t = 3", "t = 4"] * 2)]),
        (
            f"for i in range(2):\n    for j in range(i + 1):\n        {TWO}\n",
            ["i = 0, j = 0", "i = 1", "j = 0", "j = 1"],
        ),
        (
            "f = torch.nn.Linear(2, 2)\nfor t in range(2): y = f(y).exp().log()\n",
            ["t = 0", "f: Linear", "t = 1", "f: Linear"],
        ),
    ],
)
def test_a_round_is_named_by_what_its_variable_holds(text: str, told: list[str], tmp_path: Path) -> None:
    found = groups(collect(recorded(HEAD + text, tmp_path)))
    first = {group: op for op in sorted(found.of, reverse=True) for group in found.paths[found.of[op]]}
    assert [found.labels[group] for group in sorted(found.labels, key=lambda group: first[group])] == told


def test_a_stack_of_many_rounds_says_which(tmp_path: Path) -> None:
    text = f"for t in range(5, 55):\n    {TWO}\nk = 0\nwhile k < 50:\n    k += 1\n    {TWO}\n"
    found = groups(collect(recorded(HEAD + text, tmp_path)))
    assert [found.labels[group] for group in found.labels if group in found.stacks] == ["t = 5–54", "rounds 1–50"]
    few = groups(
        collect(recorded(HEAD + text.replace("range(5, 55)", "range(5)").replace("k < 50", "k < 9"), tmp_path))
    )
    assert not few.stacks, "what is short is seen as a whole"


def test_a_stack_that_is_too_long_for_its_strip_is_one_of_stacks(tmp_path: Path) -> None:
    found = groups(collect(recorded(HEAD + f"for t in range(400):\n    {TWO}\n", tmp_path)))
    outer = next(iter(found.stacks - found.within.keys() | {g for g in found.stacks if found.within[g] is None}))
    inner = [group for group in found.labels if found.within[group] == outer]
    assert found.labels[outer] == "t = 0–399" and len(inner) == 20 and set(inner) <= found.stacks
    assert [found.labels[group] for group in (inner[0], inner[-1])] == ["t = 0–19", "t = 380–399"]
    assert all(sum(around == group for around in found.within.values()) == 20 for group in inner)


def test_rounds_that_do_something_else_are_not_in_the_stack_of_the_others(tmp_path: Path) -> None:
    text = f"for t in range(90):\n    {TWO}\n    if t == 30:\n        y = y * 2\n"
    found = groups(collect(recorded(HEAD + text, tmp_path)))
    assert [found.labels[group] for group in found.labels if found.within[group] is None] == [
        "t = 0–29", "t = 30", "t = 31–89",
    ]  # fmt: skip


def test_what_a_function_s_variables_hold_is_not_kept_alive_by_the_look_at_its_loops() -> None:
    def train() -> list[bool]:
        gone = []
        for k in range(3):
            y = torch.ones(2, requires_grad=True) * k
            died = weakref.ref(y)
            y = y + 1
            gone.append(died() is None)
        return gone

    with torch.record() as trace:
        assert train() == [True, True, True]
    assert [one.text for event in trace.events for one in event.loops] == ["0", "1", "2"]


def test_only_the_version_that_backward_starts_from_is_a_root(tmp_path: Path) -> None:
    found = read("w = torch.tensor(2., requires_grad=True)\nt = w * 1\nt += w * 3\nt.backward()\n", tmp_path)
    roles = {(found.facts.names.get(i.tensor), i.version): i.role for i in found.drawing.items.values() if i.tensor}
    assert (roles["t", 0], roles["t", 1]) == ("inner", "root")


@pytest.mark.filterwarnings("ignore:Using backward")
def test_what_a_later_call_adds_to_a_gradient_has_no_card_of_its_own(tmp_path: Path) -> None:
    found = read(
        "x = torch.tensor(2., requires_grad=True)\ny = x * x * x\ny.backward(create_graph=True)\nx.grad.backward()\n",
        tmp_path,
    )
    names = [found.facts.names.get(i.tensor) for i in found.drawing.items.values() if i.role == "root" and i.tensor]
    assert sorted(filter(None, names)) == ["x.grad", "y"]


def test_what_a_library_call_makes_on_its_way_has_not_the_name_of_its_result(tmp_path: Path) -> None:
    found = read(
        "a = torch.tensor([1., 2.], requires_grad=True)\n\n\ndef square(t):\n    return t * t\n\n\n"
        "j = torch.autograd.functional.jacobian(square, a)\n",
        tmp_path,
    )
    assert [name for name in labels_of(found).values() if name == "j"] == ["j"]


def test_an_assignment_to_grad_is_quoted_whole(tmp_path: Path) -> None:
    found = read("x = torch.tensor(2., requires_grad=True)\n(x * x).backward()\nx.grad = None  # gone\n", tmp_path)
    event = found.facts.trace.events[found.line.steps[-1].event]
    frame = found.facts.frames.get(event.stack)
    assert frame is not None and (frame.line, frame.col, frame.end_col) == (4, 0, len("x.grad = None"))


def test_a_write_through_data_stands_on_the_card_that_is_shown(tmp_path: Path) -> None:
    found = read(
        "y = torch.tensor([1., 1], requires_grad=True)\nz = (y * y).sum()\ny.data.mul_(10)\nz.backward()\n", tmp_path
    )
    card = next(ident for ident, name in labels_of(found).items() if name == "y")
    held = found.line.at(card, "row:value", len(found.line.steps))
    assert found.facts.trace.value(held).sample.tolist() == [10.0, 10.0]


def test_what_grad_was_asked_for_waits_no_longer(tmp_path: Path) -> None:
    found = read("x = torch.tensor(2., requires_grad=True)\ng = torch.autograd.grad(x * x, x)\n", tmp_path)
    card = next(i.id for i in found.drawing.items.values() if i.role == "leaf")
    assert found.line.at(card, "state", len(found.line.steps)) == "done"


@pytest.mark.parametrize(("line", "name"), [("w.data = w.data - 0.1 * w.grad", "data = …"), ("w.data -= 0.1", "sub_")])
def test_what_is_assigned_to_data_comes_from_what_computed_it(line: str, name: str, tmp_path: Path) -> None:
    found = read(
        "w = torch.tensor([1., 2.], requires_grad=True)\n(w * 3).sum().backward()\n"
        f"{line}\nw.grad = None\n(w * 3).sum().backward()\n", tmp_path
    )  # fmt: skip
    card = next(ident for ident, item in found.drawing.items.items() if item.role == "leaf" and item.version)
    (link,) = (link for link in found.drawing.links.values() if link.target == card)
    op = found.drawing.items[link.source].op
    assert op is not None and found.facts.ops[op].event.name == "sub" and not link.grad
    results = [i for i in found.drawing.items.values() if i.kind == "tensor" and i.role == "constant" and i.version]
    assert not results, "its numbers stand on the next card of w alone"
    step = next(step for step in found.line.steps if link.id in [flow.link.id for flow in step.flows])
    assert step.name == name and step.at == (card if "=" in name else link.source)


LAYERS = """nn = torch.nn
net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Tanh(), nn.Linear(2, 1, bias=False))
net[0].weight = nn.Parameter(torch.ones(2, 2))
net[2].weight = nn.Parameter(torch.ones(1, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range({rounds}):
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("rounds", "homes"), [(1, {"0: Linear", "2: Linear"}), (2, {None})])
def test_weights_lie_in_their_layer_also_where_an_optimiser_writes_to_them(
    rounds: int, homes: set[str | None], tmp_path: Path
) -> None:
    """Those of several rounds lie in no layer of one of them."""
    found = read(LAYERS.format(rounds=rounds), tmp_path)
    used = [i for i in found.drawing.items.values() if i.role == "leaf" and i.kind == "tensor" and i.version == 0]
    leaves = [i for i in used if (found.facts.names.get(i.tensor or 0) or "").endswith("weight")]
    grouping = found.drawing.grouping
    labels = {None if i.group is None else grouping.labels[i.group] for i in leaves}
    assert len(leaves) == 2
    assert labels == homes if rounds == 1 else not labels & {"0: Linear", "2: Linear"}


@pytest.mark.parametrize(
    ("head", "rounds"),
    [("for it in range(2):", ["it = 0", "it = 1"]), ("n = 0\nwhile (n := n + 1) < 3:", ["round 1", "round 2"])],
)
def test_call_of_the_library_that_runs_many_ops_begins_no_round(head: str, rounds: list[str], tmp_path: Path) -> None:
    text = (
        "m = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(4)))\n"
        f"{head}\n"
        "    m.zero_grad()\n"
        "    loss = (m(torch.ones(1, 2)) ** 2).sum()\n"
        "    loss.backward()\n"
        "    torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)\n"
    )
    found = groups(collect(recorded("import engine as torch\n" + text, tmp_path)))
    assert [found.labels[one] for one, around in found.within.items() if around is None] == rounds


def test_a_round_may_begin_where_another_began_that_had_a_first_time_before_it(tmp_path: Path) -> None:
    text = "x = torch.ones(2)\ny = None\nn = 0\nwhile (n := n + 1) < 4:\n"
    text += "    if y is None:\n        y = x * 2\n    y = y.sin()\n    y = y.cos()\n"
    found = groups(collect(recorded("import engine as torch\n" + text, tmp_path)))
    assert list(found.labels.values()) == ["round 1", "round 2", "round 3"]


CLOSURE = """
w = torch.ones(2, requires_grad=True)
def closure():
    opt.zero_grad()
    loss = ((w * 3 - 1) ** 2).sum()
    loss.backward()
    return loss
"""
OWN_OPTIMISER = """
class Own(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure):
        with torch.enable_grad():
            closure()
        for p in self.param_groups[0]["params"]:
            self.move(p)
    def move(self, p):
        p.sub_(p.grad * 0.1)
        p.mul_(0.99)
"""


def test_loss_that_an_optimiser_asks_for_again_is_not_part_of_its_update(tmp_path: Path) -> None:
    found = read(CLOSURE + "opt = torch.optim.LBFGS([w], max_iter=3)\nopt.step(closure)\n", tmp_path)
    labels = found.drawing.grouping.labels
    assert sorted(labels.values()) == ["LBFGS.step", "closure · 1", "closure · 2", "closure · 3"]
    phases = [phase.label for phase in found.line.phases if phase.label != "opt.zero_grad()"]
    assert phases == ["forward", "loss.backward()", "opt.step(closure)"] * 3


def test_functions_that_the_step_of_an_own_optimiser_calls_are_part_of_its_update(tmp_path: Path) -> None:
    found = read(OWN_OPTIMISER + CLOSURE + "opt = Own([w], {})\nopt.step(closure)\nz = w * 2\n", tmp_path)
    assert {"Own.step", "closure"} <= set(found.drawing.grouping.labels.values())
    assert [phase.label for phase in found.line.phases] == ["forward", "loss.backward()", "p.grad * 0.1", "forward"]


def test_groups_that_are_alike_have_a_function_or_a_class_in_common(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nfrom engine import nn\n"
        "layers = [nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Tanh(), nn.Linear(2, 2))) for _ in range(2)]\n"
        "def cell(h):\n    return torch.tanh(h * 2)\n"
        "x = torch.ones(1, 2, requires_grad=True)\n"
        "h = sum([cell(x) for _ in range(2)])\nfor layer in layers:\n    h = layer(h)\nh.sum().backward()\n"
    )
    grouping = reading_of(recorded(source, tmp_path)).drawing.grouping
    kin = {label: grouping.kin[group] for group, label in grouping.labels.items()}
    assert (kin["cell · 1"], kin["cell · 2"]) == ("cell", "cell")
    assert {of for label, of in kin.items() if label.startswith("layers[")} == {"Sequential"}
    assert kin["1: Sequential"] == "1: Sequential", "its place in another one tells it apart"


def test_ops_that_the_library_repeats_in_one_line_do_not_begin_another_call(tmp_path: Path) -> None:
    text = (
        "w = [torch.ones(2, requires_grad=True) for _ in range(4)]\n"
        "def train():\n    loss = (w[0] * w[1]).sum() + w[2].sum()\n    loss.backward()\n"
        "    torch.nn.utils.clip_grad_norm_(w, 1.0)\n    return loss * 2\n"
        "z = train() + 1\nz = z * 2\n"
    )
    found = groups(collect(recorded(HEAD + text, tmp_path)))
    assert [label for label in found.labels.values() if label.startswith("train")] == ["train"]


OVER_PARAMETERS = """
W, b = torch.ones(2, 2, requires_grad=True), torch.ones(2, requires_grad=True)
for k in range(2):
    loss = (torch.ones(1, 2) @ W + b).pow(2).sum()
    loss.backward()
    for p in [W, b]:
        p.data -= 0.1 * p.grad
for x in [torch.ones(2), torch.zeros(2)]:
    print((x + W).mean())
"""


def test_iterations_over_parameters_have_the_names_of_those(tmp_path: Path) -> None:
    found = read(OVER_PARAMETERS, tmp_path)
    names = list(found.drawing.grouping.labels.values())
    assert names.count("p = W") == names.count("p = b") == 2, names
    assert "round 1" in names and "x = W" not in names, names


OVER_MODULES = """
from engine import nn
flow = nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(3)])
x, total = torch.ones(4, 2), 0
for layer in reversed(flow):
    x = layer(x) * 2
    total = total + x.sum()
for _ in range(2):
    total = total + flow[0](x).sum() * 2
total.backward()
"""


def test_iterations_over_modules_have_the_names_of_those(tmp_path: Path) -> None:
    names = list(read(OVER_MODULES, tmp_path).drawing.grouping.labels.values())
    assert [name for name in names if name.startswith("layer = ")] == [f"layer = flow.{k}" for k in (2, 1, 0)], names
    assert "round 1" in names and "round 2" in names
