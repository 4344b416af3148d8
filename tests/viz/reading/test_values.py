"""The table of a scene's values: which of them have samples for a strip of cells."""

from __future__ import annotations

import pytest

import engine as torch
from engine.trace.events import LeafCreated, Trace
from viz.reading.values import Entry, Table


@pytest.fixture(scope="module")
def trace() -> Trace:
    with torch.record() as trace:
        torch.arange(100.0)
        torch.arange(16.0)
    return trace


def numbers_of(trace: Trace) -> list[int]:
    return [event.value for event in trace.events if isinstance(event, LeafCreated)]


@pytest.mark.parametrize("order", [(True, False), (False, True), (True,), (False, True, False)])
def test_a_value_that_a_card_shows_has_a_strip_whoever_else_names_it(trace: Trace, order: tuple[bool, ...]) -> None:
    table = Table(of=trace)
    large, small = numbers_of(trace)
    added = {table.add(trace, large, is_drawn) for is_drawn in order}
    table.add(trace, small, True)
    assert added == {0} and table.rows[0]["strip"] == [float(v) for v in range(0, 100, 2)]
    assert table.rows[1]["strip"] is None and table.rows[1]["data"] == [float(v) for v in range(16)]
    assert '"strip":[0,2,' in table.rows.json()


def test_a_value_that_no_card_shows_has_none_though_an_earlier_scene_drew_it(trace: Trace) -> None:
    entries: dict[int, Entry] = {}
    large, _ = numbers_of(trace)
    first, second, third = (Table(of=trace, entries=entries) for _ in range(3))
    first.add(trace, large, True)
    second.add(trace, large)
    assert first.rows[0]["strip"] and second.rows[0]["strip"] is None and '"strip":null' in second.rows.json()
    third.add(trace, large, True)
    assert third.rows.json() == first.rows.json()
