"""The scene as a document: small, whole, deterministic, and true to what was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.replay.replay import replay
from engine.trace.events import Trace, VjpRun
from tests.viz.helpers import pictures, programs
from viz import gallery
from viz.graph.folds import FOLD_ABOVE, FOLD_ABOVE_TOLD
from viz.graph.graph import slots
from viz.layout.views import WHOLE
from viz.reading.formulas import call_key, formulas
from viz.reading.jacobian import jacobian
from viz.scene import scene as scenes
from viz.scene.details import details
from viz.scene.reading import reading_of
from viz.scene.visible_graph import VIEW
from viz.server.revisions import to_edits

from ..helpers.traces import CASE_1, CASE_3, LOOP, recorded

Json = dict[str, Any]


def scene(trace: Trace, **asked: Any) -> Any:
    """A scene as plain JSON, in which a test looks for what it wants."""
    return scenes.scene(trace, **asked)


def node(found: Json, label: str) -> Json:
    return next(n for n in found["nodes"] if n["label"] == label)


def row(found: Json, label: str, key: str) -> Json:
    return next(r for r in node(found, label)["rows"] if r["key"] == key)


def shown(found: Json, track: list[list[Any]]) -> list[Any]:
    return [None if v is None else found["values"][v]["data"] for _, v in track]


def test_values_of_the_next_scene_of_a_trace_are_not_written_again(tmp_path: Path) -> None:
    trace = recorded(CASE_1, tmp_path)
    first, second = scene(trace)["values"], scene(trace, layout="simple")["values"]
    assert json.loads(first.json()) == first == second
    assert all(a.json() is b.json() for a, b in zip(first.entries, second.entries, strict=True))


def test_founding_case_1_shows_the_row_that_each_one_hot_gradient_selects(tmp_path: Path) -> None:
    found = scene(recorded(CASE_1, tmp_path))
    assert [n["label"] for n in found["nodes"]] == ["x", "× 2", "z", "sum dim=1", "loss"]
    assert [n["role"] for n in found["nodes"]] == ["leaf", "inner", "root", "inner", "root"]
    grads = shown(found, row(found, "x", "grad")["track"])
    assert grads == [None, [2, 0, 0, 0], [0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0], [2, 2, 2, 2]]
    seeds = shown(found, row(found, "z", "seed")["track"])
    assert seeds == [[1, 0, 0, 0], [0, 1, 0, 0]]
    assert [p["label"] for p in found["phases"]][1:3] == [
        "z.backward(torch.tensor([[1., 0., 0., 0.]]), retain_graph=True)", "x.grad.zero_()",
    ], "whole: the lane knows how much of it has room"  # fmt: skip
    step = next(s for s in found["steps"] if s["kind"] == "vjp")
    assert [f["text"] for f in step["flows"]] == ["[1 0 0 0]", "[2 0 0 0]"]
    assert [f.get("path") for f in step["flows"]] == [None, "2 · 1 = 2"]  # true of its cells only


def test_a_scene_is_json_and_the_same_twice(tmp_path: Path) -> None:
    trace, other = (recorded(CASE_3, tmp_path) for _ in range(2))  # at one line, which is one of the program's
    first, second = scene(trace), scene(trace)
    assert json.dumps(first, allow_nan=False) == json.dumps(second, allow_nan=False)
    again = scene(other)
    assert json.dumps(first) == json.dumps(again)


def test_infinities_are_written_as_text(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nc = torch.zeros(1, requires_grad=True)\ny = torch.log(c)\ny.backward(torch.ones(1))\n"
    )
    found = scene(recorded(source, tmp_path))
    assert shown(found, row(found, "c", "grad")["track"]) == [None, ["inf"]]
    assert shown(found, row(found, "y", "value")["track"]) == [None, ["-inf"]]
    assert [m["label"] for m in found["marks"]] == ["first inf: log", "first inf gradient: LogBackward0"]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("source", [CASE_1, CASE_3, LOOP])
def test_references_in_a_scene_lead_somewhere(source: str, tmp_path: Path) -> None:
    found = scene(recorded(source, tmp_path))
    nodes, edges = {n["id"] for n in found["nodes"]}, {e["id"] for e in found["edges"]}
    for edge in found["edges"]:
        assert {edge["source"], edge["target"]} <= nodes
        assert len(edge["points"]) >= 2 and len(edge["back"]) >= 2
    for step in found["steps"]:
        assert step["at"] in nodes
        assert {f["edge"] for f in step["flows"]} <= edges
    assert found["phases"][0]["start"] == 0 and found["phases"][-1]["end"] == len(found["steps"])
    assert all(a["end"] == b["start"] for a, b in zip(found["phases"], found["phases"][1:], strict=False))
    tracks = [t for n in found["nodes"] for t in (*n["tracks"].values(), *(r["track"] for r in n["rows"]))]
    tracks += [t for e in found["edges"] for t in e["tracks"].values()]
    for track in tracks:
        places = [k for k, _ in track]
        assert places[0] == 0 and places == sorted(set(places)) and places[-1] <= len(found["steps"])
    used = {v for t in tracks for _, v in t if isinstance(v, int) and not isinstance(v, bool)}
    assert used <= set(range(len(found["values"])))


ONE_OF_SEVERAL = """import engine as torch
x = torch.tensor([[3., 1, 3], [2, 5, 4]], requires_grad=True)
(x.max(dim=1).values * torch.tensor([2., 3])).sum().backward()
"""
"""An op that gives places beside its values."""


@pytest.mark.parametrize("source", [CASE_1, CASE_3, LOOP, ONE_OF_SEVERAL])
def test_wiring_gives_the_recorded_cotangents(source: str, tmp_path: Path) -> None:
    read = reading_of(recorded(source, tmp_path))
    facts, compared = read.facts, 0
    for event in facts.trace.events:
        if not isinstance(event, VjpRun):
            continue
        op = facts.ops[facts.op_of_node[event.node]].event
        upstream = facts.trace.value(event.upstream[0]).array  # type: ignore[arg-type]  # a rule that ran was given one
        for position, slot in slots(op).items():
            index = event.cotangents[slot]
            if index is None or upstream is None:
                continue
            matrix = jacobian(facts, op, op.inputs[position].name, 4096)
            assert matrix is not None
            cotangent = facts.trace.value(index).array
            assert cotangent is not None
            np.testing.assert_allclose(upstream.reshape(-1) @ matrix, cotangent.reshape(-1), rtol=1e-6)
            compared += 1
    assert compared > 2


def test_an_edited_gradient_moves_nothing_and_leaves_ghosts(tmp_path: Path) -> None:
    base = recorded(CASE_1, tmp_path)
    before = scene(base)
    specs = [
        {"id": c["id"], "kind": c["kind"], "after": c["after"], "root": int(c["root"][1:]), "gradient": None,
         "retain_graph": c["retain_graph"], "create_graph": False, "inputs": None,
         "leaf": int(c["root"][1:]) if c["kind"] != "backward" else None}
        for c in before["commands"]
    ]  # fmt: skip
    specs[0]["gradient"] = [[0.0, 0.0, 5.0, 0.0]]
    edits = {"leaves": {}, "commands": specs}
    after = scene(replay(base, to_edits(base, edits)), edits=edits, previous=base)
    assert [(n["id"], n["x"], n["y"]) for n in after["nodes"]] == [(n["id"], n["x"], n["y"]) for n in before["nodes"]]
    assert shown(after, row(after, "x", "grad")["track"])[1] == [0, 0, 10, 0]
    ghosts = after["previous"]["values"]
    assert shown(after, ghosts["t0|grad"])[1] == [2, 0, 0, 0]
    assert "t0|value" not in ghosts
    assert [c["id"] for c in after["commands"]] == [c["id"] for c in before["commands"]]


def test_phase_of_a_call_without_a_line_is_labelled_as_it_would_be_written(tmp_path: Path) -> None:
    base = recorded(
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\ny = 2 * x\nloss = y.sum()\n", tmp_path
    )
    root, loss, leaf = (next(t for t, name in base.names.items() if name == known) for known in ("y", "loss", "x"))
    common: dict[str, Any] = {"after": None, "retain_graph": True, "create_graph": False, "inputs": None, "leaf": None}
    specs = [
        {**common, "id": "b1", "kind": "backward", "root": root, "gradient": [1.0, 0.0]},
        {**common, "id": "z1", "kind": "zero", "root": leaf, "leaf": leaf, "gradient": None},
        {**common, "id": "b2", "kind": "backward", "root": loss, "gradient": None, "retain_graph": False},
    ]
    specs = [spec | {"after": max(e.index for e in base.events)} for spec in specs]
    edits = {"leaves": {}, "commands": specs}
    labels = [phase["label"] for phase in scene(replay(base, to_edits(base, edits)), edits=edits)["phases"]]
    assert labels == ["forward", "y.backward([1 0], retain_graph=True)", "x.grad.zero_()", "loss.backward()"]


def test_folding_a_round_keeps_what_is_outside(tmp_path: Path) -> None:
    trace = recorded(LOOP, tmp_path)
    unfolded = dict.fromkeys(reading_of(trace).drawing.grouping.labels, False)
    opened = scene(trace, folds=unfolded)
    assert [g["label"] for g in opened["groups"]][:2] == ["step = 0", "step = 1"]
    group = opened["groups"][2]["id"]
    folded = scene(trace, folds={**unfolded, group: True})
    assert folded["folded"] == [group]
    assert next(n for n in folded["nodes"] if n["id"] == group)["kind"] == "group"
    gone = {n["id"] for n in opened["nodes"]} - {n["id"] for n in folded["nodes"]}
    assert gone == set(opened["groups"][2]["members"])
    heights = {n["id"]: n["y"] for n in folded["nodes"]}
    left = [n for n in opened["nodes"] if n["group"] == opened["groups"][0]["id"]]
    assert left and all(heights[n["id"]] == pytest.approx(n["y"]) for n in left)
    assert all(s["at"] in heights for s in folded["steps"])


def test_what_lies_in_folded_groups_is_listed_by_the_names_that_it_has_unfolded(tmp_path: Path) -> None:
    source = LOOP.replace("for step in range(6):", "for step in range(6):\n  for part in range(2):").replace(
        "\n    ", "\n      "
    )
    trace = recorded(source, tmp_path)
    labels = reading_of(trace).drawing.grouping.labels
    opened = scene(trace, folds=dict.fromkeys(labels, False))
    assert opened["hidden"] is None
    kinds = ("kind", "role", "label", "sub", "title")
    named = {n["id"]: tuple(n[k] for k in kinds) for n in opened["nodes"] if n["kind"] != "stub"}
    folded = scene(trace, folds=dict.fromkeys(labels, True))
    hidden = folded["hidden"]
    inside = {ident: hidden["names"][name] for ident, name, _ in hidden["nodes"]}
    seen = {n["id"]: tuple(n[k] for k in kinds) for n in folded["nodes"] if n["kind"] not in ("stub", "group")}
    assert inside and seen.keys().isdisjoint(inside) and seen | inside == named
    assert len(hidden["names"]) < len(inside)  # rounds are alike
    groups = {g["id"]: g["label"] for g in [*folded["groups"], *hidden["groups"]]}
    assert hidden["groups"] and groups == dict(labels) and {group for *_, group in hidden["nodes"]} <= groups.keys()


def test_a_large_trace_begins_folded_and_stays_small(tmp_path: Path) -> None:
    source = LOOP.replace("range(6)", "range(120)")
    found = scene(recorded(source, tmp_path))
    assert found["folded"] and len(found["nodes"]) < 60
    assert any(n["kind"] == "group" and n["label"] == "step = 1–119" for n in found["nodes"])


def test_a_refusing_layout_is_replaced_and_says_why(tmp_path: Path) -> None:
    trace = recorded(LOOP.replace("range(6)", "range(40)"), tmp_path)
    groups = reading_of(trace).drawing.grouping.labels
    found = scene(trace, layout="kamada_kawai", folds=dict.fromkeys(groups, False))
    assert found["layout"] == "layered" and "kamada_kawai is offered up to" in found["layout_note"]


@pytest.mark.parametrize("program", gallery.gallery(), ids=lambda p: p.id)
def test_every_program_of_the_gallery_has_a_sound_scene(program: gallery.Program) -> None:
    trace, found = programs.recorded(program.id)[0], programs.picture(program.id)
    json.dumps(found, allow_nan=False)
    assert found["layout"] == "layered" and found["layout_note"] is None
    drawn = {node["id"] for node in found["nodes"]}
    for step in found["steps"]:
        assert step["say"].endswith((".", "…")) and (step["at"] in drawn or step["kind"] == "error")
    for ident in sorted(drawn):
        made = details(trace, found, ident)
        json.dumps(made, allow_nan=False)
        kinked = program.id in ("ties", "kink")  # where there is no slope, a difference finds another
        check = made.get("check")
        if check is not None and not kinked:
            assert check["agrees"], (ident, check)


def test_an_op_says_its_formula_and_nothing_else_does(tmp_path: Path) -> None:
    found = scene(recorded(CASE_1, tmp_path))
    assert [(f["input"], f["text"]) for f in node(found, "× 2")["formula"]] == [("self", "x̄ = z̄ ⊙ 2")]
    assert all(n["formula"] == [] for n in found["nodes"] if n["kind"] != "op")


def test_calls_that_read_the_same_share_one_formula(tmp_path: Path) -> None:
    trace = recorded(LOOP, tmp_path)
    read = reading_of(trace)
    drawn = {n["id"]: n["formula"] for n in scene(trace)["nodes"] if n["kind"] == "op"}
    assert drawn == {op.id: formulas(read.facts, op.event) for op in read.facts.ops if op.id in drawn}
    assert len({call_key(read.facts, op.event) for op in read.facts.ops}) < len(read.facts.ops)


def test_a_folded_group_says_shapes_and_the_norm_that_came(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nw = torch.tensor([3., 4.], requires_grad=True)\nh = torch.ones(2)\n"
        "for step in range(2):\n    h = torch.tanh(h * w)\n(h * torch.tensor([3., 4.])).sum().backward()\n"
    )
    trace = recorded(source, tmp_path)
    groups = [g["id"] for g in scene(trace)["groups"]]
    found = scene(trace, folds=dict.fromkeys(groups, True))
    first, last = (n for n in found["nodes"] if n["kind"] == "group")
    assert (first["sub"], last["sub"]) == ("2 ops · 2 → 2", "2 ops, w ↗ · 2 → 2")
    norms = [found["values"][v]["stats"]["norm"] for _, v in last["tracks"]["upstream"] if v is not None]
    assert norms == [5.0]


def test_a_module_that_is_called_twice_says_the_shape_of_its_input_each_time(tmp_path: Path) -> None:
    source = """\
