"""When things wait, are ready, done, kept and freed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.trace.events import BackwardStarted, NodeRecord, OpCalled, Trace
from tests.viz.helpers import pictures, programs
from tests.viz.helpers.programs import ALL
from viz.scene.reading import Reading, reading_of
from viz.schema.values import Track
from viz.time.steps import BEGIN, Timeline
from viz.wording.sentences import say

from ..helpers.traces import CASE_1, CASE_3, recorded


def read(source: str, folder: Path) -> Reading:
    return reading_of(recorded(source, folder))


def track(found: Reading, element: str, key: str) -> Track[Any]:
    return found.line.tracks[element, key]


def test_steps_are_ops_vjps_accumulations_and_writes(tmp_path: Path) -> None:
    found = read(CASE_1, tmp_path)
    kinds = [s.kind for s in found.line.steps]
    assert kinds == [
        "forward", "forward", "vjp", "accumulate", "write", "vjp", "accumulate", "write", "vjp", "vjp", "accumulate",
    ]  # fmt: skip
    assert [(p.kind, p.start, p.end) for p in found.line.phases] == [
        ("forward", 0, 2), ("backward", 2, 4), ("write", 4, 5), ("backward", 5, 7), ("write", 7, 8),
        ("backward", 8, 11),
    ]  # fmt: skip
    assert [m[:2] for m in found.line.marks] == [(4, "zero"), (7, "zero")]


@pytest.mark.parametrize(
    ("passed", "derived"),
    [
        ("y.backward(torch.tensor([1, 2]))", "cast from int64"),
        ("y.backward(torch.tensor([1., 2.], dtype=torch.float64))", "cast from float64"),
        ("y.backward(torch.tensor([1., 2.]))", None),
        ("y.sum().backward()", "implicit 1"),
        (
            "with torch.autograd.legacy_broadcasting():\n    y.backward(torch.tensor([3.]))",
            "stretched from shape 1",
        ),
        (
            "with torch.autograd.legacy_broadcasting():\n    y.sum().backward(torch.tensor([3, 4]))",
            "summed from shape 2 and cast from int64",
        ),
    ],
)
def test_a_gradient_that_is_not_the_one_that_was_passed_tells_how_it_was_made(
    passed: str, derived: str | None, tmp_path: Path
) -> None:
    source = f"import engine as torch\nx = torch.tensor([5., 6.], requires_grad=True)\ny = x * 2\n{passed}\n"
    found = read(source, tmp_path)
    (seed,) = [element for element, key in found.line.tracks if key == "row:seed"]
    assert [(t, how and how["text"]) for t, how in track(found, seed, "row:derived")] == [(0, derived)]


def test_an_implicit_gradient_keeps_its_1_in_a_narrow_card(tmp_path: Path) -> None:
    source = "import engine as torch\nx = torch.tensor(5., requires_grad=True)\n(x * 2).backward()\n"
    found = read(source, tmp_path)
    (seed,) = [element for element, key in found.line.tracks if key == "row:seed"]
    ((_, origin),) = track(found, seed, "row:derived")
    assert origin["labels"] == ["gradient, implicit 1", "implicit 1", "gradient"]


def test_a_gradient_that_was_cast_in_one_call_is_the_one_passed_in_the_next(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor([5., 6.], requires_grad=True)\ny = x * 2\n"
        "y.backward(torch.tensor([1, 2]), retain_graph=True)\ny.backward(torch.tensor([1., 2.]))\n"
    )
    found = read(source, tmp_path)
    known = [(t, how and how["text"]) for t, how in track(found, "t1", "row:derived")]
    assert known == [(0, "cast from int64"), (3 + BEGIN, None)]


def test_what_a_call_does_not_reach_is_faint_until_one_does(tmp_path: Path) -> None:
    found = read(CASE_1, tmp_path)
    assert track(found, "t2", "faint") == [(0, False), (2 + BEGIN, True), (8 + BEGIN, False)]
    assert track(found, "t0", "faint") == [(0, False)]


def test_saved_values_are_kept_by_retain_graph_and_freed_by_the_last_call(tmp_path: Path) -> None:
    found = read(CASE_1, tmp_path)
    assert track(found, "n0", "saved") == [(0, "none"), (1, "saved"), (2.5, "kept"), (9.5, "freed")]


def test_a_leaf_waits_until_all_contributions_are_there(tmp_path: Path) -> None:
    found = read(CASE_3, tmp_path)
    line = found.line
    names = {found.facts.names.get(i.tensor): i.id for i in found.drawing.items.values() if i.tensor is not None}
    waits = track(found, names["b"], "state")
    accumulated = next(k for k, s in enumerate(line.steps) if s.kind == "accumulate" and s.at == names["b"])
    assert waits == [(0, "idle"), (6 + BEGIN, "waiting"), (accumulated + 1, "done")]
    contributions = [k for k, s in enumerate(line.steps) for f in s.flows if f.back and f.link.source == names["b"]]
    assert len(contributions) == 2 and max(contributions) < accumulated


def test_a_node_is_ready_when_its_last_upstream_contribution_has_come(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\n"
        "y = x * 2\nz = y * 3 + y * 4\nz.backward(torch.ones(2))\n"
    )
    found = read(source, tmp_path)
    vjps = [k for k, s in enumerate(found.line.steps) if s.kind == "vjp"]
    assert track(found, "n0", "state") == [
        (0, "future"), (1, "idle"), (4 + BEGIN, "waiting"), (vjps[2] + 1, "ready"), (vjps[3] + 1, "done"),
    ]  # fmt: skip


def test_a_rest_between_two_calls_shows_the_finished_one(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\nz = 2 * x\n"
        "z.backward(torch.tensor([1., 0.]), retain_graph=True)\nz.backward(torch.tensor([0., 1.]))\n"
    )
    found = read(source, tmp_path)
    second = found.line.phases[2]
    assert (found.line.phases[1].end, second.start, second.kind) == (3, 3, "backward")
    seeds = [found.line.at("t1", "row:call", t) for t in (3, 3.001)]
    states = [(found.line.at("n0", "state", t), found.line.at("t0", "state", t)) for t in (3, 3.001)]
    assert seeds == [0, 1] and states == [("done", "done"), ("ready", "waiting")]


def test_inputs_restrict_what_takes_part(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\ny = torch.ones(2, requires_grad=True)\n"
        "z = torch.exp(x) + torch.exp(y)\nz.backward(torch.ones(2), inputs=[x])\n"
    )
    found = read(source, tmp_path)
    names = {found.facts.names.get(i.tensor): i.id for i in found.drawing.items.values() if i.tensor is not None}
    assert track(found, names["y"], "faint")[-1] == (3 + BEGIN, True)
    assert track(found, names["x"], "faint") == [(0, False)]


def test_an_error_is_the_last_step_of_its_call_and_marks_its_node(tmp_path: Path) -> None:
    source = CASE_3 + "y.backward(torch.tensor([0.1, 1.0, 0.0001]))\n"
    found = read(source, tmp_path)
    last = found.line.steps[-1]
    assert last.kind == "error" and found.line.phases[-1].failed
    assert found.line.phases[-1].label.startswith("y.backward(")
    assert track(found, str(last.at), "state")[-1] == (len(found.line.steps), "error")
    assert found.line.marks[-1][1] == "error"
    assert found.line.steps[-1].order == 1, "an error of a first backward is of the first order"


def test_a_refused_call_is_a_phase_of_its_own(tmp_path: Path) -> None:
    source = "import engine as torch\na = torch.ones(2, requires_grad=True)\nb = a * a\nb.backward()\n"
    found = read(source, tmp_path)
    assert [(p.kind, p.label, p.failed) for p in found.line.phases] == [
        ("forward", "forward", False), ("backward", "b.backward()", True),
    ]  # fmt: skip
    assert track(found, "t1", "row:seed") == [(0, None)]
    states = {key: [state for _, state in track(found, key, "state")] for key in ("t0", "n0", "t1")}
    none = {"t0": ["idle"], "n0": ["future", "idle"], "t1": ["future", "idle", "error"]}
    assert states == none, "nothing waits for a gradient, or has one"


@pytest.mark.parametrize(("call", "kind"), [
    ("b.backward()", "backward"), ("g = torch.autograd.grad(b, a)", "backward"), ("opt.zero_grad(1, 2)", "forward"),
])  # fmt: skip
def test_only_a_call_for_gradients_is_refused_as_a_backward_call(call: str, kind: str, tmp_path: Path) -> None:
    source = (
        "import engine as torch\na = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([a], lr=1)\nb = a * a\n"
    )
    last = read(source + call, tmp_path).line.phases[-1]
    assert (last.kind, last.failed) == (kind, True)
    assert last.label == call.removeprefix("g = ")


def test_what_was_done_rests_until_the_program_goes_on(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\nz = (2 * x).sum()\nz.backward()\ny = x + 1\n"
    )
    found = read(source, tmp_path)
    end = found.line.phases[1].end
    assert [found.line.at("n0", "state", t) for t in (end, end + 0.001)] == ["done", "idle"]


def test_putting_the_same_value_again_adds_nothing() -> None:
    line = Timeline()
    line.put("n0", "state", 1, "idle", "future")
    line.put("n0", "state", 3, "idle", "future")
    line.put("n0", "state", 4, "done", "future")
    line.put("n0", "state", 4, "idle", "future")
    assert line.tracks["n0", "state"] == [(0, "future"), (1, "idle")]
    assert line.at("n0", "state", 0.5) == "future" and line.at("n0", "state", 9) == "idle"


def test_a_leaf_written_through_data_keeps_its_gradient_and_shows_its_new_value(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nw = torch.tensor(1., requires_grad=True)\n"
        "for _ in range(2):\n    (w * 2).backward()\n    w.data -= 0.5\n"
    )
    found = read(source, tmp_path)
    trace = found.facts.trace

    def shown(key: str) -> list[float | None]:
        values = [vid for _, vid in track(found, "t0.1", key)]
        arrays = [trace.value(vid).array if isinstance(vid, int) else None for vid in values]
        return [None if array is None else float(array) for array in arrays]

    # 0 is what the last write leaves: no card of its own comes after it
    assert [value for value in shown("row:value") if value is not None] == [0.5, 0.0]
    assert [grad for grad in shown("row:grad") if grad is not None] == [2.0, 4.0]


def test_an_older_version_of_a_leaf_has_its_gradient_until_the_next_one(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nw = torch.tensor([1., 2], requires_grad=True)\n(w * w).sum().backward()\n"
        "with torch.no_grad():\n    w -= 0.1 * w.grad\n(w * w).sum().backward()\nw.grad = None\n"
    )
    found = read(source, tmp_path)
    ((before, until),) = found.line.until.items()
    written = next(k for k, s in enumerate(found.line.steps) if s.kind == "write" and s.name == "sub_")
    assert (before, until) == ("t0", written + 1)
    last = max(float(str(k)) for k, _ in track(found, "t0", "row:grad"))
    assert last < until, "what happens later happens on the later card"
    assert track(found, "t0.1", "row:grad")[-1] == (len(found.line.steps), None)


def test_nothing_waits_once_a_call_has_ended(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor([1., 2], requires_grad=True)\n"
        "y = x * x\n"
        "class Nothing(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(given, v):\n        return v.clone()\n"
        "    @staticmethod\n    def backward(given, grad):\n        return None\n"
        "z = Nothing.apply(y)\n"
        "torch.autograd.grad(z, x, torch.ones(2), allow_unused=True)\n"
    )
    found = read(source, tmp_path)
    states = {key[0]: values[-1][1] for key, values in found.line.tracks.items() if key[1] == "state"}
    assert (states["n1"], states["t0"]) == ("done", "idle"), states
    assert states["n0"] == "done", "it runs on nothing, as in torch, and frees what it saved"
    told = [say(step, found.drawing) for step in found.line.steps if step.name == "MulBackward0"]
    words = "MulBackward0 receives no upstream gradient and sends nothing on. Its saved tensor is freed."
    assert told == [f"{words} The call returns None."]


def test_a_write_through_data_is_a_write_as_others_are(tmp_path: Path) -> None:
    source = (
        "import engine as torch\ny = torch.ones(2, requires_grad=True)\nz = (y * y).sum()\n"
        "y.data.mul_(10)\ny.grad = torch.zeros(2)\nz.backward()\n"
    )
    found = read(source, tmp_path)
    assert [(p.kind, p.label) for p in found.line.phases] == [
        ("forward", "forward"), ("write", "y.data.mul_(10)"), ("write", "y.grad = torch.zeros(2)"),
        ("backward", "z.backward()"),
    ]  # fmt: skip


def test_a_call_that_fails_when_its_pass_is_over_is_written_as_it_began(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\nb = torch.ones(2, requires_grad=True)\n"
        "found = torch.autograd.grad((x * x).sum(), [x, b])\n"
    )
    found = read(source, tmp_path)
    assert {p.label for p in found.line.phases[1:]} == {"torch.autograd.grad((x * x).sum(), [x, b])"}
    assert found.line.phases[-1].failed


def out_of_nothing(found: Reading) -> list[str]:
    """Flows of gradients that begin where none came, and no backward call."""
    drawing, call, receivers, astray = found.drawing, None, set[str | None](), []
    for step in found.line.steps:
        if step.call is not None and step.call != call:
            call = step.call
            receivers = {drawing.place(root.tensor) for root in found.facts.calls[call].event.roots}
        for flow in (one for one in step.flows if one.back):
            if flow.link.target not in receivers:
                astray.append(f"{step.name}: {flow.link.id}")
            receivers |= {flow.link.source, drawing.items[flow.link.source].twin}
    return astray


def test_gradients_of_every_program_go_from_the_root_over_the_edges() -> None:
    store = pictures.store()
    found = {name: out_of_nothing(reading_of(store.trace(store.revision(name, None)))) for name in pictures.names()}
    assert {name: astray for name, astray in found.items() if astray} == {}


DOUBLED = "import engine as torch\nx = torch.tensor([1., 2., 3.], requires_grad=True)\ny = 2 * x\n"
UNRECORDED = {
    "itself": "with torch.no_grad():\n    y.mul_(10)\n",
    "view": "with torch.no_grad():\n    y[:2].mul_(10)\n",
    "cells": "with torch.no_grad():\n    y[0] = 7.\n    y[1] = 8.\n",
    "data": "y.data.mul_(10)\n",
    "data_set": "y.data = torch.ones(3)\n",
    "detached": "y.detach().mul_(10)\n",
    "numpy": "y.detach().numpy()[0] = 7.\n",
    "view_used": "v = y[:2]\nwith torch.no_grad():\n    y.mul_(10)\ny = v\n",
    "unnamed": "def f(y):\n    with torch.no_grad():\n        y.mul_(10)\n    return y\ny = f(3 * x)\n",
    "retained": "y.retain_grad()\nwith torch.no_grad():\n    y.mul_(10)\n",
}


@pytest.mark.parametrize("write", UNRECORDED)
@pytest.mark.parametrize("end", ["y.sum().backward()", "(y * y).sum().backward()", "y.backward(torch.ones_like(y))"])
def test_a_gradient_goes_on_from_what_was_written_to_what_was_before(write: str, end: str, tmp_path: Path) -> None:
    found = read(DOUBLED + UNRECORDED[write] + end + "\n", tmp_path)
    assert out_of_nothing(found) == []
    older = [flow for step in found.line.steps for flow in step.flows if not flow.link.value]
    assert older and all(flow.back and flow.value is not None for flow in older)
    assert {flow.link.source for flow in older} <= set(found.drawing.items)
    for flow in older:
        states = [state for _, state in track(found, flow.link.id, "state")]
        assert states[:2] == ["future", "idle"] and states[-1] == "done"
        assert "waiting" in [state for _, state in track(found, flow.link.target, "state")] or "backward(torch" in end


def older_flows(end: str, folder: Path) -> list[str | None]:
    """What goes on from y after a write to y before it, whose gradients are told by numbers."""
    found = read(DOUBLED + "a = y.sum()\nwith torch.no_grad():\n    y.mul_(10)\n" + end + "\n", folder)
    flows = [flow for step in found.line.steps for flow in step.flows if not flow.link.value]
    values = [None if flow.value is None else found.facts.trace.value(flow.value).array for flow in flows]
    return [None if value is None else str(value.tolist()) for value in values]


def test_what_goes_on_is_all_or_one_gradient_and_no_sum_that_nothing_computed(tmp_path: Path) -> None:
    assert older_flows("(y * 5).sum().backward()", tmp_path) == ["[5.0, 5.0, 5.0]"]
    assert older_flows("(y.sum() + y.sum()).backward()", tmp_path) == ["[2.0, 2.0, 2.0]"]
    assert older_flows("(a + (y * 5).sum()).backward()", tmp_path) == ["[5.0, 5.0, 5.0]"]
    assert older_flows("(a + y.sum() + y.sum()).backward()", tmp_path) == [None]
    assert older_flows("a.backward()", tmp_path) == []


def test_a_call_that_needs_only_the_older_values_leaves_the_newer_ones_out(tmp_path: Path) -> None:
    source = DOUBLED + "a = y.sum()\nwith torch.no_grad():\n    y.mul_(10)\n(y * y).sum().backward(retain_graph=True)\n"
    found = read(source + "a.backward()\n", tmp_path)
    start = found.line.spans[1][0] + 2 * BEGIN
    assert found.line.at("et1>t1.1:older", "faint", start) is True
    assert found.line.at("et1>t1.1:older", "faint", found.line.spans[0][0] + 2 * BEGIN) is not True
    assert found.line.at("t1.1", "state", start) == "idle"


def test_a_root_that_was_written_to_unrecorded_has_its_whole_graph(tmp_path: Path) -> None:
    found = read(DOUBLED + "s = y.sum()\nwith torch.no_grad():\n    s.mul_(10)\ns.backward()\n", tmp_path)
    begin = found.line.spans[0][0] + 2 * BEGIN
    assert [found.line.at(node, "state", begin) for node in ("n1", "n0", "t0")] == ["ready", "waiting", "waiting"]
    assert found.line.at("et2>t2.1:older", "faint", begin) is not True


def test_what_comes_to_one_of_two_leaves_with_one_gradient_stands_at_both(tmp_path: Path) -> None:
    source = (
        "import engine as torch\na = torch.tensor([1.], requires_grad=True)\n"
        "b = torch.tensor([3.], requires_grad=True)\n"
        "(a * 2).sum().backward()\nb.grad = a.grad\n(b * 5).sum().backward()\na.grad.zero_()\nb.grad = None\n"
        "(a * 7).sum().backward()\n"
    )
    found = read(source, tmp_path)
    trace = found.facts.trace
    for leaf, wanted in (("t0", [None, 2, 7, 0, 7]), ("t1", [None, 2, 7, 0, None])):
        values = [value for _, value in track(found, leaf, "row:grad")]
        assert [v if v is None else float(trace.value(int(str(v))).stats["max"]) for v in values] == wanted


def orders(trace: Trace) -> dict[int, int]:
    """Which derivative each backward call computes: one more than what it differentiates is, read off the nodes."""
    known: dict[int, int] = {}
    made: dict[int, tuple[NodeRecord, int]] = {}  # by node: what it is, and which derivative its op was recorded for
    history: dict[int, int] = {}  # the node behind a tensor

    def highest(node: int | None) -> int:
        if node not in made:
            return 0
        record, own = made[node]
        return max([own, *(highest(edge.node) for edge in record.edges if edge is not None)])

    for event in trace.events:
        if isinstance(event, OpCalled) and event.node is not None:
            made[event.node.node] = event.node, known.get(-1 if event.call is None else event.call, 0)
            history |= {out.tensor: event.node.node for out in event.outputs}
        elif isinstance(event, BackwardStarted):
            known[event.call] = 1 + max((highest(history.get(root.tensor)) for root in event.roots), default=0)
    return known


HIGHER = {"graph_in_grad", "graph_in_grad_fixed", "no_create_graph_fixed", "once", "once_fixed", "second_derivative"}


def test_every_step_of_a_call_is_of_the_derivative_that_the_call_computes() -> None:
    """Whatever it runs through: the gradient of a gradient comes through the program's own ops too."""
    higher = set()
    for program in ALL:
        found = reading_of(programs.recorded(program.id)[0])
        known = orders(found.facts.trace)
        for step in found.line.steps:
            event = found.facts.trace.events[step.event]
            call = getattr(event, "call", None)
            assert step.order == (0 if call is None else known[call]), (program.id, step)
        higher |= {program.id for order in known.values() if order > 1}
    assert higher == HIGHER


