"""The backward graph of a tensor as data that both libraries give alike."""

from __future__ import annotations

from typing import Any


def names(node: Any) -> Any:
    if node is None:
        return None
    short = node.name().replace("torch::autograd::", "")
    return (short, [(names(n), nr) for n, nr in node.next_functions])