import engine as torch
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
inputs = torch.ones(5, 4)
net(inputs).mean().backward()
net(inputs).mean().backward()
"""
    trace = recorded(source, tmp_path)
    found = scene(trace, folds=dict.fromkeys([group["id"] for group in scene(trace)["groups"]], True))
    subs = [one["sub"].partition(" · ")[2] for one in found["nodes"] if one["kind"] == "group"]
    assert subs == ["5×4 → 5×2", "5×4 → 5×2"], "without the number of batches that the norm has seen, a scalar"


def test_a_step_in_a_folded_group_tells_the_gradients_that_its_edges_would_show(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor([3., 4.], requires_grad=True)\n"
        "def square(x):\n    y = x * 2\n    return y * y\nsquare(x).sum().backward()\n"
    )
    trace = recorded(source, tmp_path)
    groups = [g["id"] for g in scene(trace)["groups"]]
    told = {step["name"]: step.get("within") for step in scene(trace, folds=dict.fromkeys(groups, True))["steps"]}
    assert told["mul"] is None and told["SumBackward0"] is None, "its op has a node of its own, or nothing comes back"
    assert told["MulBackward0"] is not None
    assert {key: told["MulBackward0"][key] for key in ("gets", "gives")} == {"gets": "[12 16]", "gives": "[24 32]"}
    assert not any("within" in step for step in scene(trace, folds=dict.fromkeys(groups, False))["steps"])


ROUNDS = """import engine as torch
w = torch.tensor([.5, 2.], requires_grad=True)
h = torch.ones(2)
for i in range({rounds}):
    h = torch.sin(h * w)