def test_the_gradient_of_a_sum_with_a_gradient_in_it_is_of_the_second_order(tmp_path: Path) -> None:
    found = read(
        "import engine as torch\nx = torch.tensor([2.0], requires_grad=True)\ny = x * x\n"
        "(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)\n(y + g * g).sum().backward()\n",
        tmp_path,
    )
    backward = [p for p in found.line.phases if p.kind == "backward"]
    told = [{step.order for step in found.line.steps[p.start : p.end]} for p in backward]
    assert told == [{1}, {2}]


def test_what_comes_to_a_leaf_is_put_on_its_card_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[tuple[str, str, float]] = []
    plain = Timeline.put

    def seen(self: Timeline, element: str, key: str, step: float, value: object, default: object = None) -> None:
        put.append((element, key, step))
        plain(self, element, key, step, value, default)

    monkeypatch.setattr(Timeline, "put", seen)
    read("import engine as torch\nx = torch.ones(2, requires_grad=True)\n" + 2 * "(2 * x).sum().backward()\n", tmp_path)
    arrived = [one for one in put if one[1] == "row:grad"]
    assert len(arrived) == len(set(arrived)) == 2


def test_a_call_that_finds_its_error_after_it_has_run_is_one_phase() -> None:
    phases = reading_of(programs.recorded("unused_input")[0]).line.phases
    assert [(p.kind, p.call, p.start, p.end, p.failed) for p in phases] == [
        ("forward", None, 0, 2, False), ("backward", 0, 2, 5, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "sign"),
    [("x.grad = None", "none"), ("x.grad.zero_()", "zero"), ("x.grad = torch.zeros(2)", "set")],
)
def test_a_gradient_that_is_dropped_has_another_mark_than_one_that_is_zero(
    written: str, sign: str, tmp_path: Path
) -> None:
    source = f"import engine as torch\nx = torch.ones(2, requires_grad=True)\n(2 * x).sum().backward()\n{written}\n"
    assert [kind for _, kind, _ in read(source, tmp_path).line.marks] == [sign]


