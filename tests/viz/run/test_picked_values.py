"""A scene reads each value of a file once, and keeps the elements of small ones only."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import engine as torch
from engine import nn
from engine.trace.events import OpCalled, Trace
from engine.trace.file import tracefile
from viz.graph.folds import FOLD_ABOVE
from viz.run.picked_values import SMALL, LazyValue
from viz.run.run import Run
from viz.scene.scene import scene


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A training run with values of more than SMALL elements, in enough layers to be folded."""
    torch.manual_seed(0)
    layers = [layer for _ in range(8) for layer in (nn.Linear(9, 9), nn.ReLU())]
    model: Any = nn.Sequential(*layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.record() as trace:
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(9, 9)).square().mean().backward()
            optimizer.step()
    trace.save(str(tmp_path / "run.backstep"))
    return tmp_path / "run.backstep"


BLOCK = 8
"""Values that are read together here."""


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How many times each value was read, if the file keeps a single block of them."""
    counts: Counter[int] = Counter()
    read = tracefile._read_value

    def counted(row: tuple[Any, ...]) -> Any:
        counts[row[0]] += 1
        return read(row)

    monkeypatch.setattr(tracefile, "_read_value", counted)
    monkeypatch.setattr(tracefile, "rows_at_once", lambda size, rows: BLOCK)
    monkeypatch.setattr(tracefile, "blocks_kept", lambda size, rows, block: 1)
    return counts


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The values whose elements or samples were asked for after they had been read."""
    numbers: set[int] = set()

    def noting(name: str) -> property:
        own = LazyValue.__dict__[name]

        def get(value: LazyValue) -> Any:
            numbers.add(value._number)
            return own.fget(value)

        return property(get)

    for name in ("array", "sample"):
        monkeypatch.setattr(LazyValue, name, noting(name))
    return numbers


@pytest.mark.parametrize("is_told", [False, True], ids=["an iteration", "the whole run"])
def test_a_scene_reads_each_value_once(path: Path, reads: Counter[int], asked: set[int], is_told: bool) -> None:
    run = Run(Trace.open(str(path)), is_told=is_told)
    window = run.trace(run.opens)
    reads.clear()
    made = scene(window, fold_above=FOLD_ABOVE)
    again = {number // BLOCK for number, count in reads.items() if count > 1}
    assert again <= {number // BLOCK for number in asked}
    assert len(reads) > 100 and len(again) < len(reads) // BLOCK / 2, "the elements of few are asked for"
    assert any(value["data"] is None for value in made["values"]), "there are larger values"


def test_values_without_their_elements_are_those_of_the_file(path: Path) -> None:
    run = Run(Trace.open(str(path)))
    window, whole = run.trace(1), Trace.open(str(path))
    large = 0
    for number, value in zip(window.values.numbers, window.values, strict=True):  # type: ignore[attr-defined]
        original = whole.value(number)
        assert value.is_like(original) and value.is_whole
        assert (value.shape, value.dtype, value.sample.tolist()) == (
            original.shape, original.dtype, original.sample.tolist(),
        )  # fmt: skip
        assert {key: value.stats[key] for key in ("min", "mean", "norm", "zeros")} == {
            key: original.stats[key] for key in ("min", "mean", "norm", "zeros")
        }
        large += isinstance(value, LazyValue)
        assert isinstance(value, LazyValue) == (original.array is not None and original.array.size > SMALL)
    assert 0 < large < len(window.values)


def test_part_of_the_values_is_a_list(path: Path) -> None:
    values = Run(Trace.open(str(path))).trace(1).values
    assert [value.shape for value in values[1:4]] == [values[k].shape for k in (1, 2, 3)]


def test_a_value_that_is_asked_for_its_few_elements_is_not_read(path: Path, reads: Counter[int]) -> None:
    window = Run(Trace.open(str(path))).trace(1)
    outputs = [event.outputs[0].value for event in window.events if isinstance(event, OpCalled)]
    large = [number for number in outputs if window.value(number).array_up_to(SMALL) is None]
    for number in large:
        assert window.value(number).stats["norm"] >= 0
    reads.clear()
    assert large and all(window.value(number).array_up_to(16) is None for number in large)
    assert not reads
    assert window.value(large[0]).array is not None and reads
