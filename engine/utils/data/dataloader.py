"""DataLoader: the samples of a data set in batches."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ...api.creation import creation
from ...api.shape.joining import stack
from ...arrays import errors
from ...arrays.array import float64
from ...arrays.session import slot, unrecorded
from ...tensor.tensor import Tensor
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]


class DataLoader:
    """Batches of a data set, each sample drawn by a sampler and put together by `collate_fn`.

    All is loaded in the process that asks (`num_workers` and the like are taken, and of no effect).  Rows of a
    TensorDataset are put together unrecorded: a batch is a leaf.

    Raises ValueError for options that exclude each other.  Source: torch.utils.data.DataLoader.

    >>> import engine as torch
    >>> from engine.utils.data import TensorDataset
    >>> [batch[0].tolist() for batch in DataLoader(TensorDataset(torch.arange(5)), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
        multiprocessing_context: Any = None, generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.generator = generator
        _check(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self._counted = not isinstance(dataset, IterableDataset)
        if sampler is None and self._counted:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None and sampler is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        batches = batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate if batches else default_convert)

    def __iter__(self) -> Iterator[Any]:
        if (active := slot.active) is not None:  # an epoch begins: nothing else that is recorded may tell so
            with active.within("DataLoader"):
                pass
        if not self._counted:
            yield from self._stream()
        elif self.batch_sampler is not None:
            for indices in self.batch_sampler:
                yield self._batch(indices)
        else:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])

    def _stream(self) -> Iterator[Any]:
        """The batches of a data set without indices."""
        if self.batch_size is None:
            yield from (self.collate_fn(sample) for sample in self.dataset)
            return
        batch: list[Any] = []
        for sample in self.dataset:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def _batch(self, indices: list[Any]) -> Any:
        tensors = rows_of(self.dataset) if self.collate_fn is default_collate else None
        if tensors is None:
            if hasattr(self.dataset, "__getitems__"):
                return self.collate_fn(self.dataset.__getitems__(indices))
            return self.collate_fn([self.dataset[index] for index in indices])
        source = self.dataset
        while isinstance(source, Subset):
            indices, source = [source.indices[index] for index in indices], source.dataset
        with unrecorded():
            batch = [tensor[indices] for tensor in tensors]
        if (active := slot.active) is not None:
            for tensor in batch:
                active.see(tensor, "DataLoader")
        return batch

    def __len__(self) -> int:
        if not self._counted:
            size = len(self.dataset)
            if self.batch_size is None:
                return size
            return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def _check(dataset: Any, batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    """torch's refusals of options that exclude each other."""
    if isinstance(dataset, IterableDataset):
        for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


def rows_of(dataset: Any) -> tuple[Tensor, ...] | None:
    """The tensors whose rows are the samples, where it is as simple as that."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    if type(dataset) is not TensorDataset or any(tensor.requires_grad for tensor in dataset.tensors):
        return None
    return dataset.tensors


def default_collate(batch: Any) -> Any:
    """Samples joined: tensors stacked, numbers as a tensor, lists and dicts item by item.

    Shapes: (*), ... N of them -> (N, *).  Raises RuntimeError where shapes or lengths differ.
    Source: torch.utils.data.default_collate.

    >>> import engine as torch
    >>> default_collate([(torch.tensor([1.0, 2.0]), {"a": 1}), (torch.tensor([3.0, 4.0]), {"a": 2})])
    [tensor([[1., 2.],
            [3., 4.]]), {'a': tensor([1, 2])}]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind in "SUO":
            raise _strange(first.dtype)
        return default_collate([creation.as_tensor(sample) for sample in batch])
    if isinstance(first, (np.bool_, np.number)):
        return creation.as_tensor(np.asarray(batch))
    if isinstance(first, float):
        return creation.tensor(batch, dtype=float64)
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(samples) for samples in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise errors.runtime("each element in list of batch should be of equal size")
        return _sequence(first, [default_collate(samples) for samples in zip(*batch, strict=True)])
    raise _strange(type(first))


def _mapping(first: Any, fields: dict[Any, Any]) -> Any:
    try:
        if isinstance(first, MutableMapping):
            result = copy.copy(first)
            result.update(fields)
            return result
        return type(first)(fields)
    except TypeError:
        return fields


def _sequence(first: Any, items: list[Any]) -> Any:
    if isinstance(first, tuple):
        return items
    try:
        if isinstance(first, MutableSequence):
            result = copy.copy(first)
            for place, item in enumerate(items):
                result[place] = item
            return result
        return type(first)(items)
    except TypeError:
        return items


def _strange(kind: object) -> TypeError:
    return TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}"
    )


def default_convert(data: Any) -> Any:
    """numpy arrays in a sample as tensors, without batching.

    Source: torch.utils.data.default_convert.

    >>> import engine as torch
    >>> torch.utils.data.default_convert([1, "a"])
    [1, 'a']
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else creation.as_tensor(np.asarray(data))
    if isinstance(data, Mapping):
        return _mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence(data, [default_convert(item) for item in data])
    return data


def get_worker_info() -> None:
    """None: samples are made in the process of the program, never in a worker.

    Source: torch.utils.data.get_worker_info.

    >>> import engine as torch
    >>> torch.utils.data.get_worker_info() is None
    True
    """
