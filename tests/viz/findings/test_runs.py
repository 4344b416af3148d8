"""Findings of whole runs: each kind in a run that has it, none in sound ones."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

from viz.findings.runs import RunFinding, run_findings
from viz.run.overview import Overview, Parameter, joined
from viz.schema.run import RunFindingKind

COLUMNS, DEPTH = 40, 8
STEPS = np.arange(COLUMNS)


def run(**changed: Any) -> Overview:
    """A sound run of eight weight matrices: the loss falls, gradients fade slowly, updates are a thousandth."""
    noise = 1 + 0.1 * np.random.default_rng(0).standard_normal((DEPTH, COLUMNS))
    norm = noise * np.linspace(0.5, 1, DEPTH)[:, None] * np.exp(-STEPS / 40)
    rows = {
        "norm": norm, "ratio": noise * 1e-3, "zeros": norm * 0, "nonfinite": norm * 0, "largest": norm / 2,
        "mean": norm / 100,
    }  # fmt: skip
    parameters = tuple(Parameter(f"net.{k}.weight", f"net.{k}", (8, 8)) for k in range(DEPTH))
    rows |= {name: value for name, value in changed.items() if name in rows}
    loss = changed.get("loss", 2 * np.exp(-STEPS / 30) + 0.1)
    labels = tuple(f"step = {k}" for k in STEPS)
    columns = tuple(range(COLUMNS))
    rate = changed.get("rate", np.full(COLUMNS, 0.1))
    updates = changed.get("updates", COLUMNS)
    about_gradients = changed.get("about_gradients", False)
    return Overview(
        labels, columns, columns, loss, (True,) * COLUMNS, parameters, rows, updates, 1000, rate,
        about_gradients=about_gradients,
    )  # fmt: skip


def one(found: Overview) -> RunFinding:
    (finding,) = run_findings(found)
    return finding


def where(condition: np.ndarray, there: float, rows: str) -> np.ndarray:
    return np.where(condition, there, run().rows[rows])


LATE = STEPS >= 20
FADING = np.logspace(-7, 0, DEPTH)[:, None] + 0 * STEPS
FLIPS = np.where(STEPS % 2, 1.0, -1.0) + 0 * FADING
ILL: dict[RunFindingKind, Overview] = {
    "loss-nonfinite": run(loss=np.where(LATE, np.nan, 1.0)),
    "gradient-nonfinite": run(nonfinite=where(LATE, 3, "nonfinite")),
    "vanishing-depth": run(norm=FADING),
    "exploding-depth": run(norm=FADING[::-1]),
    "vanishing-run": run(norm=10.0 ** (-STEPS / 4) + 0 * FADING, loss=2 - STEPS / 1000),
    "exploding-run": run(norm=10.0 ** (STEPS / 8) + 0 * FADING, loss=2 * 1.2**STEPS),
    "dead": run(norm=where(LATE & (np.arange(DEPTH) == 3)[:, None], 0, "norm")),
    "large-updates": run(ratio=run().rows["ratio"] * 500),
    "small-updates": run(ratio=run().rows["ratio"] * 1e-5),
    "faded-rate": run(rate=0.1 * 0.5**STEPS, ratio=run().rows["ratio"] * 0.5**STEPS),
    "never-updated": run(updates=0, loss=np.full(COLUMNS, 1.5), ratio=np.full((DEPTH, COLUMNS), np.nan)),
    "stalled-loss": run(loss=2 + STEPS * 1e-6),
    "flips": run(norm=8 + 0 * FADING, mean=FLIPS),
}


@pytest.mark.parametrize("kind", sorted({*get_args(RunFindingKind)} - {"mistake", "iteration"}))  # of graphs
def test_each_kind_is_found_alone(kind: RunFindingKind) -> None:
    finding = one(ILL[kind])
    assert finding.kind == kind and finding.label and finding.why.endswith(".") and finding.fix


def test_updates_that_are_left_out_are_found_whatever_the_data_do_to_the_loss() -> None:
    finding = one(run(updates=0, ratio=np.full((DEPTH, COLUMNS), np.nan)))
    assert finding.kind == "never-updated" and "only the data and chance move the loss" in finding.why


def test_places_are_the_first() -> None:
    assert one(ILL["loss-nonfinite"]).column == one(ILL["gradient-nonfinite"]).column == one(ILL["dead"]).column == 20
    assert one(ILL["dead"]).row == 3 and one(ILL["vanishing-depth"]).row == 0
    assert one(ILL["faded-rate"]).column == 17 and "17" in one(ILL["faded-rate"]).why
    assert "× 0.1 per weight matrix" in one(ILL["vanishing-depth"]).why
    assert "in 20 of 40 iterations" in one(ILL["gradient-nonfinite"]).why


def test_what_follows_from_a_nan_is_not_told() -> None:
    zeros = where(STEPS >= 21, 0, "norm")
    assert one(run(loss=np.where(LATE, np.nan, 1.0), norm=zeros)).kind == "loss-nonfinite"


def test_a_part_of_the_run_is_counted() -> None:
    norm = np.where(LATE, FADING, run().rows["norm"])
    finding = one(run(norm=norm))
    assert finding.column == 20 and "20 of 40 iterations" in finding.why


@pytest.mark.parametrize("found", [
    run(), joined(run(), 4), run(loss=np.zeros(COLUMNS), norm=where(LATE, 0, "norm")),
    run(norm=run().rows["norm"] * np.logspace(-2, 0, DEPTH)[:, None]), run(ratio=np.full((DEPTH, COLUMNS), np.nan)),
    run(ratio=where((np.arange(DEPTH) == 7)[:, None], 0.2, "ratio")), run(rate=0.1 * (1 + np.cos(STEPS * np.pi / 39))),
    run(rate=0.1 * np.minimum(1, STEPS / 39)), run(rate=0.1 * 0.75**STEPS), run(rate=np.zeros(COLUMNS)),
    run(updates=0, ratio=np.full((DEPTH, COLUMNS), np.nan), about_gradients=True),
], ids=["sound", "joined", "solved", "fades a hundredfold", "never updated", "one head has large updates", "a cosine",
        "a warm-up", "a decay", "no learning rate", "gradients that are only looked at"])  # fmt: skip
def test_sound_runs_have_none(found: Overview) -> None:
    assert run_findings(found) == []
