"""utils.data: batches, samplers and splits are torch's; only the draws are the engine's own."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine.trace.events import LeafCreated, OpCalled
from tests.parity.helpers.saying import as_torchs, said

torch = pytest.importorskip("torch")

Point = namedtuple("Point", "x y")


def data_of(t: Any) -> Any:
    return __import__(f"{t.__name__}.utils.data", fromlist=["data"])


def squares(t: Any, size: int = 7) -> Any:
    class Squares(data_of(t).Dataset):  # type: ignore[misc]  # the base is of either library
        def __len__(self) -> int:
            return size

        def __getitem__(self, index: int) -> Any:
            return {"x": t.tensor([float(index)]), "n": index, "f": index / 2, "s": str(index)}

    return Squares()


def stream(t: Any) -> Any:
    class Stream(data_of(t).IterableDataset):  # type: ignore[misc]  # the base is of either library
        def __iter__(self) -> Iterator[Any]:
            return iter([t.tensor(i) for i in range(5)])

    return Stream()


def rows(t: Any) -> Any:
    return data_of(t).TensorDataset(t.arange(12.0).reshape(6, 2), t.arange(6))


def plain(value: Any) -> Any:
    """What was loaded, with tensors as (dtype, numbers) and the kinds of containers by name."""
    if hasattr(value, "tolist"):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(inner) for inner in value]
    return value


def loaded(dataset: Callable[[Any], Any], **options: Any) -> Callable[[Any], Any]:
    def action(t: Any) -> Any:
        loader = data_of(t).DataLoader(dataset(t), **options)
        batches = [plain(batch) for batch in loader]
        return batches, len(loader) if not isinstance(loader.dataset, data_of(t).IterableDataset) else None

    return action


SAME: dict[str, Callable[[Any], Any]] = {
    "one by one": loaded(rows),
    "batches": loaded(rows, batch_size=4),
    "whole batches": loaded(rows, batch_size=4, drop_last=True),
    "dicts": loaded(squares, batch_size=3),
    "no batches": loaded(squares, batch_size=None),
    "stream": loaded(stream, batch_size=2),
    "stream without the rest": loaded(stream, batch_size=2, drop_last=True),
    "stream one by one": loaded(stream, batch_size=None),
    "subset": loaded(lambda t: data_of(t).Subset(rows(t), [5, 1, 1]), batch_size=2),
    "sum": loaded(lambda t: rows(t) + rows(t), batch_size=5),
    "list of lists": loaded(lambda t: [[1, 2.0], [3, 4.0]], batch_size=2),
    "arrays": loaded(lambda t: [np.arange(2), np.arange(2)], batch_size=2),
    "numpy numbers": loaded(lambda t: [np.float32(1), np.float32(2)], batch_size=2),
    "named tuples": loaded(lambda t: [Point(1, 2), Point(3, 4)], batch_size=2),
    "texts": loaded(lambda t: ["a", "b"], batch_size=2),
    "uneven lists": loaded(lambda t: [[1], [1, 2]], batch_size=2),
    "something else": loaded(lambda t: [object, object], batch_size=2),
    "own collation": loaded(squares, batch_size=3, collate_fn=lambda samples: [s["n"] for s in samples]),
    "own sampler": loaded(rows, batch_size=2, sampler=[4, 2, 0]),
    "own batches": loaded(rows, batch_sampler=[[0, 5], [1]]),
    "batches and a size": loaded(rows, batch_sampler=[[0]], batch_size=2),
    "sampler and shuffle": loaded(rows, sampler=[0], shuffle=True),
    "no size but a rest": loaded(rows, batch_size=None, drop_last=True),
    "shuffled stream": loaded(stream, shuffle=True),
    "stream with a sampler": loaded(stream, sampler=[1]),
    "no batch": loaded(rows, batch_size=0),
    "negative workers": loaded(rows, num_workers=-1),
    "tensors of several sizes": lambda t: data_of(t).TensorDataset(t.zeros(2), t.zeros(3)),
    "dataset without items": lambda t: data_of(t).Dataset()[0],
    "split of another length": lambda t: data_of(t).random_split(rows(t), [1, 2]),
    "split of fractions": lambda t: [len(part) for part in data_of(t).random_split(rows(t), [0.5, 0.3, 0.2])],
    "split of nothing": lambda t: [len(part) for part in data_of(t).random_split(rows(t), [1.0, 0.0])],
    "split of more than all": lambda t: data_of(t).random_split(rows(t), [1.5, -0.5]),
    "random sampler of nothing": lambda t: data_of(t).RandomSampler(rows(t), num_samples=0),
    "weights in two dimensions": lambda t: data_of(t).WeightedRandomSampler([[1.0]], 2),
    "item of a sum": lambda t: plain((rows(t) + rows(t))[-1]),
}


@pytest.mark.parametrize("name", SAME)
def test_loading_answers_as_torchs(name: str) -> None:
    assert said(engine, SAME[name], as_torchs) == said(torch, SAME[name], as_torchs)


def test_shuffled_batches_are_a_permutation_that_the_seed_decides() -> None:
    loader = data_of(engine).DataLoader(rows(engine), batch_size=4, shuffle=True)

    def order() -> list[int]:
        return [n for _, y in loader for n in y.tolist()]

    engine.manual_seed(3)
    first, second = order(), order()
    engine.manual_seed(3)
    assert order() == first and sorted(first) == list(range(6))
    assert second == order()
    assert any(order() != first for _ in range(9))


def test_parts_of_a_split_are_all_samples_once() -> None:
    parts = data_of(engine).random_split(rows(engine), [4, 2])
    assert sorted(i for part in parts for i in part.indices) == list(range(6))
    assert [len(part) for part in parts] == [4, 2]


def test_samplers_draw_as_many_as_asked_for() -> None:
    data = data_of(engine)
    source = rows(engine)
    assert len(list(data.RandomSampler(source, num_samples=15))) == 15
    assert set(data.RandomSampler(source, replacement=True, num_samples=50)) <= set(range(6))
    assert len(list(data.RandomSampler(source, replacement=True, num_samples=50))) == 50
    assert next(iter(data.RandomSampler(source, replacement=True, num_samples=10**10))) < 6  # for ever, as some train
    assert sorted(data.SubsetRandomSampler([9, 4, 7])) == [4, 7, 9]


def test_batches_of_rows_are_leaves_of_a_recording() -> None:
    loader = data_of(engine).DataLoader(rows(engine), batch_size=3)
    with engine.record() as trace:
        for x, _ in loader:
            _ = x * 2
    assert [e.source for e in trace.events if isinstance(e, LeafCreated)] == ["DataLoader"] * 4
    ops = [e for e in trace.events if isinstance(e, OpCalled)]
    assert [e.name for e in ops] == ["mul", "mul"]
    assert [trace.names[i.tensor] for e in ops for i in e.inputs if i.tensor is not None] == ["x", "x"]


@pytest.mark.parametrize(
    "expression",
    [
        "list(D.ChainDataset([Stream(), Stream()]))", "len(D.ChainDataset([Sized(), Sized()]))",
        "list(D.ChainDataset([[1]]))", "len(D.ChainDataset([[1]]))", "D.StackDataset([1, 2], [3, 4])[1]",
        "D.StackDataset(a=[1, 2], b=[3, 4])[0]", "len(D.StackDataset([1, 2], [3, 4]))", "D.StackDataset([1], [3, 4])",
        "D.StackDataset()", "D.StackDataset([1], b=[2])", "D.get_worker_info()",
        "[b.tolist() for b in D.DataLoader(D.ChainDataset([Stream(), Stream()]), batch_size=3)]",
    ],
)  # fmt: skip
def test_data_sets_of_data_sets_are_torchs(expression: str) -> None:
    data = pytest.importorskip("torch.utils.data")
    found = []
    for library in (engine.utils.data, data):

        class Stream(library.IterableDataset):  # type: ignore[misc, name-defined]  # of either library
            def __iter__(self) -> Any:
                return iter([1, 2])

        class Sized(Stream):
            def __len__(self) -> int:
                return 2

        try:
            found.append(eval(expression, {"D": library, "Stream": Stream, "Sized": Sized}))  # noqa: S307  # of the table
        except (AssertionError, ValueError) as error:
            found.append((type(error).__name__, str(error)))
    assert found[0] == found[1]
