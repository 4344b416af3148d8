"""The overview of a run as the document that the browser draws (docs/scene-format.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from engine.trace.file.database import TraceFileError

from ..findings.dead_units import dead_units
from ..findings.finding import (
    EXPLODING,
    MAKE_GROW,
    MISTAKES,
    NONFINITE,
    NONFINITE_GRADIENT,
    OFTEN_MEANT,
    Finding,
    Kind,
)
from ..findings.growing_graph import growing_graph
from ..findings.runs import dead_parameters, run_findings
from ..findings.training_mode import dropout_in_evaluation, left_in_eval
from ..findings.untrained.zero_gradients import zero_gradients
from ..findings.updates.bad_write import section_of_bad_write
from ..findings.updates.restarts import restart
from ..findings.updates.weight_decay import strong_decay
from ..reading import text
from ..run.overview import QUANTITIES, Overview, joined
from ..run.run import Run
from ..schema.run import RunFinding, RunFindingKind, RunOverview
from ..schema.values import Num
from .reading import reading_of

LOOKED_INTO = 3
"""Iterations whose graphs are searched: a mistake in the program is in nearly all of them."""
DEAD_LOOKED_FOR = "Dead units are looked for in the first three iterations and in the last one."
SEEN_IN_NUMBERS: frozenset[Kind] = NONFINITE | EXPLODING | {"stalled", "vanishing", "exploding", "rounded"}
"""Kinds that the overview itself reports."""
EXPLAINS: dict[Kind, tuple[RunFindingKind, ...]] = {
    "unheld": ("unheld", "never-updated"), "unlisted": ("unheld",), "one-class": ("dead",),
    "not-called": ("never-updated",),
}  # fmt: skip
"""Kinds that are the cause of problems in the numbers."""
DIGITS = 3
"""Significant digits, as many as the hover text shows; the picture has fewer."""


def run_overview(run: Run, program: str, version: int, size: int | None) -> RunOverview:
    """The overview of a run, with the problems in its numbers; `size` are the bytes of its file."""
    return document(run.overview, program, version, size, run.flow)


def in_iterations(run: Run) -> list[RunFinding]:
    """The problems that graphs show and numbers do not: the source of the first nan or inf; then the first finding of
    each kind, from the first iterations with a backward call: an agent may fill its memory before.

    This takes longer than the overview, so it is requested separately.
    """
    numbers = [number for number, section in enumerate(run.sections) if section.kind == "iteration"]
    trained = set(run.overview.first)
    numbers = [number for number in numbers if number in trained] or numbers
    result: dict[Kind, RunFinding] = {}
    for number in numbers[:LOOKED_INTO]:
        for one in _findings(run, number):
            if one.kind not in SEEN_IN_NUMBERS | OFTEN_MEANT | result.keys():
                result[one.kind] = _in_iteration(run, number, one)
    if numbers and not result.keys() & {"dead-units", "alike-units"}:
        with suppress(TraceFileError):
            for one in dead_units(reading_of(run.trace(numbers[-1])).facts):
                result[one.kind] = _in_iteration(run, numbers[-1], one)  # units die on the way
    zeros = () if "one-class" in result else _sends_zeros(run)  # of which the softmax of one number is the cause
    return _causes_first([*_origin(run), *_of_sections(run), *zeros, *result.values()])


def _causes_first(findings: list[RunFinding]) -> list[RunFinding]:
    """The source of a nan or inf first; before that of an inf, an earlier mistake that lets the numbers grow up to it.

    A nan that comes from finite numbers, such as a row that a mask empties, is not a consequence of growth.
    """
    source = next((one for one in findings if one["kind"] == "source"), None)
    if source is None:
        return findings
    is_infinite = not {"inf", "inf-gradient"}.isdisjoint(source["shows"])

    def rank(one: RunFinding) -> int:
        explains = is_infinite and not MAKE_GROW.isdisjoint(one["shows"]) and one["section"] <= source["section"]
        return 0 if explains else 1 if one is source else 2

    return sorted(findings, key=rank)


def _findings(run: Run, number: int) -> Sequence[Finding]:
    """The findings of a section; none if it cannot be shown because the file is damaged there."""
    try:
        return reading_of(run.trace(number)).findings
    except TraceFileError:
        return ()


def _of_sections(run: Run) -> Iterator[RunFinding]:
    """Mistakes that only several iterations show: what is learnt is lost, or decays, the graph is kept, or a mode is
    wrong."""
    modes = left_in_eval(run) if run.is_divided else None, dropout_in_evaluation(run)
    for one in (restart(run), strong_decay(run), growing_graph(run), *modes):
        if one is not None:
            yield {
                "kind": "mistake", "label": one.label, "why": one.why, "fix": one.fix, "section": one.section,
                "parameter": None, "shows": [], "explains": list(one.explains),
            }  # fmt: skip


def _sends_zeros(run: Run) -> Iterator[RunFinding]:
    """The op that sends only zeros to parameters that receive nothing else, in the first iteration from which on they
    do.  It explains the zeros in the numbers unless other parameters stop later."""
    dead = next((one for one in run_findings(run.overview) if one.kind == "dead"), None)
    if dead is None or dead.row is None:
        return
    norms, number = run.overview.rows["norm"][:, dead.column :], run.overview.first[dead.column]
    zero = np.isfinite(norms).any(axis=1) & ~(norms > 0).any(axis=1)
    names = {one.name for one, is_zero in zip(run.overview.parameters, zero.tolist(), strict=True) if is_zero}
    with suppress(TraceFileError):
        stops = zero_gradients(reading_of(run.trace(number)).facts, names)
        for one in stops[:1]:
            do = "do" if stops[2:] else "does"
            more = f" {text.count(len(stops) - 1, 'other op')} {do} the same." if stops[1:] else ""
            result = _in_iteration(run, number, replace(one, why=one.why + more))
            name = run.overview.parameters[dead.row].name
            explains: list[RunFindingKind] = ["dead"] if zero[list(dead_parameters(run.overview))].all() else []
            yield {**result, "kind": "mistake", "parameter": name, "shows": [], "explains": explains}


def _origin(run: Run) -> Iterator[RunFinding]:
    """The op that gives the first nan or inf of a run, in the first iteration whose loss or gradients have one."""
    columns = (one.column for one in run_findings(run.overview) if one.kind in ("loss-nonfinite", "gradient-nonfinite"))
    column = next(columns, None)
    if column is None:
        return
    number = run.overview.first[column]
    # In the loss first, since a gradient that is nan is its consequence: findings come in the order of their steps.
    ops = (one for one in _findings(run, number) if one.kind in NONFINITE)
    for one in sorted(ops, key=lambda one: one.kind in NONFINITE_GRADIENT)[:1]:
        yield _of_update(run, number, one) or {**_in_iteration(run, number, one), "kind": "source"}


def _of_update(run: Run, number: int, one: Finding) -> RunFinding | None:
    """The op that wrote a nan or inf into a parameter, in the iteration before the one that begins with it."""
    if one.leaf is None or not run.is_divided:
        return None
    with suppress(TraceFileError):
        before = section_of_bad_write(run, number, one.leaf)
        if before is not None:
            name = reading_of(run.trace(number)).facts.names.get(one.leaf) or "a parameter"
            for op in _findings(run, before):
                if op.kind in NONFINITE - NONFINITE_GRADIENT and op.leaf is None:
                    why = f"{op.why} {run.sections[number].name} uses {name}, which holds {one.kind} since then."
                    return {**_in_iteration(run, before, replace(op, why=why)), "kind": "source"}
    return None


def _in_iteration(run: Run, number: int, one: Finding) -> RunFinding:
    label = f"{one.label}, in {run.sections[number].name}"
    why = f"{one.why} {DEAD_LOOKED_FOR}" if one.kind == "dead-units" and run.is_divided else one.why
    return {
        "kind": "mistake" if one.kind in MISTAKES else "iteration", "label": label, "why": why, "fix": one.fix,
        "section": number, "parameter": None, "shows": [one.kind], "explains": list(EXPLAINS.get(one.kind, ())),
    }  # fmt: skip


def document(
    whole: Overview, program: str, version: int, size: int | None, flow: Overview | None = None
) -> RunOverview:
    """The document of an overview, shown as `flow` if that is given.  Findings are searched in all columns, before any
    are joined, and not in single backward calls, which need not belong to one loss."""
    overview = joined(flow or whole)
    quantities: Any = {name: [_numbers(row) for row in overview.rows[name]] for name in QUANTITIES}
    return {
        "program": program,
        "version": version,
        "labels": list(overview.labels),
        "first": list(overview.first),
        "last": list(overview.last),
        "loss": [
            _loss(value) if is_root else None
            for value, is_root in zip(overview.loss, overview.rooted, strict=True)
        ],
        "root": overview.root,
        "others": [
            {"name": name, "loss": [None if value != value else _loss(value) for value in values]}
            for name, values in overview.others.items()
        ],
        "total": [
            "nan" if is_wrong else number
            for number, is_wrong in zip(_numbers(overview.total), overview.is_nonfinite.tolist(), strict=True)
        ],
        "rate": _numbers(overview.rate),
        "parameters": [
            {
                "name": one.name, "group": one.group, "shape": list(one.shape), "sampled": one.is_sampled,
                "input": one.is_input,
            }
            for one in overview.parameters
        ],
        "quantities": quantities,
        "findings": [
            {
                "kind": one.kind, "label": one.label, "why": one.why, "fix": one.fix,
                "section": whole.first[one.column],
                "parameter": None if one.row is None else whole.parameters[one.row].name,
                "shows": _sources(one.kind), "explains": [],
            }
            for one in run_findings(whole)
        ],
        "joined": overview.joined,
        "calls": list(overview.calls),
        "updates": overview.updates,
        "scales": [*whole.scales[:1], *whole.scales[-1:]],
        "left_out": whole.updates_left_out,
        "skipped": int(overview.skipped.sum()),
        "ops": whole.ops,
        "bytes": size,
    }  # fmt: skip


def _sources(kind: str) -> list[Kind]:
    """A hint at the source of non-finite numbers: the graph of their iteration marks the first op that gives one."""
    sources = {"loss-nonfinite": NONFINITE - NONFINITE_GRADIENT, "gradient-nonfinite": NONFINITE}
    return sorted(sources.get(kind, frozenset()))


def _numbers(values: np.ndarray) -> list[float | None]:
    return [_rounded(value) for value in _floats(values)]


def _floats(values: np.ndarray) -> Iterable[float]:
    numbers: list[float] = values.tolist()
    return numbers


def _rounded(value: float) -> float | None:
    """A number in few digits; None if it is not finite.

    >>> _rounded(0.123456), _rounded(3.0), _rounded(float("nan"))
    (0.123, 3, None)
    """
    if not isfinite(value):
        return None
    if value == int(value) and abs(value) < 1e15:
        return int(value)
    rounded = float(f"{value:.{DIGITS}g}")
    return rounded if isfinite(rounded) else value  # the largest ones have no neighbour to be rounded to


def _loss(value: float) -> Num:
    if value != value:
        return "nan"
    if not isfinite(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.7g}")
