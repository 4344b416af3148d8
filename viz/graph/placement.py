"""The group in which a tensor is drawn: for one that no op computed, never one that began after it existed.

A module's own tensors are in it. An element of a loop's list (`for x in rows`) is nevertheless in its iteration, and a
tensor in a module or a list (`net[0].weight`) belongs where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..reading.facts import Facts
from .gradient_free import is_owned
from .groups import Grouping


def group_of(facts: Facts, grouping: Grouping, tensor: int, version: int) -> str | None:
    """The group of a tensor: an op's single result is in the op's group; a leaf, and one of several results, in the
    innermost group that contains its uses.

    So an element of `for x in rows` is in the iteration that uses it, and the weights of a layer are in that layer: an
    optimiser's write does not take them out of a group from which all of their gradients come.  A value that an
    initialization replaces is in that, and the last one that it sets where the model uses it.
    """
    producer = facts.tensors[tensor].producers.get(version)
    users = [op for op, _ in facts.uses.get((tensor, version), ())]
    if facts.tensors[tensor].leaf is not None and users and all(_initializes(grouping, op) for op in users):
        return _innermost(grouping, users)
    if producer is not None and _is_only_set(facts, grouping, tensor):
        return grouping.of.get(producer)
    if producer is None or (facts.tensors[tensor].leaf is not None and _initializes(grouping, producer)):
        return group_of_leaf(facts, grouping, tensor, version)
    if grouping.modules and tensor in facts.roots:
        return _around_model(grouping, grouping.of.get(producer))  # visible even if the op of the loss is folded away
    if len(facts.ops[producer].event.outputs) == 1 or not facts.uses.get((tensor, version)):
        return grouping.of.get(producer)
    return _used_in(facts, grouping, tensor, version)


def group_of_leaf(facts: Facts, grouping: Grouping, tensor: int, version: int, within: str | None = None) -> str | None:
    """The group of a tensor that no op computed; `within` is that of its use, by default the one around all uses."""
    owner = _owner(facts, grouping, tensor, version)
    if owner is not None:
        return owner
    return _home(
        facts, grouping, tensor, version, _used_in(facts, grouping, tensor, version) if within is None else within
    )


def _around_model(grouping: Grouping, group: str | None) -> str | None:
    """The innermost group, from `group` outwards, that calls modules and is not such a call itself."""
    around = {one for module in grouping.modules for one in grouping.paths[module]} - grouping.modules
    return next((one for one in grouping.paths[group] if one in around), None)


def _initializes(grouping: Grouping, op: int) -> bool:
    """Return whether an op is part of an initialization."""
    return any(grouping.quiet.get(group) == "start" for group in grouping.paths[grouping.of.get(op)])


def _is_only_set(facts: Facts, grouping: Grouping, tensor: int) -> bool:
    """Return whether a leaf is used by an initialization only, and neither a variable nor a module of the program holds
    it: the weight of a layer that was replaced by another one."""
    fact = facts.tensors[tensor]
    if fact.leaf is None or fact.leaf.source != "seen" or facts.names.get(tensor, "").isidentifier():
        return False
    uses = [op for version in fact.versions for op, _ in facts.uses.get((tensor, version), ())]
    return all(_initializes(grouping, op) for op in (*uses, *fact.producers.values()) if op is not None)


def _innermost(grouping: Grouping, ops: Sequence[int]) -> str | None:
    """The innermost group that contains all of some ops."""
    paths = [grouping.paths[grouping.of.get(op)][::-1] for op in ops]
    common: str | None = None
    for level in zip(*paths, strict=False):
        if any(group != level[0] for group in level):
            break
        common = level[0]
    return common


def _owner(facts: Facts, grouping: Grouping, tensor: int, version: int) -> str | None:
    """The module's call in which a parameter or a buffer is drawn: the innermost one around its first use, also if
    several calls use it.

    Uses through which a gradient comes back count first, and an optimiser owns nothing.  What `x.data` gave it belongs
    to the next call, or if there is none, to what computed it: the call before would wait for its own successor.
    """
    fact = facts.tensors[tensor]
    if fact.leaf is None or not grouping.owners or not is_owned(fact.leaf, facts.trace.names.get(tensor, "")):
        return None
    source = fact.data_sources.get(version)
    versions = fact.versions if source is None else [one for one in fact.versions if one >= version]
    users = [op for one in versions for op, _ in facts.uses.get((tensor, one), ())]
    for op in sorted(users, key=lambda op: (facts.node(op) is None, op)):
        group = next((one for one in grouping.paths[grouping.of.get(op)] if one in grouping.owners), None)
        if group is not None:
            return group
    writer = None if source is None else facts.producer(*source)
    return None if writer is None else grouping.of.get(writer)


def _used_in(facts: Facts, grouping: Grouping, tensor: int, version: int) -> str | None:
    """The innermost group from which all gradients of a leaf come; if there are none, the one that contains its uses.

    What is made of a leaf later is drawn where it is used, also if gradients come from several groups.
    """
    fact, recorded = facts.tensors[tensor], []
    if version in fact.leaf_versions:
        users = [op for v in fact.versions for op, _ in facts.uses.get((tensor, v), ())]
        recorded = [op for op in users if facts.node(op) is not None]
    group = _innermost(grouping, recorded)
    if group is not None or (recorded and version == fact.first):
        return group
    return _innermost(grouping, [op for op, _ in facts.uses.get((tensor, version), ())])


def _home(facts: Facts, grouping: Grouping, tensor: int, version: int, group: str | None) -> str | None:
    """The group, from `group` outwards, of a tensor that is used there and that no op computed.

    A leaf is outside of loops that began after it was made; one that passes no gradient is outside of such calls too.
    """
    path = grouping.paths[group]
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
        return name not in loop.sources and not any(
            f.file == loop.file and loop.line < f.line <= loop.end for f in frames
        )
    if group in grouping.callers and not fact.requires_grad:
        calls = [f for f in frames[:-1] if (f.line, f.col, f.end_line, f.end_col) == grouping.callers[group]]
        if fact.leaf is not None and fact.leaf.source == "DataLoader":  # known only where it is used first
            return all(name in facts.sources.operands(f) for f in calls)
        return not calls
    return False