def test_the_optimizer_drops_gradients_unless_it_is_told_to_zero_them(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([x], lr=1)\n"
        "(2 * x).sum().backward()\nopt.zero_grad(set_to_none=False)\nopt.zero_grad()\n"
    )
    assert [kind for _, kind, _ in read(source, tmp_path).line.marks] == ["zero", "none"]


@pytest.mark.parametrize(("name", "shown"), [("weights", True), ("stage", False), ("too_many_weights", False)])
def test_a_gradient_that_the_program_works_out_is_not_shown_before_it_is_passed(name: str, shown: bool) -> None:
    rows = {node["label"]: node["rows"] for node in pictures.scene(name)["nodes"]}
    first = rows["z" if name == "weights" else "y"][-1]
    assert first["key"] == "seed" and (first["track"][0] != [0, None]) == shown and first["track"][-1][1] is not None


def test_a_gradient_that_the_program_works_out_is_of_its_call_before_it_is_there(tmp_path: Path) -> None:
    lines = [
        "x = torch.ones(2, requires_grad=True)",
        "y = x * 2",
        "g = torch.autograd.grad(y.sum(), y)",
        "y.backward(g)",
    ]
    found = read("\n".join(["import engine as torch", *lines]), tmp_path)
    assert track(found, "t1", "row:call") == [(0, 1)]
    assert [step for step, _ in track(found, "t1", "row:seed")] == [0, 3 + BEGIN]


