"""Findings of whole runs: each kind in a run that has it, none in sound ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from viz.findings.runs import RunFinding, run_findings
from viz.run.overview import Overview, Parameter, joined
from viz.schema.run import RunFindingKind

COLUMNS, DEPTH = 40, 8
STEPS = np.arange(COLUMNS)


def weight(k: int, **others: Any) -> Parameter:
    """A weight matrix behind all those before it."""
    return replace(Parameter(f"net.{k}.weight", f"net.{k}", (8, 8), before=(1 << k) - 1), **others)


def run(**changed: Any) -> Overview:
    """A sound run of eight weight matrices: the loss falls, gradients fade slowly, updates are a thousandth."""
    noise = 1 + 0.1 * np.random.default_rng(0).standard_normal((DEPTH, COLUMNS))
    norm = noise * np.linspace(0.5, 1, DEPTH)[:, None] * np.exp(-STEPS / 40)
    rows = {
        "norm": norm, "ratio": noise * 1e-3, "zeros": norm * 0, "nonfinite": norm * 0, "largest": norm / 2,
        "mean": norm / 100,
    }  # fmt: skip
    parameters = changed.get("parameters", tuple(weight(k) for k in range(DEPTH)))
    rows |= {name: value for name, value in changed.items() if name in rows}
    loss = changed.get("loss", 2 * np.exp(-STEPS / 30) + 0.1)
    labels = tuple(f"step = {k}" for k in STEPS)
    columns = tuple(range(COLUMNS))
    rate = changed.get("rate", np.full(COLUMNS, 0.1))
    updates = changed.get("updates", COLUMNS)
    about_gradients = changed.get("about_gradients", False)
    skipped, resumed = changed.get("skipped", np.zeros(COLUMNS + 1, int)), changed.get("resumed", {})
    return Overview(
        labels, columns, columns, loss, (True,) * COLUMNS, parameters, rows, updates, skipped, resumed, 1000, rate,
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
BEHIND = run().parameters
APART = run(
    norm=np.vstack([FADING[:4] * 0 + 1e-5, FADING[4:] * 0 + 1]),
    parameters=tuple(weight(k, before=((1 << k) - 1) & (0b1111 if k < 4 else 0b11110000)) for k in range(DEPTH)),
)
"""Two networks whose gradients have sizes of their own."""
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
    "rounded-updates": run(
        ratio=np.where(np.arange(DEPTH)[:, None] == 3, 0, run().rows["ratio"]),
        parameters=tuple(weight(k, dtype="bfloat16", shape=(8,)) for k in range(DEPTH)),
    ),
    "faded-rate": run(rate=0.1 * 0.5**STEPS, ratio=run().rows["ratio"] * 0.5**STEPS),
    "never-updated": run(updates=0, loss=np.full(COLUMNS, 1.5), ratio=np.full((DEPTH, COLUMNS), np.nan)),
    "stalled-loss": run(loss=2 + STEPS * 1e-6),
    "unheld": run(parameters=tuple(weight(k, is_unheld=k == 3) for k in range(DEPTH))),
    "flips": run(norm=8 + 0 * FADING, mean=FLIPS),
}


@pytest.mark.parametrize("kind", sorted({*get_args(RunFindingKind)} - {"source", "mistake", "iteration"}))  # of graphs
def test_each_kind_is_found_alone(kind: RunFindingKind) -> None:
    finding = one(ILL[kind])
    assert finding.kind == kind and finding.label and finding.why.endswith(".") and finding.fix


def test_updates_that_are_left_out_are_found_whatever_the_data_do_to_the_loss() -> None:
    finding = one(run(updates=0, ratio=np.full((DEPTH, COLUMNS), np.nan)))
    assert finding.kind == "never-updated" and "only the data and chance move the loss" in finding.why


def test_gradients_that_reach_only_inputs_have_no_advice_about_steps() -> None:
    still = ILL["never-updated"]
    assert run_findings(replace(still, parameters=tuple(weight(k, is_input=True) for k in range(DEPTH)))) == []


def test_a_sample_of_which_no_element_moves_says_nothing_about_the_weight() -> None:
    """The sample of a matrix with 512 columns has every 8192nd element: one column, which may be of a dead unit."""
    still = run().rows["ratio"] * (np.arange(DEPTH) != 3)[:, None]
    parameters = tuple(weight(k, is_sampled=k == 3) for k in range(DEPTH))
    assert run_findings(run(ratio=still, parameters=parameters)) == []
    assert one(run(ratio=still)).kind == "small-updates"
    assert one(run(ratio=run().rows["ratio"] * 1e-5, parameters=parameters)).kind == "small-updates"


def test_updates_that_a_short_dtype_rounds_away_are_named_with_what_it_can_hold() -> None:
    finding = one(ILL["rounded-updates"])
    assert finding.row == 3 and finding.why.startswith("net.3.weight has a gradient, but nearly all")
    assert "bfloat16 has 8 significant bits: an update of less than 1/512 of an element" in finding.why
    still = {"ratio": run().rows["ratio"] * 1e-5}
    assert one(run(**still, parameters=tuple(weight(k, dtype="float16") for k in range(DEPTH)))).kind == finding.kind
    others = tuple(weight(k, dtype="bfloat16", is_unheld=True) for k in range(DEPTH))  # copies of what learns
    assert "rounded-updates" not in [each.kind for each in run_findings(run(**still, parameters=others))]


def test_places_are_the_first() -> None:
    assert one(ILL["loss-nonfinite"]).column == one(ILL["gradient-nonfinite"]).column == one(ILL["dead"]).column == 20
    assert one(ILL["dead"]).row == 3 and one(ILL["vanishing-depth"]).row == 0
    assert one(ILL["faded-rate"]).column == 17 and "17" in one(ILL["faded-rate"]).why
    assert "× 0.1 per weight matrix" in one(ILL["vanishing-depth"]).why
    assert "in 20 of 40 iterations" in one(ILL["gradient-nonfinite"]).why


def test_gradients_that_are_nan_just_before_the_loss_is_come_first() -> None:
    late = where(np.roll(LATE, -1), 3, "nonfinite")
    before, loss = run_findings(run(loss=np.where(LATE, np.nan, 1.0), nonfinite=late))
    assert (before.kind, before.column) == ("gradient-nonfinite", 19) and loss.kind == "loss-nonfinite"
    assert loss.fix == "It follows from the gradients of step = 19: the update wrote them into parameters."


def test_a_learning_rate_of_zero_is_found_where_nothing_changes() -> None:
    finding = one(run(rate=np.zeros(COLUMNS), ratio=run().rows["ratio"] * 0))
    assert (finding.kind, finding.label) == ("faded-rate", "The learning rate is 0")
    assert finding.why.startswith("In all 40 iterations")
    assert one(run(rate=np.zeros(COLUMNS), ratio=run().rows["ratio"] * 0, loss=2 + 0 * STEPS)).kind == "faded-rate"
    late = run(rate=np.where(LATE, 0.1, 0.0), ratio=where(~LATE, 0, "ratio"))
    assert one(late).label == "The learning rate is 0 in the first 20 iterations"
    assert run_findings(run(rate=np.where(STEPS, 0.1, 0.0), ratio=where(STEPS == 0, 0, "ratio"))) == []  # a warm-up
    assert run_findings(run(rate=np.zeros(COLUMNS))) == []  # that of the first group, which is frozen
    unknown = run(rate=np.zeros(COLUMNS), ratio=np.full((DEPTH, COLUMNS), np.nan))
    assert run_findings(unknown) == []


def test_update_that_replaces_the_weights_is_found_if_the_loss_stays_above_its_beginning() -> None:
    ratio = np.where(STEPS == 2, 3.0, run().rows["ratio"])
    finding = one(run(ratio=ratio, loss=1 + STEPS / 100))
    assert (finding.kind, finding.column, finding.label) == ("large-updates", 2, "An update replaces the weights")
    assert "in step = 2 is larger than the weight itself in 8 of 8 weight matrices" in finding.why
    assert finding.why.endswith(
        "3 times as large, so that the previous values hardly count. About 0.001 is usual. The loss goes from 1 to "
        "1.39."
    )
    assert run_findings(run(ratio=ratio)) == []  # the loss falls all the same
    few = np.where(np.arange(DEPTH)[:, None] < 4, ratio, run().rows["ratio"])
    assert run_findings(run(ratio=few, loss=1 + STEPS / 100)) == []
    began_with_zeros = np.where(np.isfinite(ratio) & (ratio > 1), np.inf, ratio)
    assert run_findings(run(ratio=began_with_zeros, loss=1 + STEPS / 100)) == []


def test_what_follows_from_a_nan_is_not_told() -> None:
    zeros = where(STEPS >= 21, 0, "norm")
    assert one(run(loss=np.where(LATE, np.nan, 1.0), norm=zeros)).kind == "loss-nonfinite"


def test_a_part_of_the_run_is_counted() -> None:
    norm = np.where(LATE, FADING, run().rows["norm"])
    finding = one(run(norm=norm))
    assert finding.column == 20 and "20 of 40 iterations" in finding.why


def test_networks_side_by_side_are_not_behind_each_other() -> None:
    assert [one.kind for one in run_findings(run(norm=np.vstack([FADING[:4] * 1e-4, FADING[4:]])))] == [
        "vanishing-depth"
    ]
    faded = np.vstack([np.logspace(-7, 0, 4)[:, None] + 0 * STEPS, FADING[4:] * 0 + 1])
    finding = one(run(norm=faded, parameters=APART.parameters))
    assert finding.why.startswith("From net.3.weight to net.0.weight the typical element of the gradient gets")


def test_parameters_that_nothing_updates_are_named_with_where_they_begin_to_receive_gradients() -> None:
    norm = np.where(LATE | (np.arange(DEPTH) > 1)[:, None], run().rows["norm"], np.nan)
    finding = one(run(norm=norm, parameters=(*(weight(k, is_unheld=True) for k in range(2)), *BEHIND[2:])))
    assert finding.label == "2 parameters are in no optimiser" and finding.column == 20
    assert finding.why == (
        "net.0.weight and net.1.weight receive gradients from step = 20 on, but no optimiser holds them, and nothing "
        "updates them."
    )


def test_gradient_that_is_zero_from_the_start_never_stopped_to_come() -> None:
    finding = one(run(norm=where((np.arange(DEPTH) == 3)[:, None], 0, "norm")))
    assert finding.label == "1 parameter receives only zeros" and "1 parameter of 8 never learns" in finding.why


def test_gradients_that_are_all_zero_have_no_advice_about_the_learning_rate() -> None:
    still = {name: np.zeros((DEPTH, COLUMNS)) for name in ("norm", "ratio", "largest", "mean")}
    finding = one(run(**still, loss=np.full(COLUMNS, 0.5)))
    assert finding.kind == "dead" and "8 parameters of 8 never learn" in finding.why


def test_gradient_that_is_zero_from_where_it_begins_never_stopped_to_come() -> None:
    fine_tuned = (np.arange(DEPTH) == 3)[:, None]
    finding = one(run(norm=np.where(fine_tuned, np.where(LATE, 0.0, np.nan), run().rows["norm"])))
    assert finding.kind == "dead" and finding.column == 20
    assert finding.label == "1 parameter receives only zeros" and "1 parameter of 8 never learns" in finding.why


@pytest.mark.parametrize(
    ("wrong", "said"),
    [([0], "inputs have gradients"), ([0, 3], "1 parameter of 7 has gradients"), ([3, 4], "2 parameters of 7")],
)
def test_inputs_are_not_counted_among_the_parameters(wrong: list[int], said: str) -> None:
    nonfinite = np.where(LATE & np.isin(np.arange(DEPTH), wrong)[:, None], 3, 0)
    finding = one(run(nonfinite=nonfinite, parameters=(weight(0, is_input=True), *BEHIND[1:])))
    assert finding.kind == "gradient-nonfinite" and finding.why.startswith(f"In step = 20 {said}")


def test_loss_that_is_inf_and_then_nan_is_counted_as_both() -> None:
    finding = one(run(loss=np.where(LATE, np.where(STEPS > 20, np.nan, np.inf), 1.0)))
    assert finding.label == "The loss is inf" and finding.why.endswith("It is nan or inf in 20 of 40 iterations.")


@pytest.mark.parametrize("found", [
    run(), joined(run(), 4), run(loss=np.zeros(COLUMNS), norm=where(LATE, 0, "norm")),
    run(norm=run().rows["norm"] * np.logspace(-2, 0, DEPTH)[:, None]), run(ratio=np.full((DEPTH, COLUMNS), np.nan)),
    run(ratio=where((np.arange(DEPTH) == 7)[:, None], 0.2, "ratio")), run(rate=0.1 * (1 + np.cos(STEPS * np.pi / 39))),
    run(rate=0.1 * np.minimum(1, STEPS / 39)), run(rate=0.1 * 0.75**STEPS), run(rate=np.zeros(COLUMNS)),
    run(updates=0, ratio=np.full((DEPTH, COLUMNS), np.nan), about_gradients=True), APART,
    run(norm=where((np.arange(DEPTH) == 0)[:, None], 0, "norm"), parameters=(weight(0, is_input=True), *BEHIND[1:])),
    run(parameters=(weight(0, is_input=True), *BEHIND[1:])),
    run(norm=np.where(STEPS > 3, np.nan, run().rows["norm"]), parameters=(weight(0, is_unheld=True), *BEHIND[1:])),
], ids=["sound", "joined", "solved", "fades a hundredfold", "never updated", "one head has large updates", "a cosine",
        "a warm-up", "a decay", "no learning rate", "gradients that are only looked at", "two networks side by side",
        "an input without a gradient", "an input", "gradients that only come for a while"])  # fmt: skip
def test_sound_runs_have_none(found: Overview) -> None:
    assert run_findings(found) == []


def test_a_gradient_that_flips_from_one_recorded_iteration_to_the_next_is_not_told_of_those_between() -> None:
    skipped = np.where(np.arange(COLUMNS + 1) > 1, 49, 0)
    assert run_findings(run(norm=8 + 0 * FADING, mean=FLIPS, skipped=skipped)) == []


def test_one_of_many_gradients_that_flips_a_few_times_does_so_by_chance() -> None:
    is_alone, is_short = (np.arange(DEPTH) == 3)[:, None], STEPS < COLUMNS // 2
    alone = np.where(is_alone, FLIPS, np.where(STEPS % 3, 1.0, -1.0))
    assert one(run(norm=8 + 0 * FADING, mean=alone)).row == 3
    assert run_findings(run(norm=8 + 0 * FADING, mean=np.where(is_short, np.nan, alone))) == []
    assert one(run(norm=8 + 0 * FADING, mean=np.where(is_short, np.nan, FLIPS))).kind == "flips"


def test_growth_per_iteration_counts_those_that_are_not_recorded() -> None:
    skipped = np.where((np.arange(COLUMNS + 1) > 0) & (np.arange(COLUMNS + 1) < COLUMNS), 9, 0)
    grown = ILL["exploding-run"]
    per_column, per_iteration = (one(replace(grown, skipped=counts)).why for counts in (grown.skipped, skipped))
    assert "× 1.32 per iteration" in per_column and "× 1.03 per iteration" in per_iteration
