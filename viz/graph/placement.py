"""The group of a tensor that no op computed: never one that began after the tensor existed.

A module's own tensors are in it. An element of a loop's list (`for x in rows`) is nevertheless in its iteration, and a
tensor in a module or a list (`net[0].weight`) belongs where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..reading.facts import Facts
from .gradient_free import is_owned
from .groups import Grouping


def innermost(grouping: Grouping, ops: Sequence[int]) -> str | None:
    """The innermost group that contains all of some ops."""
    paths = [grouping.path(grouping.of.get(op))[::-1] for op in ops]
    common: str | None = None
    for level in zip(*paths, strict=False):
        if any(group != level[0] for group in level):
            break
        common = level[0]
    return common


def owner(facts: Facts, grouping: Grouping, tensor: int) -> str | None:
    """The module's call in which a parameter or a buffer is drawn: the innermost one around its first use, also if
    several calls use it.

    Uses through which a gradient comes back count first, and an optimiser owns nothing.
    """
    leaf = facts.tensors[tensor].leaf
    if leaf is None or not grouping.owners or not is_owned(leaf, facts.trace.names.get(tensor, "")):
        return None
    users = [op for version in facts.tensors[tensor].versions for op, _ in facts.uses.get((tensor, version), ())]
    for op in sorted(users, key=lambda op: (facts.node(op) is None, op)):
        group = grouping.owner(op)
        if group is not None:
            return group
    return None


def used_in(facts: Facts, grouping: Grouping, tensor: int, version: int) -> str | None:
    """The innermost group from which all gradients of a leaf come; if there are none, the one that contains its uses.

    What is made of a leaf later is drawn where it is used, also if gradients come from several groups.
    """
    fact, recorded = facts.tensors[tensor], []
    if version in fact.leaf_versions:
        users = [op for v in fact.versions for op, _ in facts.uses.get((tensor, v), ())]
        recorded = [op for op in users if facts.node(op) is not None]
    group = innermost(grouping, recorded)
    if group is not None or (recorded and version == fact.first):
        return group
    return innermost(grouping, [op for op, _ in facts.uses.get((tensor, version), ())])


def home(facts: Facts, grouping: Grouping, tensor: int, version: int, group: str | None) -> str | None:
    """The group, from `group` outwards, of a tensor that is used there and that no op computed.

    A leaf is outside of loops that began after it was made; one that passes no gradient is outside of such calls too.
    """
    path = grouping.path(group)
    for place in reversed(path):
        if _was_before(facts, grouping, tensor, version, place):
            around = grouping.within[place]
            while around in grouping.parts:  # of so many iterations
                around = grouping.within[around]
            return around
    return group


def _was_before(facts: Facts, grouping: Grouping, tensor: int, version: int, group: str) -> bool:
    name = facts.trace.names.get(tensor, "")
    fact = facts.tensors[tensor]
    stack = facts.trace.events[fact.since.get(version, fact.event)].stack
    frames = facts.trace.stacks[stack] if 0 <= stack < len(facts.trace.stacks) else ()
    if not name.isidentifier() or not frames:
        return False
    loop = grouping.loops.get(group)
    if loop is not None:
        return name not in loop.taken and not any(
            f.file == loop.file and loop.line < f.line <= loop.end for f in frames
        )
    if group in grouping.callers and not fact.requires_grad:
        return all((f.line, f.col, f.end_line, f.end_col) != grouping.callers[group] for f in frames[:-1])
    return False
