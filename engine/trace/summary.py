"""What a recording keeps instead of an array: the summary of a large one, or what stands for one that is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite, prod, sqrt
from typing import Any

import numpy as np

from ..arrays.array import Array, to_numpy, xp

SAMPLE = 64
"""Elements in a sample."""


class Summary:
    """A summary of an array over the limit: statistics and at most 64 elements, taken with an even stride.

    The statistics are worked out when they are first asked for, when many wait, or just before the array is written,
    which is sooner done than a copy: till then the array itself is held.  `of` is the summary of an array that has the
    same elements in another shape: they are looked at once for both.
    """

    __slots__ = ("_elements", "_sample", "dtype", "shape", "size")

    def __init__(self, data: Any, of: Summary | None = None) -> None:
        self._elements: _Elements = _Elements(data) if of is None else of._elements
        self._sample = sample_of(data).copy()
        self.shape: tuple[int, ...] = data.shape
        self.dtype = data.dtype
        self.size: int = data.size

    @property
    def pending_array(self) -> Any:
        """The array, perhaps in another shape, while it waits to be looked at; None afterwards."""
        return self._elements.data

    @property
    def base(self) -> Any:
        """The owner of its memory, like an array's `base`: the array while it waits, None afterwards."""
        return self._elements.data

    @property
    def same(self) -> int:
        """A number that the summaries of an array's elements have in common, whatever its shape."""
        return id(self._elements)

    @property
    def sample(self) -> Any:
        return to_numpy(self._sample)

    @property
    def stats(self) -> dict[str, float]:
        return self.look()

    def look(self) -> dict[str, float]:
        """The statistics; the array is let go.  Linear in its size."""
        return self._elements.look()


class _Elements:
    """The elements of an array until they are looked at, and then their statistics."""

    __slots__ = ("data", "stats")

    def __init__(self, data: Any) -> None:
        self.data: Any = data
        self.stats: dict[str, float] | None = None

    def look(self) -> dict[str, float]:
        """The statistics.

        Two threads may be at it, the program and the one that streams.  What the second found while the first was
        about to write is not taken: by then the array is let go.
        """
        while self.stats is None:
            data = self.data
            if data is None:  # the other thread is just done
                continue
            stats = statistics(data)
            if self.data is data:
                self.stats, self.data = stats, None
        return self.stats


class StoredArray:
    """Stands for an array that is in the file and that nobody else holds."""

    __slots__ = ("dtype", "shape", "size")
    base = None

    def __init__(self, data: Any) -> None:
        self.shape, self.dtype, self.size = data.shape, data.dtype, data.size


class PendingArray:
    """The place of an array in a recording until its elements are there: whoever reads them waits.

    >>> array = PendingArray((2,), np.dtype("float32"), lambda: np.array([1, 2], "float32"))
    >>> array.size, array.nbytes, array.read().tolist()
    (2, 8, [1.0, 2.0])
    """

    __slots__ = ("_array", "_arrive", "dtype", "nbytes", "shape", "size")
    base = None

    def __init__(self, shape: tuple[int, ...], dtype: Any, arrive: Callable[[], Any]) -> None:
        self.shape, self.dtype, self.size = shape, dtype, prod(shape)
        self.nbytes = self.size * int(dtype.itemsize)
        self._arrive: Callable[[], Any] | None = arrive
        self._array: Any = None

    @property
    def is_there(self) -> bool:
        """Whether somebody has read it."""
        return self._arrive is None

    def read(self) -> Any:
        """The array.  Two threads may ask, the program's and the one that writes the file."""
        arrive = self._arrive
        if arrive is not None:
            self._array = arrive()
            self._arrive = None
        return self._array


