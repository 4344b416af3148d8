"""The queue of nodes that are ready to run: highest sequence number first.

All AccumulateGrads have the same number, so the heap decides the order among them.  PyTorch uses C++'s
`std::priority_queue`; `push` and `pop` move elements exactly as its usual implementation does (Williams' heap with the
hole sifted to the bottom first), and leaves therefore receive their gradients in PyTorch's order.
"""

from __future__ import annotations

from typing import Any


def push(heap: list[Any], node: Any) -> None:
    """Add a node.  Logarithmic in the number of ready nodes."""
    hole = len(heap)
    heap.append(node)
    if hole and heap[(hole - 1) // 2].sequence_nr < node.sequence_nr:
        _raise(heap, hole, node)


def pop(heap: list[Any]) -> Any:
    """Remove and return the next node to run; the heap must not be empty.

    >>> class N:
    ...     def __init__(self, number): self.sequence_nr = number
    >>> heap = []
    >>> for number in (3, 9, 5): push(heap, N(number))
    >>> [pop(heap).sequence_nr for _ in range(3)]
    [9, 5, 3]
    """
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    if len(heap) == 1:
        heap[0] = last
        return first
    length = len(heap)
    hole = below = 0
    while below < (length - 1) // 2:
        below = 2 * (below + 1)
        if heap[below].sequence_nr < heap[below - 1].sequence_nr:
            below -= 1
        heap[hole] = heap[below]
        hole = below
    if length % 2 == 0 and below == (length - 2) // 2:
        below = 2 * below + 1
        heap[hole] = heap[below]
        hole = below
    _raise(heap, hole, last)
    return first


def _raise(heap: list[Any], hole: int, node: Any) -> None:
    """Put `node` into the hole, or higher up, above all nodes of a lower number."""
    number = node.sequence_nr
    while hole:
        above = (hole - 1) // 2
        if heap[above].sequence_nr >= number:
            break
        heap[hole] = heap[above]
        hole = above
    heap[hole] = node
