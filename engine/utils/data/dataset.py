"""Data sets: what has a length and gives one sample by its index, or samples one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...tensor.tensor import Tensor
from .sampler import shuffled

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset",
    "random_split",
]  # fmt: skip

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """The base of the data sets: a subclass has `__getitem__`, and mostly `__len__`.

    Source: torch.utils.data.Dataset.

    >>> import engine as torch
    >>> class Squares(torch.utils.data.Dataset):
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> Squares()[3]
    9
    """

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], Iterable[T]):
    """The base of the data sets that have no indices: a subclass has `__iter__`.

    Source: torch.utils.data.IterableDataset.

    >>> import engine as torch
    >>> class Count(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> list(Count())
    [1, 2]
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors of one first size; a sample is the row of each.

    Raises AssertionError where the first sizes differ.  Source: torch.utils.data.TensorDataset.

    >>> import engine as torch
    >>> TensorDataset(torch.tensor([1.0, 2.0]), torch.tensor([3, 4]))[1]
    (tensor(2.), tensor(4))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if not all(tensors[0].size(0) == tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class Subset(Dataset[T]):
    """The samples of a data set at some indices.

    Source: torch.utils.data.Subset.

    >>> import engine as torch
    >>> list(torch.utils.data.Subset([5, 6, 7], [0, 2]))
    [5, 7]
    """

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[Any]):
    """Data sets one after the other.

    Raises AssertionError for no data sets.  Source: torch.utils.data.ConcatDataset.

    >>> import engine as torch
    >>> len(torch.utils.data.ConcatDataset([[1, 2], [3]]))
    3
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        place = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[place - 1] if place else 0
        return self.datasets[place][index - before]


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset[Any]]:
    """The data set split at random into parts of the given lengths (or fractions that sum to 1).

    Raises ValueError where the lengths do not sum to the data set's.  Source: torch.utils.data.random_split.

    >>> import engine as torch
    >>> [len(part) for part in torch.utils.data.random_split([5, 6, 7], [2, 1])]
    [2, 1]
    """
    size = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _whole(lengths, size)
    if sum(lengths) != size:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = shuffled(size, generator)
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, indices[int(end - n) : int(end)]) for end, n in zip(ends, lengths, strict=True)]


def _whole(fractions: Sequence[float], size: int) -> list[int]:
    """Fractions as lengths; what is left over goes to the first ones, one each."""
    for place, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {place} is not between 0 and 1")
    lengths = [math.floor(size * fraction) for fraction in fractions]
    for place in range(size - sum(lengths)):
        lengths[place % len(lengths)] += 1
    for place, length in enumerate(lengths):
        if length == 0:
            warnings.warn(
                f"Length of split at index {place} is 0. This might result in an empty dataset.", stacklevel=3
            )
    return lengths


class ChainDataset(IterableDataset[Any]):
    """Streams, one after the other.

    Raises AssertionError for what is no stream.  Source: torch.utils.data.ChainDataset.

    >>> import engine as torch
    >>> class Count(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> list(torch.utils.data.ChainDataset([Count(), Count()]))
    [1, 2, 1, 2]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _streams(self) -> Iterator[Any]:
        for one in self.datasets:
            if not isinstance(one, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield one

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self._streams())

    def __len__(self) -> int:
        return sum(len(one) for one in self._streams())


class StackDataset(Dataset[Any]):
    """Data sets of one length side by side: a sample is a tuple with one of each, or a dict where they have names.

    Raises ValueError where their lengths differ, and where some have names and some have none.
    Source: torch.utils.data.StackDataset.

    >>> import engine as torch
    >>> torch.utils.data.StackDataset(x=[1, 2], y=[3, 4])[1]
    {'x': 2, 'y': 4}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        lengths = [len(one) for one in (args or kwargs.values())]
        if len(set(lengths)) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: one[index] for name, one in self.datasets.items()}
        return tuple(one[index] for one in self.datasets)

    def __len__(self) -> int:
        return self._length
