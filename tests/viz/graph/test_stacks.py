"""Stacks: a series of equal groups is one node with a strip of norms, and one of its members opens in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from engine.trace.events import Trace
from viz.graph.folds import FOLD_ABOVE
from viz.scene.reading import reading_of
from viz.scene.scene import scene

from ..helpers.traces import TRANSFORMER, recorded

Json = Mapping[str, Any]
BLOCKS = 12


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    source = TRANSFORMER.replace("range(2)", f"range({BLOCKS})")
    return recorded(source, tmp_path_factory.mktemp("stacks"))


@pytest.fixture(scope="module")
def stack(trace: Trace) -> str:
    grouping = reading_of(trace).drawing.grouping
    return next(iter(grouping.stacks))


def drawn(trace: Trace, folds: Mapping[str, bool]) -> Json:
    return scene(trace, folds=folds, fold_above=FOLD_ABOVE)


def stacks(told: Json) -> list[Json]:
    return [node for node in told["nodes"] if "cells" in node]


def members(trace: Trace, stack: str) -> list[str]:
    within = reading_of(trace).drawing.grouping.within
    return [group for group in within if within[group] == stack]


def test_a_folded_stack_is_one_node_with_a_cell_for_each_member(trace: Trace, stack: str) -> None:
    (found,) = stacks(drawn(trace, {stack: True}))
    assert (found["id"], found["label"]) == (stack, f"blocks × {BLOCKS}")
    assert [cell["id"] for cell in found["cells"]] == members(trace, stack)
    assert [cell["label"] for cell in found["cells"]] == [f"blocks.{n}" for n in range(BLOCKS)]
    assert found["sub"].startswith(f"{BLOCKS} × 28 ops") and "dots" not in found


def test_the_norm_in_a_cell_is_that_of_the_member_where_it_stands_alone(trace: Trace, stack: str) -> None:
    (found,) = stacks(drawn(trace, {stack: True}))
    alone = {}
    for member in members(trace, stack)[1:-1:3]:  # with one open on each side, it is no part of a run
        at = members(trace, stack).index(member)
        around = {members(trace, stack)[at + by]: False for by in (-1, 1)}
        nodes = {node["id"]: node for node in drawn(trace, {stack: False, **around})["nodes"]}
        alone[member] = nodes[member]["tracks"]["norm"]
    assert {cell["id"]: cell["norm"] for cell in found["cells"] if cell["id"] in alone} == alone
    assert all(track[-1][1] for track in alone.values()), "a gradient comes to each of them"


def test_where_a_member_is_open_those_before_and_behind_it_are_stacks(trace: Trace, stack: str) -> None:
    seen = drawn(trace, {stack: False, members(trace, stack)[4]: False})
    before, behind = stacks(seen)
    assert [before["label"], behind["label"]] == ["blocks.0–3", "blocks.5–11"]
    open_groups = [group["label"] for group in seen["groups"] if not group["folded"]]
    assert open_groups == [f"blocks × {BLOCKS}", "blocks.4: Block"]
    assert next(group for group in seen["groups"] if group["id"] == stack)["stack"]
    assert all(group["folded"] for group in seen["groups"] if group["within"] == members(trace, stack)[4])


def test_of_an_open_stack_with_no_open_member_the_first_one_is_open(trace: Trace, stack: str) -> None:
    seen = drawn(trace, {stack: False, **dict.fromkeys(members(trace, stack), True)})
    assert [node["label"] for node in stacks(seen)] == ["blocks.1–11"]


def test_steps_happen_at_the_run_that_holds_their_op_and_what_is_folded_is_named(trace: Trace, stack: str) -> None:
    seen = drawn(trace, {stack: False, members(trace, stack)[0]: False})
    (run,) = stacks(seen)
    spans = {span["group"]: span for span in seen["spans"] if span["kind"] == "backward"}
    for cell in run["cells"]:
        span = spans[cell["id"]]
        assert {step["at"] for step in seen["steps"][span["start"] : span["end"]]} == {run["id"]}
        assert cell["id"] in seen["folded"], "each member is one step"
    assert run["id"] in seen["folded"]
    assert {edge["source"] for edge in seen["edges"]} | {edge["target"] for edge in seen["edges"]} <= {
        node["id"] for node in seen["nodes"]
    }