(h * w).sum().backward()
"""


def test_a_step_tells_what_it_sends_where_a_folded_group_hides_a_receiver(tmp_path: Path) -> None:
    trace = recorded(ROUNDS.format(rounds=2), tmp_path)
    groups = {g["label"]: g["id"] for g in scene(trace)["groups"]}
    first, last = groups["i = 0"], groups["i = 1"]
    found = scene(trace, folds={first: True, last: True})
    data = [value["data"] for value in found["values"]]
    told = [
        ([(one["name"], data[one["value"]], one.get("in")) for one in step.get("sends", ())], step.get("within"))
        for step in found["steps"]
        if step["name"] in ("MulBackward0", "SinBackward0")
    ]
    (sent, outside), (to_mul, sin), (to_both, mul), *_ = told
    assert [one[::2] for one in sent] == [("h", last), ("w", None)] and outside is None, "its op is to be seen"
    assert [one[::2] for one in to_mul] == [("MulBackward0", None)], "in the same group"
    assert [one[::2] for one in to_both] == [("h", first), ("w", None)]
    assert sin is not None and mul is not None
    assert (data[sin["upstream"]], data[mul["upstream"]]) == ([0.5, 2.0], to_mul[0][1])
    assert [f["text"] for f in found["formulas"][mul["formula"]]] == ["h\u0304 = y\u0304 ⊙ w", "w\u0304 = y\u0304 ⊙ h"]
    unfolded = scene(trace, folds={first: False, last: False})
    assert not unfolded["formulas"] and not any("sends" in step for step in unfolded["steps"])


def test_a_long_name_has_a_letter_in_a_formula(tmp_path: Path) -> None:
    text = (
        "import engine as torch\nx = torch.ones(2, requires_grad=True)\nan_input_with_a_long_name = torch.ones(2, "
        "requires_grad=True)\ny = x * an_input_with_a_long_name\ny.sum().backward()\n"
    )
    read = reading_of(recorded(text, tmp_path))
    assert [one["text"] for one in formulas(read.facts, read.facts.ops[0].event)] == [
        "x̄ = ȳ ⊙ u",
        "ū = ȳ ⊙ x",
    ]


def test_the_rounds_of_a_loop_have_their_formulas_once(tmp_path: Path) -> None:
    found = []
    for rounds in (5, 30):
        trace = recorded(ROUNDS.format(rounds=rounds), tmp_path)
        found.append(scene(trace, folds={g["id"]: True for g in scene(trace)["groups"]})["formulas"])
    assert len(found[0]) == 3 and found[0] == found[1], (
        "of sin, of the first product, whose h needs none, and of the others"
    )


def test_a_large_graph_opens_level_by_level_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nw = torch.ones(2, requires_grad=True)\nh = torch.ones(2)\n"
        "def block(h):\n    a = torch.tanh(h * w)\n    return torch.sin(a + h)\n"
        "for step in range(20):\n    for part in range(3):\n        h = block(h)\n    h = h * 2\n    h = h + 1\n"
        "h.sum().backward()\n"
    )
    found = scene(recorded(source, tmp_path))
    shown = [n for n in found["nodes"] if n["kind"] == "group"]
    assert [len(node.get("cells", ())) for node in shown] == [0, 0, 0, 19], "one round is open"
    assert len(found["nodes"]) < 20


TWO_MODELS = """\
import engine as torch
from engine import nn
critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4))
loss = critic(generator(torch.ones(3, 2))).mean()
loss.backward()
"""


def test_a_folded_group_names_the_card_that_it_uses_without_an_edge() -> None:
    drawn = pictures.scene("rnn_twenty")
    rounds = [node for node in drawn["nodes"] if node["kind"] == "group"]
    assert [("x ↗" in node["sub"]) for node in rounds] == [False] + [True] * 19  # an edge leads to the first one


def test_script_that_would_be_larger_than_the_stage_opens_with_its_layers_folded(tmp_path: Path) -> None:
    trace = recorded(TWO_MODELS, tmp_path)
    made = scene(trace, fold_above=FOLD_ABOVE)
    folded = [group["label"] for group in made["groups"] if group["folded"]]
    assert sorted(folded) == ["0: Linear", "0: Linear", "2: Linear", "2: Linear"]
    x0, y0, x1, y1 = made["bounds"]
    assert VIEW[0] / (x1 - x0) >= WHOLE and VIEW[1] / (y1 - y0) >= WHOLE
    told = scene(trace, fold_above=FOLD_ABOVE_TOLD)
    assert not [group for group in told["groups"] if group["folded"] and ": Linear" in group["label"]]


def test_what_a_rule_was_given_after_an_unseen_write_is_what_its_step_shows(tmp_path: Path) -> None:
    """Also of two calls between which the write lies: the first went by what forward had."""
    code = "x = torch.tensor(3., requires_grad=True)\nz = x * 1 * x\nz.backward(retain_graph=True)\n"
    found = scene(recorded(f"import engine as torch\n{code}x.data.mul_(5)\nz.backward()\n", tmp_path))
    back = [
        flow for step in found["steps"] for flow in step["flows"] if flow["back"] and step["name"] == "MulBackward0"
    ]
    products = [(flow["text"], flow.get("wiring")) for flow in back if "=" in flow["text"]]
    first = [("3 · 1 = 3", None), ("3 · 1 = 3", None), ("1 · 3 = 3", None)]
    assert products == [*first, ("15 · 1 = 15", [(0, 0, 15)]), ("3 · 1 = 3", None), ("1 · 15 = 15", None)]


def test_an_edge_names_the_gradient_that_it_hands_on(tmp_path: Path) -> None:
    code = (
        "w = torch.tensor(1., requires_grad=True)\n(w * 3).backward()\nwith torch.no_grad():\n    w -= 0.5 * w.grad\n"
    )
    found = scene(recorded(f"import engine as torch\n{code}", tmp_path))
    assert [edge["hands"] for edge in found["edges"] if edge["hands"]] == ["w.grad"]


def test_an_edge_from_a_folded_group_names_what_the_group_gives(tmp_path: Path) -> None:
    trace = recorded(ROUNDS.format(rounds=3), tmp_path)
    found = scene(trace, folds={g["id"]: True for g in scene(trace)["groups"]})
    groups = {node["id"] for node in found["nodes"] if node["kind"] == "group"}
    assert [edge["hands"] for edge in found["edges"] if edge["source"] in groups] == ["h"] * 3


def test_where_only_gradients_travel_an_edge_has_one_route(tmp_path: Path) -> None:
    source = "import engine as torch\nx = torch.ones(2, requires_grad=True)\ny = 2 * x\n"
    made = scene(recorded(source + "with torch.no_grad():\n    y.mul_(3)\ny.sum().backward()\n", tmp_path))
    only = [edge for edge in made["edges"] if not edge["value"]]
    assert [(edge["source"], edge["target"], edge["grad"]) for edge in only] == [("t1", "t1.1", True)]
    assert all(edge["points"] == edge["back"][::-1] for edge in only)
    assert all(edge["points"] != edge["back"][::-1] for edge in made["edges"] if edge["value"])


def test_a_root_without_a_name_is_called_by_its_expression() -> None:
    (root,) = [node for node in pictures.scene("forgotten_count")["nodes"] if node["role"] == "root"]
    assert root["label"] == "Product.apply(x, y).sum()"


@pytest.mark.parametrize(
    ("expression", "label"),
    [
        ("torch.nn.functional.mse_loss(2 * weights + 3, torch.zeros(2))", "mse_loss(…)"),
        ("(torch.tanh(weights) * torch.sigmoid(weights) + weights).mean()", "mean(…)"),
        ("(torch.tanh(weights) * torch.sigmoid(weights) + weights)[0]", "number"),
    ],
)
def test_a_root_of_a_long_expression_is_called_by_its_op(expression: str, label: str, tmp_path: Path) -> None:
    source = "import engine as torch\nweights = torch.ones(2, requires_grad=True)\n"
    found = scene(recorded(f"{source}({expression}).backward()\n", tmp_path))
    assert [one["label"] for one in found["nodes"] if one["role"] == "root"] == [label]


def test_numbers_of_float32_are_written_with_the_digits_that_they_have() -> None:
    with engine.record() as trace:
        x = engine.tensor([0.1, 1e-4, 3.3003], requires_grad=True)
        (x * 1).backward(engine.tensor([0.3, 1e-7, 1.0]))
    written = [value["data"] for value in scene(trace)["values"]]
    assert [0.1, 0.0001, 3.3003] in written and [0.3, 1e-7, 1] in written
