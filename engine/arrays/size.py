"""Size: a shape, as the tuple that torch makes of it."""

from __future__ import annotations

from typing import Any


def _whole_size(number: Any, place: int) -> int:
    elements = getattr(number, "_array", None)  # of a tensor: one of bools could be an index, and is no size
    if (elements is not None and elements.dtype.kind not in "iu") or not hasattr(number, "__index__"):
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{type(number).__name__}')")
    return int(number.__index__())


class Size(tuple[int, ...]):
    """A shape, printed as torch prints it.

    Source: torch.Size.

    >>> Size((2, 3))
    torch.Size([2, 3])
    """

    def __new__(cls, sizes: Any = ()) -> Size:
        """Sizes from an iterable of whole numbers, which tensors of integers may be."""
        numbers = tuple(sizes)
        if any(type(n) is not int for n in numbers):
            numbers = tuple(_whole_size(n, place) for place, n in enumerate(numbers))
        return tuple.__new__(cls, numbers)

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for n in self:
            count *= n
        return count

    def __getitem__(self, key: Any) -> Any:
        picked = tuple.__getitem__(self, key)
        return tuple.__new__(Size, picked) if isinstance(key, slice) else picked

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(other, self))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"
