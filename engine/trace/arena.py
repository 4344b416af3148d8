"""Memory for copies that stay: taken from large blocks, of which the system hands out two megabytes at a time.

A copy that is kept is memory that the process did not have before.  The system hands it out in pages of 4 KB, each
filled with zeros first: of a megabyte that takes thirty times as long as the copying.  numpy asks for large pages
where an array has 4 MB or more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

BLOCK = 2**24
"""Bytes of a block."""
LEAST, MOST = 2**15, 2**22
"""Bytes of an array that goes into a block: smaller ones have memory that was used before, larger ones large pages of
their own."""
ALIGNED = 64


class Arena:
    """Copies of arrays in blocks; a block is freed when the last of its copies is.

    >>> arena = Arena()
    >>> row = np.ones((3, 20_000))
    >>> copied = arena.copy(row)
    >>> row[...] = 0
    >>> copied.shape, copied.dtype, bool((copied == 1).all()), copied.flags.c_contiguous
    ((3, 20000), dtype('float64'), True, True)
    """

    def __init__(self) -> None:
        self._block = np.empty(0, "uint8")
        self._free = 0

    def copy(self, data: Any) -> Any:
        """A copy in C order."""
        size = data.nbytes
        if not LEAST <= size < MOST or type(data) is not np.ndarray:
            return data.copy()
        start = self._free
        if start + size > len(self._block):
            self._block, start = np.empty(BLOCK, "uint8"), 0
        self._free = -(-(start + size) // ALIGNED) * ALIGNED
        made = self._block[start : start + size].view(data.dtype).reshape(data.shape)
        made[...] = data
        return made
