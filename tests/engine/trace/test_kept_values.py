"""The recorded values of a moment stay as they were then, whatever the program writes later, and through which name.

Each value is copied as it is kept, and compared at the end of a random program.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
import pytest

import engine
from engine.trace import summary
from engine.trace.events import OpCalled, Value
from engine.trace.summary import Summary, sample_of, statistics
from engine.trace.value_store import BLOCK, LIMIT, Arena, ValueStore

from ..walk import Walk


class WatchedValues(list[Any]):
    """The values of a recording, with copies made as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: list[Any] = []

    def append(self, value: Any) -> None:
        super().append(value)
        self.copies.append(self.now(value))

    def extend(self, values: Iterable[Any]) -> None:
        for value in values:
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> Self:  # type: ignore[misc]  # of any kind, as list's own
        self.extend(values)
        return self

    def now(self, value: Any) -> Any:
        """The present content of a value: its elements, or the statistics of a large one."""
        if isinstance(value, Summary):
            array = value.pending_array
            return np.array(list((value.stats if array is None else statistics(array)).values()))
        return value.copy() if isinstance(value, np.ndarray) else None

    def changed(self) -> list[int]:
        """The numbers of the values that are not what they were."""
        pairs = enumerate(zip(self, self.copies, strict=True))
        return [i for i, (value, old) in pairs if old is not None and not np.array_equal(self.now(value), old, True)]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[WatchedValues]]:
    """The values of each recording that is made."""
    made: list[WatchedValues] = []
    begin = ValueStore.__init__

    def begun(self: ValueStore, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        self.values = WatchedValues()
        made.append(self.values)

    monkeypatch.setattr(ValueStore, "__init__", begun)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield made


@pytest.mark.parametrize(
    ("first", "limit"), [*((seed, LIMIT) for seed in range(0, 500, 25)), *((seed, 2) for seed in range(0, 200, 25))]
)
def test_value_stays_as_it_was_when_it_was_kept(first: int, limit: int, kept: list[WatchedValues]) -> None:
    for seed in range(first, first + 25):
        with engine.record(limit=limit):
            Walk(seed).run(8 + seed % 24)
        values = kept.pop()
        assert len(values) > 2
        assert values.changed() == [], f"seed {seed}"


def test_write_in_place_copies_what_is_recorded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []
    copy = Arena.copy

    def noted(self: Arena, data: Any) -> Any:
        copied.append(data.size)
        return copy(self, data)

    monkeypatch.setattr(Arena, "copy", noted)
    x = engine.zeros(100)
    with engine.record():
        for _ in range(5):
            x.add_(1)
        assert copied == [100] * 5
    assert copied == [100] * 6  # the last one too, which the program may write unannounced from here on


def test_what_is_written_after_a_recording_is_not_in_it() -> None:
    x, w = engine.zeros(4, 4), engine.ones(3, requires_grad=True)
    with engine.record() as trace:
        transposed = x.t()
        (transposed + 1).relu_()
        (w * 2).sum().backward()
    assert w.grad is not None
    x.add_(7)
    w.grad.mul_(100)
    with engine.no_grad():
        w.mul_(100)
    arrays = [trace.value(number).array for number in range(len(trace.values))]
    assert all(array is not None and array.max() < 7 for array in arrays)


def test_large_value_is_looked_at_once_just_before_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def noted(data: Any) -> dict[str, float]:
        seen.append(float(data[0]))
        return statistics(data)

    monkeypatch.setattr(summary, "statistics", noted)
    x = engine.zeros(100)
    with engine.record(limit=10) as trace:
        for _ in range(5):
            x.add_(1)
        assert seen == [0, 1, 2, 3, 4]
    assert seen == [0, 1, 2, 3, 4, 5]
    x.add_(1)
    assert [trace.value(i).stats["max"] for i in range(6)] == [0, 1, 2, 3, 4, 5]


def test_gradient_that_several_nodes_pass_on_is_looked_at_once(kept: list[WatchedValues]) -> None:
    x = engine.ones(100, requires_grad=True)
    with engine.record(limit=10):
        (((x + 1) - 2) + 3).backward(engine.ones(100))
    large = [value for value in kept.pop() if isinstance(value, Summary)]
    assert len(large) > 8
    assert len({id(value) for value in large}) == 7  # x, three results, the seed gradient, its copy, and x.grad


def test_views_of_the_same_elements_are_looked_at_once(
    monkeypatch: pytest.MonkeyPatch, kept: list[WatchedValues]
) -> None:
    looked: list[tuple[int, ...]] = []

    def noted(data: Any) -> dict[str, float]:
        looked.append(data.shape)
        return statistics(data)

    monkeypatch.setattr(summary, "statistics", noted)
    x = engine.ones(4, 25)
    with engine.record(limit=10) as trace:
        flat = x.reshape(100)
        turned = x.t()
        x.add_(1)
        (flat + 0, turned + 0)
    stats = [(trace.value(i).shape, trace.value(i).stats["max"]) for i in range(len(trace.values))]
    assert stats[:3] == [((4, 25), 1), ((100,), 1), ((25, 4), 1)]
    assert looked[:2] == [(4, 25), (4, 25)]  # once before the write, once after it


def test_copies_of_a_training_lie_in_blocks(kept: list[WatchedValues]) -> None:
    size = 50_000
    w = engine.ones(size, requires_grad=True)
    steps = engine.optim.Adam([w])
    with engine.record():
        for _ in range(4):
            w.grad = engine.ones(size)
            steps.step()
    held = list(kept.pop())
    blocks = {id(array.base) for array in held if array.base is not None and array.base.nbytes == BLOCK}
    copies = [array for array in held if array.nbytes == 4 * size and array.base is not None]
    assert len(copies) > 16
    assert len(blocks) == 1


@pytest.mark.parametrize("shape", [(500, 300), (1, 70_000), (3, 1, 50_000), (70_000, 2), (8, 4, 64, 64), (2, 300_000)])
def test_statistics_are_those_of_the_elements_wherever_they_lie(shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(0).standard_normal(shape).astype("float32")
    memory = np.empty(data.nbytes + 64, "uint8")
    found = [statistics(data)]
    for start in range(0, 64, 4):
        moved = memory[start : start + data.nbytes].view("float32").reshape(shape)
        moved[...] = data
        found.append(statistics(moved))
    assert all(stats == found[0] for stats in found)
    exact = data.astype("float64")
    turned = statistics(np.asfortranarray(data))
    assert {**turned, "mean": 0, "norm": 0} == {**found[0], "mean": 0, "norm": 0}
    assert (turned["mean"], turned["norm"]) == pytest.approx((found[0]["mean"], found[0]["norm"]), rel=1e-5)
    assert found[0]["norm"] == pytest.approx(np.linalg.norm(exact), rel=1e-7)
    assert found[0]["mean"] == pytest.approx(exact.mean(), abs=1e-8)


@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e-12, 1e15, 1e30])
def test_norm_of_tiny_and_of_huge_numbers_is_true(scale: float) -> None:
    data = (np.arange(1, 5001) * np.float32(scale)).astype("float32")
    stats = statistics(data)
    assert stats["norm"] == pytest.approx(np.linalg.norm(data.astype("float64")), rel=1e-6)


