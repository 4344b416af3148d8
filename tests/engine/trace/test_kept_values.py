"""What a recording holds of a moment stays as it was then, whatever the program writes later, and through which name.

Each value is copied as it is kept, and compared at the end of a random program.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
import pytest

import engine
from engine.trace.arena import BLOCK, Arena
from engine.trace.building import worked_out
from engine.trace.recorder import Recorder
from engine.trace.summary import Summary

from ..walk import Walk


class Watched(list[Any]):
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
        """What a value holds now; None for the statistics of a large one."""
        made = worked_out(value, self)
        return made.copy() if isinstance(made, np.ndarray) else None

    def changed(self) -> list[int]:
        """The numbers of the values that are not what they were."""
        pairs = enumerate(zip(self, self.copies, strict=True))
        return [i for i, (value, old) in pairs if old is not None and not np.array_equal(self.now(value), old, True)]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Watched]]:
    """The values of each recording that is made."""
    made: list[Watched] = []
    begin = Recorder.__init__

    def begun(self: Recorder, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        self.values = Watched()
        made.append(self.values)

    monkeypatch.setattr(Recorder, "__init__", begun)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield made


@pytest.mark.parametrize("first", range(0, 500, 25))
def test_value_stays_as_it_was_when_it_was_kept(first: int, kept: list[Watched]) -> None:
    for seed in range(first, first + 25):
        with engine.record():
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
    with engine.record(limit=10):
        for _ in range(5):
            x.add_(1)
    assert copied == [100] * 5


@pytest.mark.parametrize("size", [50_000, 100_000])
def test_copies_of_a_training_lie_in_blocks(size: int, kept: list[Watched]) -> None:
    w = engine.ones(size, requires_grad=True)
    steps = engine.optim.Adam([w])
    with engine.record():
        for _ in range(4):
            w.grad = engine.ones(size)
            steps.step()
    held = [value.held if isinstance(value, Summary) else value for value in kept.pop()]
    blocks = {id(array.base) for array in held if array.base is not None and array.base.nbytes == BLOCK}
    copies = [array for array in held if array.nbytes == 4 * size and array.base is not None]
    assert len(copies) > 16
    assert len(blocks) == 1