def test_a_leaf_drawn_again_where_it_is_used_is_to_come_as_long_as_that_is() -> None:
    found = reading_of(programs.recorded("mini_batches")[0])
    drawn = {use for uses in found.drawing.stubs.values() for use in uses}
    begun = {use: found.line.tracks[use, "state"][:2] for use in drawn}
    for links in found.drawing.into.values():
        for link in links:
            if link.source in drawn:
                done = found.line.step_of[found.facts.ops[link.op or 0].event.index] + 1
                assert begun.pop(link.source) == [(0, "future"), (done, "idle")]
    assert drawn and not begun


@pytest.mark.parametrize(
    ("call", "how"), [("autograd.gradcheck(exp, x)", "by gradcheck"), ("exp(x).backward(x)", None)]
)
def test_what_a_function_of_the_library_passes_is_told_by_its_name(call: str, how: str | None, tmp_path: Path) -> None:
    lines = [
        "from engine import autograd, exp, float64, tensor",
        "x = tensor([1.0, 2.0], dtype=float64, requires_grad=True)",
    ]
    found = read("\n".join([*lines, call]), tmp_path)
    ended = [held[-1][1] for (_, key), held in found.line.tracks.items() if key == "row:derived"]
    assert {made and made["text"] for made in ended} == {how}