def test_what_is_not_finite_is_counted_and_left_out() -> None:
    data = np.tile(np.float32([0, 1, -2, np.nan, np.inf, -np.inf, 3, 0]), 50_000)
    stats = statistics(data)
    assert (stats["min"], stats["max"], stats["mean"]) == (-2, 3, 0.4)
    assert (stats["nan"], stats["inf"], stats["zeros"], stats["size"]) == (50_000, 100_000, 100_000, 400_000)


def test_values_are_alike_whatever_the_order_of_their_sums() -> None:
    data = np.random.default_rng(0).standard_normal(100_000).astype("float32")

    def value(**other: float) -> Value:
        return Value(data.shape, "float32", None, sample_of(data), {**statistics(data), **other})

    stats = statistics(data)
    assert value().is_like(value(norm=stats["norm"] * (1 + 1e-8), mean=stats["mean"] + 1e-9))
    for key, change in {"min": 1e-6, "max": 1e-6, "zeros": 1, "nan": 1, "norm": 0.01, "mean": 1e-5}.items():
        assert not value().is_like(value(**{key: stats[key] + change})), key


@pytest.mark.parametrize("name", ["unsafe_chunk", "unsafe_split"])
def test_write_to_a_part_that_is_no_view_leaves_the_value_of_the_whole(name: str) -> None:
    with engine.record() as trace:
        whole: Any = engine.tensor([1.0, 2.0, 3.0, 4.0]) * 1
        first, second = getattr(whole, name)(2)
        first.add_(10)
        second.mul_(3)
    results = [
        [trace.value(out.value).array for out in one.outputs] for one in trace.events if isinstance(one, OpCalled)
    ]
    assert [[part.tolist() for part in parts if part is not None] for parts in results] == [
        [[1, 2, 3, 4]], [[1, 2], [3, 4]], [[11, 12]], [[9, 12]],
    ]  # fmt: skip
