"""In which order samples are taken: samplers of indices, and of batches of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...api.creation import creation
from ...api.random import draws
from ...arrays.array import float64
from ...arrays.session import unrecorded

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


def shuffled(size: int, generator: Any = None) -> list[int]:
    """The numbers below `size` in an order drawn by the engine's generator, or by another."""
    with unrecorded():
        order: list[int] = draws.randperm(size, generator=generator).tolist()
    return order


class Sampler:
    """The base of the samplers: a subclass gives indices one after the other.

    Source: torch.utils.data.Sampler.

    >>> import engine as torch
    >>> isinstance(torch.utils.data.SequentialSampler([5, 6]), torch.utils.data.Sampler)
    True
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """All indices in order.

    Source: torch.utils.data.SequentialSampler.

    >>> import engine as torch
    >>> list(torch.utils.data.SequentialSampler([5, 6, 7]))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All indices in a new random order each time, or `num_samples` draws.

    Raises ValueError for a number of draws that is not positive.  Source: torch.utils.data.RandomSampler.

    >>> import engine as torch
    >>> sorted(torch.utils.data.RandomSampler([5, 6, 7]))
    [0, 1, 2]
    """

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """How many are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size, rest = len(self.data_source), self.num_samples
        while self.replacement and rest > 0:  # as many at once as torch: `num_samples` may stand for no end
            with unrecorded():
                indices: list[int] = draws.randint(0, size, (min(rest, 32),), generator=self.generator).tolist()
            rest -= len(indices)
            yield from indices
        while rest > 0:
            part = shuffled(size, self.generator)[:rest]
            rest -= len(part)
            yield from part

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Some indices, in a new random order each time.

    Source: torch.utils.data.SubsetRandomSampler.

    >>> import engine as torch
    >>> sorted(torch.utils.data.SubsetRandomSampler([4, 2]))
    [2, 4]
    """

    def __init__(self, indices: Any, generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        return iter([self.indices[place] for place in shuffled(len(self.indices), self.generator)])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with probabilities in proportion to weights.

    Raises ValueError for weights of other dimensions than one.  Source: torch.utils.data.WeightedRandomSampler.

    >>> import engine as torch
    >>> list(torch.utils.data.WeightedRandomSampler([0.0, 1.0], 2))
    [1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        with unrecorded():
            self.weights = creation.as_tensor(weights, dtype=float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        with unrecorded():
            indices = self.weights.multinomial(self.num_samples, self.replacement, generator=self.generator)
            return iter(indices.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """The indices of a sampler, in lists of `batch_size`.

    Raises ValueError for a size that is not positive.  Source: torch.utils.data.BatchSampler.

    >>> import engine as torch
    >>> list(torch.utils.data.BatchSampler(range(3), batch_size=2, drop_last=False))
    [[0, 1], [2]]
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        batch: list[Any] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]  # as in torch, an error where it has none
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
