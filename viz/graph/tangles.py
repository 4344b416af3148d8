"""Groups that depend on each other: if each uses results of the other, neither can come first.

This is rare, because groups are intervals of the recorded order and links go forwards in it. A tensor that is drawn
where it is used, or written in place across groups, can cause it, and without a remedy the picture could not be drawn
at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import replace

import networkx as nx

from .graph import Drawing
from .groups import Grouping

_Rooms = dict[str | None, dict[Hashable, dict[Hashable, None]]]


def untangle(drawing: Drawing) -> None:
    """Dissolve the groups of a drawing that are on a cycle with others, or with nodes beside them: their contents move
    to the group around.

    Cost: linear in links times the depth of groups, once more for each dissolved group.
    """
    while tangled := {group for room in _rooms(drawing).values() for group in _tangled(drawing.grouping, room)}:
        _dissolve(drawing, tangled)


def _rooms(drawing: Drawing) -> _Rooms:
    """The dependencies in each group among its direct members, nodes and groups.

    A link of a stub counts for its card too, where it may be drawn from that in a folded group.
    """
    paths: dict[str | None, list[str]] = {None: []}
    for group, around in drawing.grouping.within.items():
        paths[group] = [*paths[around], group]
    rooms: _Rooms = defaultdict(lambda: defaultdict(dict))
    for link in drawing.links.values():
        twin = drawing.twin(link.source)
        for source in (link.source, *(() if twin is None else (twin,))):
            ups, downs = (paths[drawing.items[end].group] for end in (source, link.target))
            shared = 0
            while shared < min(len(ups), len(downs)) and ups[shared] == downs[shared]:
                shared += 1
            room = rooms[ups[shared - 1] if shared else None]
            start = ups[shared] if shared < len(ups) else source
            room[start][downs[shared] if shared < len(downs) else link.target] = None
    return rooms


def _tangled(grouping: Grouping, room: Mapping[Hashable, Mapping[Hashable, None]]) -> set[str]:
    """The groups on cycles of a room.

    Most rooms have none, and finding that out is quicker than finding the connected components.
    """
    missing: dict[Hashable, int] = defaultdict(int)
    for targets in room.values():
        for target in targets:
            missing[target] += 1
    left = set(room).union(missing)
    fresh = [vertex for vertex in room if not missing[vertex]]
    while fresh:
        vertex = fresh.pop()
        left.discard(vertex)
        for target in room.get(vertex, ()):
            missing[target] -= 1
            if not missing[target]:
                fresh.append(target)
    if not left:
        return set()
    graph = nx.DiGraph((a, b) for a in left for b in room.get(a, ()) if b in left)
    tied = (part for part in nx.strongly_connected_components(graph) if len(part) > 1)
    return {vertex for part in tied for vertex in part if vertex in grouping.labels}


def _dissolve(drawing: Drawing, gone: set[str]) -> None:
    old = drawing.grouping
    around: dict[str | None, str | None] = {None: None}
    for group, outer in old.within.items():  # outer ones come first
        around[group] = around[outer] if group in gone else group
    drawing.grouping = replace(
        old,
        labels={group: label for group, label in old.labels.items() if group not in gone},
        within={group: around[outer] for group, outer in old.within.items() if group not in gone},
        of={op: around[group] for op, group in old.of.items()},
        calls=old.calls - gone, library=old.library - gone, modules=old.modules - gone, owners=old.owners - gone,
        stacks=old.stacks - gone,
        quiet={group: part for group, part in old.quiet.items() if group not in gone},
    )  # fmt: skip
    for ident, item in drawing.items.items():
        if item.group in gone:
            drawing.items[ident] = replace(item, group=around[item.group])
            if ident in drawing.graph:
                drawing.graph.nodes[ident]["item"] = drawing.items[ident]
