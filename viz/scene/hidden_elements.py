"""The elements in folded groups, by name: a search in the browser finds them and unfolds their groups."""

from __future__ import annotations

from ..schema.scene import HiddenElements, HiddenGroup, NodeKind, Role
from .reading import Reading
from .visible_graph import VisibleGraph


def hidden(reading: Reading, visible: VisibleGraph) -> HiddenElements | None:
    """The elements that a folded group stands for, and the groups inside it; None if nothing is folded.

    Equal iterations of a loop have equal names, so these are listed once. Cost: linear in the elements of folded
    groups.
    """
    if not visible.folded:
        return None
    drawing, grouping = visible.drawing, visible.drawing.grouping
    names: dict[tuple[NodeKind, Role, str, str, str], int] = {}
    nodes = []
    for ident in drawing.graph:
        item = drawing.items[ident]
        if visible.home[item.group] is None or item.kind == "stub":  # a stub is a tensor that is found at its own place
            continue
        name = (item.kind, item.role, *reading.head(item))
        nodes.append((ident, names.setdefault(name, len(names)), item.group))
    inside = [group for group in grouping.labels if visible.home[group] not in (None, group)]
    groups: list[HiddenGroup] = []
    for group in inside:
        groups.append({"id": group, "label": grouping.labels[group], "within": grouping.within[group]})
        if group in grouping.loops:
            groups[-1]["round"] = True
    return {"names": list(names), "nodes": nodes, "groups": groups}
