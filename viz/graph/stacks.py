"""Stacks: series of equal groups that are drawn as one node with a strip of cells, and the drawing of one that is open.

A stack is open if one of its members is: those before it and those after it form a stack each. These runs are groups
like others, but for one picture only: the open members determine them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby

from .graph import Drawing
from .groups import Grouping, range_label
from .scopes import plain


def with_runs(drawing: Drawing, folded: AbstractSet[str]) -> tuple[Drawing, frozenset[str]]:
    """The drawing in which the folded members of open stacks are in runs, and the groups that are folded in it.

    If a stack is not folded and no member of it is open, the first one is. Cost: linear in the groups.
    """
    grouping = drawing.grouping
    if not grouping.stacks:
        return drawing, frozenset(folded)
    closed = set(folded)
    runs: dict[str, Sequence[str]] = {}
    for stack, members in members_of_stacks(grouping).items():
        if stack in closed:
            continue
        if closed.issuperset(members):
            closed.discard(members[0])
        for is_folded, together in groupby(members, closed.__contains__):
            run = list(together)
            if is_folded and len(run) > 1:
                runs[f"{run[0]}…{run[-1]}"] = run
    return replace(drawing, grouping=_with(grouping, runs)), frozenset(closed.union(runs))


def members_of_stacks(grouping: Grouping) -> Mapping[str, Sequence[str]]:
    """The members of each stack in the order of the program; outer stacks come first."""
    members: dict[str, list[str]] = defaultdict(list)
    for group, around in grouping.within.items():
        if around in grouping.stacks:
            members[around].append(group)
    return {group: members[group] for group in grouping.within if group in members}


def _with(grouping: Grouping, runs: Mapping[str, Sequence[str]]) -> Grouping:
    """A grouping with further groups, each around some of its groups."""
    begins = {members[0]: run for run, members in runs.items()}
    around = {member: run for run, members in runs.items() for member in members}
    labels: dict[str, str] = {}
    within: dict[str, str | None] = {}
    for group, label in grouping.labels.items():
        if group in begins:
            first, last = (plain(grouping.labels[runs[begins[group]][end]]) for end in (0, -1))
            labels[begins[group]], within[begins[group]] = range_label(first, last), grouping.within[group]
        labels[group], within[group] = label, around.get(group, grouping.within[group])
    kin = {**grouping.kin, **{run: labels[run] for run in runs}}
    return replace(grouping, labels=labels, within=within, kin=kin, stacks=grouping.stacks.union(runs))
