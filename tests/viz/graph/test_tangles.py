"""Whatever a program does, what is drawn of it runs forwards in time, and some layout always shows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.trace.events import Trace
from viz.graph.graph import Drawing, draw
from viz.graph.groups import groups
from viz.graph.tangles import untangle
from viz.layout import choice, simple, views
from viz.reading.facts import collect
from viz.scene.reading import reading_of
from viz.scene.scene import scene

from ..helpers.traces import recorded

SHARPNESS_AWARE = """\
import engine as torch

w = torch.ones(2, requires_grad=True)
state = {}
for k in range(2):
    (w * w).sum().backward()
    with torch.no_grad():
        state["old"] = w.data.clone()
        w.add_(w.grad)
    w.grad = None
    (w * w).sum().backward()
    with torch.no_grad():
        w.data = state["old"]
        w.sub_(0.1 * w.grad)
    w.grad = None
"""

BEGIN = """\
import engine as torch
from engine import nn

w = torch.ones(2, requires_grad=True)
v = torch.tensor([0.5, 2.0], requires_grad=True)
x = torch.ones(2)
kept = {"old": torch.zeros(2), "grad": torch.ones(2)}
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())

def square(a):
    b = a * a
    return b + 1
"""

STATEMENTS = (
    "x = x * w", "x = x + v", "x = square(x)", "x = net(x)", "x = torch.stack([x, v]).unbind()[0]", "x = x.detach()",
    "x = [x * i for i in range(1, 3)][-1]", "a, b = torch.stack([x, w]).unbind()", "x = x * kept['grad']",
    "kept['old'] = w.data.clone()", "kept['grad'] = w.grad", "x = x + v.grad", "x = x * (w.grad if k else 1.0)",
    "(x * w).sum().backward()", "(w * v + x.detach()).sum().backward(retain_graph=True)", "square(w).sum().backward()",
    "w.data = kept['old']", "v.data = w.data * 2", "w.data.mul_(0.5)", "net[0].bias.data = x.detach().clone()",
    "w.grad = None", "v.grad = w.grad", "w.grad = kept['grad']", "w.grad.zero_()", "w.grad = w.grad * 0.5",
    "g, = torch.autograd.grad((x * w).sum(), [w], create_graph=True, allow_unused=True); kept['grad'] = g",
    "with torch.no_grad(): w.add_(w.grad)", "with torch.no_grad(): w.sub_(0.1 * w.grad)",
    "with torch.no_grad(): v[0] = 3", "with torch.no_grad(): v.copy_(w.grad)", "x = x.clone(); x[0] = v[1]",
    "x.add_(1)", "x.retain_grad()", "w.detach().numpy()[0] = 7", "x = x.requires_grad_()",
)  # fmt: skip


def program(choice: Random) -> str:
    """A program of random statements in loops in loops, where one that fails is passed over."""
    lines, depth = [BEGIN + "k = 0"], 0
    for _ in range(choice.randint(4, 14)):
        if depth < 3 and choice.random() < 0.3:
            lines.append("    " * depth + f"for k in range({choice.randint(1, 3)}):")
            depth += 1
            lines.append("    " * depth + choice.choice(STATEMENTS[:4]))
        lines.append("    " * depth + "try:")
        lines.append("    " * depth + f"    {choice.choice(STATEMENTS)}")
        lines.append("    " * depth + "except (RuntimeError, TypeError, AttributeError): pass")
        if depth and choice.random() < 0.3:
            depth -= 1
    return "\n".join(lines) + "\n"


def is_forwards(drawing: Drawing) -> bool:
    """Whether each node gets what was there before it: ops come in their order, and cards when they hold something."""
    found = drawing.facts

    def when(ident: str) -> tuple[int, int]:
        item = drawing.items[ident]
        if item.op is not None:
            return found.ops[item.op].event.index, 0
        assert item.tensor is not None
        fact = found.tensors[item.tensor]
        return fact.since.get(item.version, fact.event), 1

    return all(when(link.source) < when(link.target) for link in drawing.links.values())


def test_a_leaf_that_is_set_back_is_no_cycle(tmp_path: Path) -> None:
    found = reading_of(recorded(SHARPNESS_AWARE, tmp_path))
    assert is_forwards(found.drawing)
    assert len(found.drawing.grouping.labels) == 2
    document = scene(recorded(SHARPNESS_AWARE, tmp_path))
    assert document["layout_note"] is None
    assert [group["label"] for group in document["groups"]] == ["k = 0", "k = 1"]


def test_after_data_was_set_what_is_read_is_what_was_set(tmp_path: Path) -> None:
    drawing = reading_of(recorded(SHARPNESS_AWARE, tmp_path)).drawing
    into = {op: [link.source for link in links] for op, links in drawing.into.items()}
    assert into[4] == ["t0", "t0"]  # w.add_(w.grad): the gradient that w had then
    assert into[8] == ["t0.2", "n7"] and into[7] == ["t0.2"]  # w.sub_(0.1 * w.grad), after w.data = …


def test_a_tensor_that_later_becomes_a_gradient_has_its_own_card_before(tmp_path: Path) -> None:
    source = (
        "import engine as torch\ng = torch.ones(2)\ny = g * 2\nw = torch.ones(2, requires_grad=True)\nw.grad = g\n"
        "z = w.grad * w\n"
    )
    drawing = reading_of(recorded(source, tmp_path)).drawing
    assert [link.source for link in drawing.into[0]] == ["t0"]
    assert is_forwards(drawing)


def test_a_gradient_comes_from_the_leaf_that_had_it_then(tmp_path: Path) -> None:
    source = (
        "import engine as torch\na = torch.ones(2, requires_grad=True)\n(a * a).sum().backward()\n"
        "y = a.grad * 2\nb = torch.ones(2, requires_grad=True)\nb.grad = a.grad\nz = b.grad * 3\n"
    )
    found = reading_of(recorded(source, tmp_path))
    first, second = (found.drawing.into[op][0].source for op in (2, 3))
    assert [found.facts.names.get(found.drawing.items[one].tensor or 0) for one in (first, second)] == ["a", "b"]


@pytest.mark.parametrize("seed", range(12))
def test_every_program_can_be_drawn(seed: int, tmp_path: Path) -> None:
    trace = recorded(program(Random(seed)), tmp_path)  # noqa: S311  programs, no secrets
    found = reading_of(trace)
    assert is_forwards(found.drawing)
    every = list(found.drawing.grouping.labels)
    opened = scene(trace)
    others = [dict.fromkeys(every, True), dict.fromkeys(every[::2], True)] if every else []
    if opened["folded"]:  # else it opens with nothing folded
        others.append(dict.fromkeys(every, False))
    for document in (opened, *(scene(trace, folds=folds) for folds in others)):
        assert document["layout_note"] is None
        assert all(edge["points"] and edge["back"] for edge in document["edges"])


# -- what does not happen, and would be shown nevertheless ----------------------------------------------------------


def crossed(trace: Trace) -> Drawing:
    """A drawing with two groups whose ops take turns, so that each waits for the other."""
    table = collect(trace)
    whole = groups(collect(trace))
    of = {op: ("a", "b")[op % 2] if op < len(table.ops) - 1 else "c" for op in range(len(table.ops))}
    around = {"o": None, "a": "o", "b": "o", "c": None}
    return draw(table, replace(whole, labels={g: g for g in around}, within=around, of=of))


def test_groups_that_wait_for_each_other_are_dissolved(tmp_path: Path) -> None:
    trace = recorded("import engine as torch\nx = torch.ones(2)\n" + "x = x.exp()\n" * 6, tmp_path)
    drawing = crossed(trace)
    untangle(drawing)
    grouping = drawing.grouping
    assert grouping.within == {"o": None, "c": None} and set(grouping.labels) == {"o", "c"}
    assert [grouping.of[op] for op in range(6)] == ["o"] * 5 + ["c"]
    assert {drawing.items[f"n{op}"].group for op in range(5)} == {"o"}


def test_groups_that_hand_on_in_order_stay(tmp_path: Path) -> None:
    drawing = reading_of(recorded(SHARPNESS_AWARE, tmp_path)).drawing
    before = drawing.grouping
    untangle(drawing)
    assert drawing.grouping is before


@pytest.mark.parametrize("name", choice.NAMES)
def test_a_graph_with_a_cycle_is_shown_in_rows_with_the_reason(name: str) -> None:
    graph = nx.MultiDiGraph([("a", "b"), ("b", "c"), ("c", "a")])
    graph.graph["within"] = {"g": None}
    nx.set_node_attributes(graph, "g", "group")
    placed, note = choice.picture_of(graph, name)
    assert set(placed.positions) == {"a", "b", "c"}
    assert set(placed.routes) == set(placed.back) == set(graph.edges(keys=True)) or set(placed.routes) == {0}
    if name.startswith("layered") or name == "multipartite":
        assert note is not None and "rows" in note


def test_groups_that_cannot_be_drawn_apart_are_left_out() -> None:
    graph = nx.MultiDiGraph()
    graph.graph["within"] = {"g": None}
    for node, group in (("a", "g"), ("b", None), ("c", "g")):
        graph.add_node(node, group=group)
    graph.add_edge("a", "b", key="ab")
    graph.add_edge("b", "c", key="bc")
    placed, note = choice.picture_of(graph)
    assert note == "The groups of this graph cannot be drawn apart, so it is drawn without them."
    assert not placed.boxes and placed.positions["a"][0] < placed.positions["b"][0] < placed.positions["c"][0]


def test_a_layout_that_breaks_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.MultiDiGraph()
    graph.add_edge("a", "b", key="ab")

    def broken(*_: object) -> None:
        raise RuntimeError("no more memory")

    monkeypatch.setattr(views, "picture_for_view", broken)
    placed, note = choice.picture_of(graph)
    assert note is not None and "rows" in note
    assert set(placed.positions) == {"a", "b"} and set(placed.routes) == {"ab"}


@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_rows_keep_the_order_and_no_boxes_touch(count: int, choice: Random) -> None:
    graph = nx.MultiDiGraph()
    for node in range(count):
        graph.add_node(node, size=(choice.uniform(60, 300), choice.uniform(30, 200)))
    placed = simple.rows(graph)
    boxes = []
    for node in graph:
        (x, y), (w, h) = placed.positions[node], graph.nodes[node]["size"]
        boxes.append((x - w / 2, y - h / 2, x + w / 2, y + h / 2))
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert a[2] < b[0] or a[3] < b[1]
