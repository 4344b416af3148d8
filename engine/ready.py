"""The queue of nodes that are ready to run: highest sequence number first.

All AccumulateGrads have the same number, so that the order among them is the heap's own.  PyTorch uses C++'s
`std::priority_queue`; `push` and `pop` move elements exactly as its usual implementation does (Williams' heap with the
hole sifted to the bottom first), and leaves therefore receive their gradients in PyTorch's order.
"""

from __future__ import annotations

from typing import Any


def push(heap: list[Any], node: Any) -> None:
    """Add a node.  Logarithmic in the number of ready nodes."""
    heap.append(node)
    _raise(heap, len(heap) - 1, node)


def pop(heap: list[Any]) -> Any:
    """Take the node to run next out of a heap that is not empty.

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
    hole = child = 0
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if heap[child].sequence_nr < heap[child - 1].sequence_nr:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    _raise(heap, hole, last)
    return first


def _raise(heap: list[Any], hole: int, node: Any) -> None:
    """Put `node` where the hole is, or above, past all that are lower."""
    number = node.sequence_nr
    while hole:
        above = (hole - 1) // 2
        if heap[above].sequence_nr >= number:
            break
        heap[hole] = heap[above]
        hole = above
    heap[hole] = node
