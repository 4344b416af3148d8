"""What of a run is shown first."""

from __future__ import annotations

import pytest

import engine as torch
from viz.run import run as module
from viz.run.run import SEVERAL, SHORT, SMALL, Run


def losses(count: int, fails: bool = False) -> Run:
    """A loop of so many iterations, more than `SHORT` events of them; at its end, perhaps an error."""
    w = torch.ones(3, requires_grad=True)
    with torch.record() as trace:
        for _ in range(count):
            y = w
            for _ in range(100):
                y = y * 1.0
            y.sum().backward()
        if fails:
            with pytest.raises(RuntimeError):
                y.sum().backward()
    return Run(trace)


def trained(length: int, updates: int) -> Run:
    """Three iterations of so many ops, of which some make an update."""
    w = torch.ones(3, requires_grad=True)
    optimiser = torch.optim.SGD([w], lr=0.1)
    with torch.record() as trace:
        for number in range(3):
            y = w
            for _ in range(length):
                y = y * 1.0
            y.sum().backward()
            if number < updates:
                optimiser.step()
    return Run(trace)


@pytest.mark.parametrize(("length", "updates", "parts"), [(20, 3, 3), (20, 2, 3), (20, 1, 1), (20, 0, 1), (0, 3, 1)])
def test_iterations_with_updates_are_shown_one_by_one_unless_the_program_is_small(
    length: int, updates: int, parts: int
) -> None:
    run = trained(length, updates)
    assert (SMALL if length else 0) < len(run.whole.events) < (SHORT if length else SMALL)
    assert len(run.sections) == parts


@pytest.mark.parametrize(
    ("count", "fails", "whole"), [(2, False, False), (SEVERAL, False, True), (SEVERAL, True, False)]
)
def test_run_view_is_shown_first_of_several_iterations(count: int, fails: bool, whole: bool) -> None:
    run = losses(count, fails)
    assert run.is_divided
    assert run.opens_whole is whole


def test_run_view_is_shown_first_of_few_iterations_that_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their graph takes many seconds, and the run's numbers one or two."""
    run = losses(2)
    length = run.sections[run.opens].end - run.sections[run.opens].start
    monkeypatch.setattr(module, "LONG", length)
    assert run.opens_whole
    monkeypatch.setattr(module, "LONG", length + 1)
    assert not run.opens_whole


def test_graph_of_a_single_section_is_shown_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 1)
    run = losses(1)
    assert not run.is_divided
    assert not run.opens_whole