def sample_of(data: Any) -> Any:
    """At most `SAMPLE` of the elements of an array, with an even stride in its own order; a vector.

    >>> sample_of(np.arange(130).reshape(10, 13).T)[:4]
    array([ 0, 39, 78, 117])
    """
    scattered = isinstance(data, np.ndarray) and not data.flags.c_contiguous
    flat = data.flat if scattered else data.reshape(-1)
    return flat[:: max(1, -(-data.size // SAMPLE))]


BLOCK = 2**17
"""Elements that are looked at together: few enough to stay in the processor's cache from one look to the next."""
ROW = 1024
"""Elements whose sum is taken in float32: few enough that seven digits of it are true."""
ONES = np.ones(ROW, "float32")
SQUARES = 1e-12, 1e15
"""Between these lies the largest element of a block whose squares neither overflow in float32 nor vanish."""


def statistics(data: Array) -> dict[str, float]:
    """min, max, mean and norm of the finite elements, and how many are nan, infinite, zero.  Linear in the size."""
    low, high = float("inf"), -float("inf")
    total = squares = 0.0
    nan = inf = zeros = 0
    is_zero = np.empty(min(BLOCK, data.size), bool) if isinstance(data, np.ndarray) else None
    with np.errstate(all="ignore"):  # sums of elements that are not finite are taken again without these
        for block in blocks(data):
            by_row = row_sums(block)
            least, most = ends_of(block)
            if least <= 0 <= most or least != least:
                equal = block == 0 if is_zero is None else np.equal(block, 0, out=is_zero[: block.size])
                if equal.any():  # hardly any weight is zero, and to count them takes longer
                    zeros += int(xp.count_nonzero(equal))
            if not isfinite(most - least):
                finite = block[xp.isfinite(block)]
                odd = int(xp.isnan(block).sum())
                nan, inf = nan + odd, inf + int(block.size - finite.size) - odd
                if not finite.size:
                    continue
                block, by_row, (least, most) = finite, row_sums(finite), ends_of(finite)
            low, high = min(low, least), max(high, most)
            added, squared = sums_of(block, by_row, max(-least, most))
            total, squares = total + added, squares + squared
    count = int(data.size) - nan - inf
    return {
        "min": low if count else 0.0,
        "max": high if count else 0.0,
        "mean": total / max(count, 1),
        "norm": sqrt(squares),
        "nan": nan,
        "inf": inf,
        "zeros": zeros,
        "size": int(data.size),
    }


def ends_of(block: Array) -> tuple[float, float]:
    """The least and the largest element; nan if there is one.

    The reductions are called themselves: the methods `min` and `max` of numpy are Python code around them.
    """
    if isinstance(block, np.ndarray):
        return float(np.minimum.reduce(block)), float(np.maximum.reduce(block))
    return float(block.min()), float(block.max())


def blocks(data: Array) -> Iterator[Array]:
    """The elements of an array in the order of its memory, as vectors of `BLOCK` elements, on a GPU as one.

    A transposed array is not copied; its mean and norm may differ from those of a copy in their last bits.
    """
    if not isinstance(data, np.ndarray):
        yield data.reshape(-1)
        return
    flat = data.ravel(order="K")
    for start in range(0, flat.size, BLOCK):
        yield flat[start : start + BLOCK]


def place_of(data: Any) -> object:
    """Where the elements of an array lie; the same for its reshaped and transposed views."""
    if isinstance(data, np.ndarray) and is_dense(data):
        return data.__array_interface__["data"][0], data.nbytes, data.dtype.char
    return id(data)


def is_dense(data: np.ndarray) -> bool:
    """Return whether an array has all elements between its first and its last, each once.

    >>> x = np.zeros((4, 6, 2))
    >>> is_dense(x.transpose(1, 0, 2)), is_dense(x[:, ::2]), is_dense(np.broadcast_to(x, (3, 4, 6, 2)))
    (True, False, False)
    """
    flags = data.flags
    if flags.c_contiguous or flags.f_contiguous:
        return True
    step = data.itemsize
    for stride, size in sorted(zip(data.strides, data.shape, strict=True)):
        if size > 1:
            if stride != step:
                return False
            step *= size
    return True


def row_sums(block: Array) -> Array | None:
    """The sums of the rows of a vector of float32, by the processor's dot product; None of any other.

    It reads several rows at once, so it is the quickest one to bring a block from memory into the cache.
    """
    if not (isinstance(block, np.ndarray) and block.dtype == "float32"):
        return None
    return block[: block.size - block.size % ROW].reshape(-1, ROW) @ ONES


def sums_of(block: Array, by_row: Array | None, largest: float) -> tuple[float, float]:
    """The sum of a vector and that of its squares; `largest` is the largest magnitude in it, `by_row` its `row_sums`.

    The squares of rows of float32 are summed likewise, in a tenth of the time of a sum in float64; the sums of the rows
    are added in float64.
    """
    if by_row is None or not SQUARES[0] < largest < SQUARES[1]:
        wide = block.astype("float64")
        return float(wide.sum()), float((wide * wide).sum())
    whole = by_row.size * ROW
    rows = block[:whole].reshape(-1, ROW)
    total = float(np.add.reduce(by_row, dtype="float64"))
    squares = float(np.add.reduce(np.vecdot(rows, rows), dtype="float64"))
    if whole < block.size:
        rest = block[whole:].astype("float64")
        total, squares = total + float(rest.sum()), squares + float((rest * rest).sum())
    return total, squares
