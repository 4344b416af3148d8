"""The queue of ready nodes: highest number first, and torch's order among those of one number."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.backward.ready_queue import pop, push


@dataclass
class NumberedNode:
    sequence_nr: int


@given(st.lists(st.integers(0, 9)))
def test_pop_takes_the_highest_number(numbers: list[int]) -> None:
    heap: list[NumberedNode] = []
    for number in numbers:
        push(heap, NumberedNode(number))
    assert [pop(heap).sequence_nr for _ in numbers] == sorted(numbers, reverse=True)


def test_leaves_receive_their_gradients_in_the_order_of_torch() -> None:
    expected = {  # seen with PyTorch 2.13
        3: [0, 1, 2], 4: [0, 2, 1, 3], 5: [0, 2, 4, 1, 3], 6: [0, 2, 5, 4, 1, 3], 8: [0, 2, 6, 5, 7, 4, 1, 3],
    }  # fmt: skip
    for count, order in expected.items():
        leaves = [engine.tensor(float(i), requires_grad=True) for i in range(count)]
        seen: list[int] = []
        for i, leaf in enumerate(leaves):
            leaf.register_hook(lambda grad, i=i, seen=seen: seen.append(i))
        engine.stack(leaves).sum().backward()
        assert seen == order
