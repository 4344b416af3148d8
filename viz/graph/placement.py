"""The group of a tensor that no op computed: not one that began after the tensor existed.

What a module owns stands in it.  What a loop takes apart (`for x in rows`) is of its rounds all the same, and what
has a module or a list around it (`net[0].weight`) belongs where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..reading.facts import Facts
from .gradient_free import is_owned
from .groups import Grouping


def innermost(grouping: Grouping, ops: Sequence[int]) -> str | None:
    """The innermost group that holds all of some ops."""
    paths = [grouping.path(grouping.of.get(op))[::-1] for op in ops]
    common: str | None = None
    for level in zip(*paths, strict=False):
        if any(group != level[0] for group in level):
            break
        common = level[0]
    return common


def owner(facts: Facts, grouping: Grouping, tensor: int) -> str | None:
    """The module's call in which a parameter or a buffer stands: the innermost one around its first use, also where
    several calls use it.  Uses through which a gradient comes back count first, and an optimiser owns nothing."""
    leaf = facts.tensors[tensor].leaf
    if leaf is None or not grouping.owners or not is_owned(leaf, facts.trace.names.get(tensor, "")):
        return None
    users = [op for version in facts.tensors[tensor].versions for op, _ in facts.uses.get((tensor, version), ())]
    for op in sorted(users, key=lambda op: (facts.node(op) is None, op)):
        found = grouping.owner(op)
        if found is not None:
            return found
    return None


def used_in(facts: Facts, grouping: Grouping, tensor: int, version: int) -> str | None:
    """The innermost group from which all gradients of a leaf come; of others that which holds their uses.

    What was made of a leaf later stands where it is used, also where gradients come from several groups.
    """
    fact, recorded = facts.tensors[tensor], []
    if facts.is_leaf(tensor, version):
        users = [op for v in fact.versions for op, _ in facts.uses.get((tensor, v), ())]
        recorded = [op for op in users if facts.node(op) is not None]
    found = innermost(grouping, recorded)
    if found is not None or (recorded and version == fact.first):
        return found
    return innermost(grouping, [op for op, _ in facts.uses.get((tensor, version), ())])


def home(facts: Facts, grouping: Grouping, tensor: int, version: int, group: str | None) -> str | None:
    """The group around or at `group` in which a tensor stands that is used there, and that no op computed.

    A leaf leaves the rounds of loops that it was made before, what passes no gradient on the calls too.
    """
    path = grouping.path(group)
    for place in reversed(path):
        if _was_before(facts, grouping, tensor, version, place):
            around = grouping.within[place]
            while around in grouping.parts:  # of so many rounds
                around = grouping.within[around]
            return around
    return group


def _was_before(facts: Facts, grouping: Grouping, tensor: int, version: int, group: str) -> bool:
    name = facts.trace.names.get(tensor, "")
    fact = facts.tensors[tensor]
    made = facts.trace.events[fact.since.get(version, fact.event)].stack
    frames = facts.trace.stacks[made] if 0 <= made < len(facts.trace.stacks) else ()
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
