"""Parameters whose gradient is 0 because the gradients of their uses cancel."""

from __future__ import annotations

from collections import defaultdict

from engine.trace.events import Accumulated, NodeRecord, OpCalled, Trace, VjpRun

from .iterations import Section


def cancelled(trace: Trace, section: Section) -> set[int]:
    """The leaves that receive only zeros in a section, of which each is the sum of nonzero gradients of several uses.

    So is the last bias of a Siamese network, whose loss is about the difference of its two outputs: it has no effect.
    Linear in the events; only the values of gradients that are 0 are read, and those that add up to them.
    """
    nodes: dict[int, NodeRecord] = {}
    parts: defaultdict[int, list[int]] = defaultdict(list)
    sums: defaultdict[int, list[int]] = defaultdict(list)
    for index in range(section.start, section.end):
        match trace.events[index]:
            case OpCalled(node=NodeRecord() as record):
                nodes[record.node] = record
            case VjpRun(node=node, cotangents=cotangents) if node in nodes:
                for edge, cotangent in zip(nodes[node].edges, cotangents, strict=False):
                    if edge is not None and edge.leaf is not None and cotangent is not None:
                        parts[edge.leaf].append(cotangent)
            case Accumulated(tensor=tensor, added=added, retained=False):
                sums[tensor].append(added)
    return {
        leaf for leaf, values in sums.items()
        if len(parts[leaf]) > 1
        and all(trace.value(value).is_zero for value in values)
        and not all(trace.value(value).is_zero for value in parts[leaf])
    }  # fmt: skip
