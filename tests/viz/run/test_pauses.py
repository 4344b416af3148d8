"""The sections of a recording that has paused, and what is known at the beginning of each."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import backstep
from engine.trace.events import Accumulated, GradSet, LeafCreated, Refreshed, Trace
from viz.findings.errors.explain import explain
from viz.findings.runs import run_findings
from viz.run.measures import measured
from viz.run.run import Run
from viz.run.window import Windows
from viz.scene.reading import reading_of
from viz.scene.run_overview import document

HEAD = """\
import engine as torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.ones(4, 3), torch.zeros(4, 1)
def evaluate():
    with torch.no_grad():
        return (model(x) - y).square().mean().item()
"""
LOSS = "loss = (model(x) - y).square().mean()\n"
FOR = f"""\
for epoch in range(2):
    for step in range(10):
        opt.zero_grad()
        {LOSS}\
        loss.backward()
        opt.step()
        total = loss.item() * 2
"""
WHILE = f"""\
step = 0
while step < 20:
    {LOSS}\
    opt.zero_grad()
    loss.backward()
    opt.step()
    total = (loss * 2).item()
    step += 1
"""
ROUNDS = f"""\
rounds = 0
while True:
    opt.zero_grad()
    for micro in range(2):
        {LOSS}\
        loss.backward()
    opt.step()
    rounds += 1
    if rounds == 12:
        break
"""
STEPS = [f"epoch = {epoch} · step = {step}" for epoch, step in ((0, 0), (0, 1), (0, 5), (1, 0), (1, 5))]


def recorded(text: str, folder: Path, every: int = 5) -> Trace:
    script, file = folder / f"train_{len(text)}.py", folder / "train.backstep"  # Python keeps the lines of a file
    script.write_text(HEAD + text, "utf-8")
    with backstep.record(file, record_every=every, pause=True):
        exec(compile(HEAD + text, str(script), "exec"), {"__name__": "__main__"})
    return backstep.open(file)


def names(trace: Trace) -> list[str]:
    return [section.name for section in Run(trace).sections]


def test_iterations_have_the_names_that_they_have_without_a_pause(tmp_path: Path) -> None:
    assert names(recorded(FOR, tmp_path)) == STEPS


def test_code_outside_of_the_loop_is_a_section_and_the_end_of_a_skipped_pass_is_not(tmp_path: Path) -> None:
    trace = recorded(FOR + "    print(evaluate())\n", tmp_path)
    evaluations = [f"epoch = {epoch} · print(evaluate())" for epoch in range(2)]
    assert names(trace) == [*STEPS[:3], evaluations[0], *STEPS[3:], evaluations[1]]


def test_passes_of_a_loop_without_a_variable_have_the_numbers_of_their_updates(tmp_path: Path) -> None:
    assert names(recorded(WHILE, tmp_path)) == [f"update {number}" for number in (0, 1, 5, 10, 15)]
    rounds = names(recorded(ROUNDS, tmp_path))
    assert {name for name in rounds if name.startswith("update 5")} == {
        "update 5 · micro = 0", "update 5 · micro = 1", "update 5 · opt.step()",
    }  # fmt: skip
    assert not any(name.startswith("update 4") for name in rounds)


def test_an_error_after_a_pause_has_a_section_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        recorded(WHILE + "    if step == 13:\n        1 / 0\n", tmp_path)
    run = Run(backstep.open(tmp_path / "train.backstep"))
    assert [section.name for section in run.sections][-2:] == ["update 10", "after the pause"]
    assert run.trace(len(run.sections) - 1).meta["section"]["resumed"] == 13
    assert run.opens == len(run.sections) - 1
    read = reading_of(run.trace(run.opens))
    error = explain(read.facts, read.drawing)
    assert error is not None and "in iteration 13, when the recording had paused" in error.why
    assert error.fix.endswith("run it again with `--steps 12: --pause`.")


def test_section_after_a_pause_begins_with_the_numbers_of_then(tmp_path: Path) -> None:
    trace = recorded(FOR, tmp_path)
    run = Run(trace)
    window = run.trace(2)
    weight = next(tensor for tensor, name in window.names.items() if name == "model.weight")
    (leaf,) = [one for one in window.events if isinstance(one, LeafCreated) and one.tensor == weight]
    brought = [
        one for one in trace.events if isinstance(one, Refreshed) and trace.names.get(one.tensor) == "model.weight"
    ]
    now = trace.value(brought[0].value).array
    assert np.asarray(window.value(leaf.value).array).tolist() == np.asarray(now).tolist()
    assert not any(isinstance(one, Refreshed) for one in window.events)
    assert window.meta["section"]["changed"] == {}  # the update that changed it is not recorded


def test_gradient_from_before_a_pause_is_not_shown_as_that_of_then(tmp_path: Path) -> None:
    trace = recorded(FOR.replace("        opt.zero_grad()\n", ""), tmp_path)
    run = Run(trace)
    for number in (1, 2):
        window = Windows(trace, run.outline, run.sections).trace(number)
        leaves = [one for one in window.events if isinstance(one, LeafCreated) and one.requires_grad]
        assert not any(isinstance(one, GradSet) for one in window.events)
        assert [leaf.grad is None for leaf in leaves] == [number == 2] * len(leaves)
        assert all(one.before is not None for one in window.events if isinstance(one, Accumulated))


def test_overview_says_what_is_not_recorded(tmp_path: Path) -> None:
    run = Run(recorded(FOR, tmp_path)).overview
    assert run.skipped.tolist() == [0, 0, 3, 4, 4, 4] and run.resumed == {2: 5, 3: 10, 4: 15}
    shown = document(run, "program", 1, None)
    assert (shown["updates"], shown["skipped"]) == (5, 15)


def test_a_nan_that_may_have_come_up_in_a_pause_names_the_iterations_to_record(tmp_path: Path) -> None:
    broken = FOR.replace("        loss.backward()\n", "        (loss / (step != 3)).backward()\n")
    (finding,) = run_findings(Run(recorded(broken, tmp_path)).overview)
    assert finding.kind in ("loss-nonfinite", "gradient-nonfinite") and finding.column == 2
    assert "the 3 iterations before it are not recorded. `--steps 2:6 --pause` records them too." in finding.fix


def test_numbers_that_are_computed_again_are_those_of_the_file(tmp_path: Path) -> None:
    trace = recorded(FOR, tmp_path)
    outline = Run(trace).outline
    noted, again = outline.measures, measured(trace, replace(outline, measures=None, measured=0))
    assert noted is not None and len(noted.updates.ratio) == 10
    for table in ("gradients", "updates", "losses"):
        for column in fields(getattr(noted, table)):
            mine, its = (getattr(getattr(one, table), column.name) for one in (again, noted))
            assert np.array_equal(mine, its, equal_nan=True), (table, column.name)
