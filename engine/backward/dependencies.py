"""The reach of a backward pass: the dependency count of each node, and which nodes lead to the requested inputs.

Nodes are compared by identity and have `targets`, the nodes that receive their gradients (None: no receiver).  Nothing
else about a node matters here.  Cost: linear in nodes and edges; no recursion, so that a graph may be deep.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def count_dependencies(roots: Iterable[Any]) -> dict[Any, int]:
    """How many edges lead to each node reachable from `roots`."""
    counts: dict[Any, int] = dict.fromkeys(roots, 0)
    stack = list(counts)
    pop, push_ = stack.pop, stack.append
    while stack:
        for target in pop().targets:
            if target in counts:
                counts[target] += 1
            elif target is not None:
                counts[target] = 1
                push_(target)
    return counts


def leading_to(targets: set[Any], roots: Iterable[Any]) -> set[Any]:
    """The nodes from which one of `targets` can be reached (and those themselves)."""
    nodes = set(targets)
    seen: set[Any] = set()
    for root in roots:  # one after the other, because a root may lead to another root
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(root.targets))]
        while stack:
            node, targets_left = stack[-1]
            for target in targets_left:
                if target is not None and target not in seen:
                    seen.add(target)
                    stack.append((target, iter(target.targets)))
                    break
            else:
                stack.pop()
                if any(target in nodes for target in node.targets if target is not None):
                    nodes.add(node)
    return nodes
