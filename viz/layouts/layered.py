"""Left to right in ranks, group by group: columns, boxes and routes that pass through no box but those they belong to.

Each open group is laid out for itself, edges over its border enter and leave by ports, and in the layout around it
the group has its folded size until order and heights are found.  Then its column is widened and its neighbours in that
column move apart: so a fold changes no order, and elsewhere nothing moves but sideways as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

import networkx as nx

from .ranked import LANE, Ranked, ranks
from .sheet import PAD, Point, Sheet, Size, clean

Piece = tuple[Hashable, Hashable | None, Hashable | None, Hashable]
"""A part of an edge inside one group: (edge, from, to, origin); None is a port."""
Step = tuple[Hashable, Hashable, Hashable]
"""From vertex to vertex of a group: (from, to, origin)."""
Places = Callable[[Ranked], list[float]]

SIZE: Size = (116.0, 56.0)
FOLDED: Size = (200.0, 76.0)
HEAD = 34.0
APART = 34.0
"""Room between parts of a group that do not hang together."""
SHIFT = 8.0
"""How far the routes of values and of gradients lie from the middle between them."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """Where edges meet a node, as heights from its middle: values and gradients on its right and left side."""

    right: float = -SHIFT
    right_back: float = SHIFT
    left: float = -SHIFT
    left_back: float = SHIFT
    fan: bool = True


@dataclass(slots=True)
class Placed:
    """Positions (centres) by node, boxes by open group, routes of values and of gradients by edge key."""

    positions: dict[Hashable, Point] = field(default_factory=dict)
    boxes: dict[Hashable, tuple[float, float, float, float]] = field(default_factory=dict)
    routes: dict[Hashable, list[Point]] = field(default_factory=dict)
    back: dict[Hashable, list[Point]] = field(default_factory=dict)
    name: str = "layered"
    note: str | None = None


@dataclass(slots=True)
class _Room:
    """One group's own layout: its size, and where things are from its top left corner."""

    size: Size = FOLDED
    at: dict[Hashable, Point] = field(default_factory=dict)
    ins: dict[Hashable, float] = field(default_factory=dict)
    outs: dict[Hashable, float] = field(default_factory=dict)
    parts: dict[Hashable, tuple[list[Point], list[Point]]] = field(default_factory=dict)


def place(graph: nx.DiGraph, places: Places) -> Placed:
    """Positions and routes of a directed acyclic graph (multi or not).

    Node attributes: `size` (w, h), `anchors`, `group` (the innermost open group).  `graph.graph["parents"]` has the
    group around each open group, outer ones first.  An edge's `origin` names what travels (default: its source): edges
    of one origin share their way.  Raises ValueError for a graph with a cycle.
    """
    return _Layered(graph, places).placed()


class _Layered:
    def __init__(self, graph: nx.DiGraph, places: Places) -> None:
        self.graph, self.places = graph, places
        self.parents: Mapping[Hashable, Hashable | None] = graph.graph.get("parents", {})
        self.children: dict[Hashable | None, list[Hashable]] = defaultdict(list)
        self.edges: list[tuple[Hashable, Hashable, Hashable, Hashable]] = []
        if graph.is_multigraph():
            self.edges = [(u, v, k, d.get("origin", u)) for u, v, k, d in graph.edges(keys=True, data=True)]
        else:
            self.edges = [(u, v, (u, v), d.get("origin", u)) for u, v, d in graph.edges(data=True)]
        self.rooms: dict[Hashable | None, _Room] = {}
        self.spines: dict[Hashable | None, list[Step]] = {}
        self.through: dict[Hashable, tuple[Hashable | None, Hashable | None]] = {}

    def placed(self) -> Placed:
        graph, parents = self.graph, self.parents
        path: dict[Hashable | None, list[Hashable | None]] = {None: [None]}
        for group, around in parents.items():
            path[group] = [*path[around], group]
        order = {node: i for i, node in enumerate(graph)}
        began: dict[Hashable, int] = {}
        for node, data in graph.nodes(data=True):
            self.children[data.get("group")].append(node)
            for group in path[data.get("group")][1:]:
                began.setdefault(group, order[node])
        for group, around in parents.items():
            if group in began:
                self.children[around].append(group)
        local = self.split(path)
        for group in path:  # outer ones first: they say by which ports the level line enters and leaves the inner ones
            if parents and (group is None or group in began):
                self.spines[group] = self.spine(group, local[group])
        for group in sorted(path, key=lambda g: -len(path[g])):
            if group is None or group in began:
                members = sorted(self.children[group], key=lambda n: began[n] if n in parents else order[n])
                self.rooms[group] = self.room(group, members, local[group])
        return self.collect([None, *(g for g in parents if g in began)])

    def split(self, path: Mapping[Hashable | None, list[Hashable | None]]) -> dict[Hashable | None, list[Piece]]:
        """Each edge cut at the borders of the groups it crosses: (edge, from, to, origin) per group; None is a port."""
        local: dict[Hashable | None, list[Piece]] = defaultdict(list)
        for u, v, key, origin in self.edges:
            ups, downs = path[self.graph.nodes[u].get("group")], path[self.graph.nodes[v].get("group")]
            shared = sum(1 for a, b in zip(ups, downs, strict=False) if a == b)
            ups_full: list[Hashable | None] = [*ups, u]
            downs_full: list[Hashable | None] = [*downs, v]
            for depth in range(len(ups) - 1, shared - 1, -1):
                local[ups[depth]].append((key, ups_full[depth + 1], None, origin))
            local[ups[shared - 1]].append((key, ups_full[shared], downs_full[shared], origin))
            for depth in range(shared, len(downs)):
                local[downs[depth]].append((key, None, downs_full[depth + 1], origin))
        return local

    def spine(self, group: Hashable | None, pieces: list[Piece]) -> list[Step]:
        """The longest way through a group: it is drawn level, and so is its way through the groups that it meets.

        Notes in `through` by which ports (named by origin) it enters and leaves them.
        """
        enter, leave = self.through.get(group, (None, None)) if group is not None else (None, None)
        steps = [(("in", o) if u is None else u, ("out", o) if v is None else v, o) for _, u, v, o in pieces]
        first, last = (None if o is None else (side, o) for side, o in (("in", enter), ("out", leave)))
        way = _longest(steps, first, last)
        origins = [None, *(o for _, _, o in way), None]
        for i, vertex in enumerate([*(u for u, _, _ in way), *(v for _, v, _ in way[-1:])]):
            if vertex in self.parents:
                self.through[vertex] = (origins[i], origins[i + 1])
        return way

    def held(self, vertex: Hashable) -> float:
        """How far below its top a vertex is held level: at the ports of the spine, else at its middle."""
        height = self.size(vertex)[1]
        if vertex not in self.parents or vertex not in self.through:
            return height / 2
        room, (enter, leave) = self.rooms[vertex], self.through[vertex]
        ports = [side[o] for side, o in ((room.ins, enter), (room.outs, leave)) if o is not None and o in side]
        return sum(ports) / len(ports) if ports else height / 2

    # -- one group ------------------------------------------------------------------------------------------------

    def size(self, vertex: Hashable) -> Size:
        room = self.rooms.get(vertex) if vertex in self.parents else None
        return room.size if room is not None else self.graph.nodes[vertex].get("size", SIZE)

    def room(
        self, group: Hashable | None, members: list[Hashable],
        edges: list[Piece],
    ) -> _Room:  # fmt: skip
        """Lay out the direct members of a group."""
        index: dict[Hashable, int] = {m: i for i, m in enumerate(members)}
        ends: list[tuple[int, int]] = []
        for _, u, v, origin in edges:
            a = index.setdefault(("in", origin), len(index)) if u is None else index[u]
            b = index.setdefault(("out", origin), len(index)) if v is None else index[v]
            ends.append((a, b))
        vertices = list(index)
        ins = [i for i, v in enumerate(vertices) if i >= len(members) and v[0] == "in"]  # type: ignore[index]
        outs = [i for i, v in enumerate(vertices) if i >= len(members) and v[0] == "out"]  # type: ignore[index]
        rank = ranks(len(vertices), ends, ins, outs)
        sheet = Sheet(vertices, len(members), rank)
        sheet.chains(ends, [origin for *_, origin in edges])
        sizes = [self.size(v) if i < len(members) else (0.0, LANE) for i, v in enumerate(vertices)]
        nominal = [
            FOLDED if v in self.parents and i < len(members) else s
            for i, (v, s) in enumerate(zip(vertices, sizes, strict=True))
        ]
        heavy = [(index[u], index[v], o) for u, v, o in self.spines.get(group, ()) if u in index and v in index]
        ranked = sheet.ranked([s[1] for s in nominal], heavy)
        holds = [self.held(v) if i < len(members) else LANE / 2 for i, v in enumerate(vertices)]
        y = self.stack(sheet, ranked, sizes, nominal, holds)
        return self.furnish(sheet, y, sizes, edges, ends, framed=group is not None)

    def stack(
        self, sheet: Sheet, ranked: Ranked, sizes: list[Size], nominal: list[Size], holds: list[float]
    ) -> list[float]:
        """Heights; what hangs together is placed for itself, one below the other in the order of the program."""
        y = [0.0] * len(ranked.ranks)
        bottom: float | None = None
        for part in ranked.components():
            for node, place in zip(part, self.places(ranked.part(part)), strict=True):
                y[node] = place
            sheet.widen(y, sizes, nominal, holds, part)
            halves = [(sizes[i][1] if i < len(sizes) else LANE) / 2 for i in part]
            top = min(y[i] - half for i, half in zip(part, halves, strict=True))
            if bottom is not None:
                for i in part:
                    y[i] += bottom + APART - top
            bottom = max(y[i] + half for i, half in zip(part, halves, strict=True))
        return y

    def furnish(
        self, sheet: Sheet, y: list[float], sizes: list[Size],
        edges: list[Piece], ends: list[tuple[int, int]], framed: bool,
    ) -> _Room:  # fmt: skip
        """Columns, then everything from the top left corner of the room; routes from border to border."""
        columns = sheet.columns(sizes, y, framed)
        heights = [sizes[i][1] if i < len(sizes) else LANE for i in range(len(y))]
        top = min((y[i] - heights[i] / 2 for i in range(len(y))), default=0.0) - (HEAD if framed else 0.0)
        bottom = max((y[i] + heights[i] / 2 for i in range(len(y))), default=0.0) + (PAD if framed else 0.0)
        y = [v - top for v in y]
        right = columns[-1][1] if columns else 0.0
        room = _Room((max(right, 0.0), bottom - top))
        for i, vertex in enumerate(sheet.vertices):
            x = (columns[sheet.rank[i]][0] + columns[sheet.rank[i]][1]) / 2
            if i < sheet.members:
                room.at[vertex] = (x, y[i])
            elif vertex[0] == "in":  # type: ignore[index]
                room.ins[vertex[1]] = y[i]  # type: ignore[index]
            else:
                room.outs[vertex[1]] = y[i]  # type: ignore[index]
        lefts = _fans(self, sheet, y, edges, ends)
        for (key, _, _, origin), (a, b) in zip(edges, ends, strict=True):
            out, out_back = self.right_end(sheet, y, sizes, a, origin)
            into, into_back = self.left_end(sheet, y, sizes, b, origin, lefts.get((key, b)))
            lanes = sheet.way(a, origin, b)
            middle = [(lane, columns[sheet.ranks[lane]]) for lane in lanes]
            ca, cb = columns[sheet.rank[a]], columns[sheet.rank[b]]
            xa = (ca[0] + ca[1] + sizes[a][0]) / 2
            xb = (cb[0] + cb[1] - sizes[b][0]) / 2
            bends = [p for lane, (x0, x1) in middle for p in ((x0, y[lane] - 3), (x1, y[lane] - 3))]
            bends_back = [p for lane, (x0, x1) in middle for p in ((x0, y[lane] + 3), (x1, y[lane] + 3))]
            room.parts[key] = (
                clean([(xa, out), (ca[1], out), *bends, (cb[0], into), (xb, into)]),
                clean([(xa, out_back), (ca[1], out_back), *bends_back, (cb[0], into_back), (xb, into_back)]),
            )
        return room

    def anchors(self, vertex: Hashable) -> Anchors:
        found: Anchors = self.graph.nodes[vertex].get("anchors", Anchors())
        return found

    def right_end(self, sheet: Sheet, y: list[float], sizes: list[Size], a: int, origin: Hashable) -> Point:
        """Heights at which values leave vertex `a` and gradients come back to it."""
        vertex = sheet.vertices[a]
        if a >= sheet.members:
            return y[a] - 3, y[a] + 3
        if vertex in self.parents:
            height = y[a] - sizes[a][1] / 2 + self.rooms[vertex].outs[origin]
            return height - 3, height + 3
        anchors = self.anchors(vertex)
        return y[a] + anchors.right, y[a] + anchors.right_back

    def left_end(
        self, sheet: Sheet, y: list[float], sizes: list[Size], b: int, origin: Hashable, fan: float | None
    ) -> Point:
        """Heights at which values enter vertex `b` and gradients leave it."""
        vertex = sheet.vertices[b]
        if b >= sheet.members:
            return y[b] - 3, y[b] + 3
        if vertex in self.parents:
            height = y[b] - sizes[b][1] / 2 + self.rooms[vertex].ins[origin]
            return height - 3, height + 3
        if fan is not None:
            return y[b] + fan - 4, y[b] + fan + 4
        anchors = self.anchors(vertex)
        return y[b] + anchors.left, y[b] + anchors.left_back

    # -- all together ---------------------------------------------------------------------------------------------

    def collect(self, groups: list[Hashable | None]) -> Placed:
        """From rooms within rooms to the plane; the first node of the graph stands at (0, 0)."""
        result = Placed()
        corner: dict[Hashable | None, Point] = {None: (0.0, 0.0)}
        parts: dict[Hashable, list[tuple[list[Point], list[Point]]]] = defaultdict(list)
        for group in groups:
            room = self.rooms[group]
            x0, y0 = corner[group]
            for vertex, (x, y) in room.at.items():
                if vertex in self.parents:
                    w, h = self.rooms[vertex].size
                    corner[vertex] = (x0 + x - w / 2, y0 + y - h / 2)
                    result.boxes[vertex] = (x0 + x - w / 2, y0 + y - h / 2, x0 + x + w / 2, y0 + y + h / 2)
                else:
                    result.positions[vertex] = (x0 + x, y0 + y)
            for key, (go, back) in room.parts.items():
                parts[key].append(([(x0 + x, y0 + y) for x, y in go], [(x0 + x, y0 + y) for x, y in back]))
        for key, pieces in parts.items():
            pieces.sort(key=lambda piece: (piece[0][0][0], piece[0][-1][0]))
            result.routes[key] = clean([p for go, _ in pieces for p in go])
            result.back[key] = clean([p for _, back in pieces for p in back])[::-1]
        first = next(iter(self.graph), None)
        if first is not None:
            _translate(result, *result.positions[first])
        return result


def _fans(
    layered: _Layered, sheet: Sheet, y: list[float],
    edges: list[Piece], ends: list[tuple[int, int]],
) -> dict[tuple[Hashable, int], float]:  # fmt: skip
    """Where several edges enter one op: side by side, in the order in which they come."""
    arriving: dict[int, list[tuple[float, int, Hashable]]] = defaultdict(list)
    for number, ((key, _, _, origin), (a, b)) in enumerate(zip(edges, ends, strict=True)):
        if b < sheet.members and sheet.vertices[b] not in layered.parents and layered.anchors(sheet.vertices[b]).fan:
            lanes = sheet.way(a, origin, b)
            arriving[b].append((y[lanes[-1]] if lanes else y[a], number, key))
    found: dict[tuple[Hashable, int], float] = {}
    for b, coming in arriving.items():
        if len(coming) < 2:
            continue
        height = layered.size(sheet.vertices[b])[1]
        pitch = min(20.0, (height - 16.0) / len(coming))
        for i, (_, _, key) in enumerate(sorted(coming, key=lambda c: c[:2])):
            found[key, b] = (i - (len(coming) - 1) / 2) * pitch
    return found


def _longest(steps: list[Step], start: Hashable | None, end: Hashable | None) -> list[Step]:
    """The steps of the longest path, from `start` to `end` where they are given and joined; the first of equals."""
    after: dict[Hashable, list[Step]] = defaultdict(list)
    missing: dict[Hashable, int] = defaultdict(int)
    for step in dict.fromkeys(steps):
        after[step[0]].append(step)
        missing[step[1]] += 1
    length: dict[Hashable, int] = {}
    came: dict[Hashable, Step] = {}
    begin = start if start in after else None
    fresh = [u for u in after if not missing[u]]
    while fresh:
        u = fresh.pop()
        if begin is None or u == begin:
            length.setdefault(u, 0)
        for step in after[u]:
            v = step[1]
            if u in length and length[u] + 1 > length.get(v, 0):
                length[v], came[v] = length[u] + 1, step
            missing[v] -= 1
            if missing[v] == 0:
                fresh.append(v)
    last = end if end in came else max(length, key=lambda v: length[v], default=None)
    way: list[Step] = []
    while last in came:
        way.append(came[last])
        last = came[last][0]
    return way[::-1]


def _translate(placed: Placed, dx: float, dy: float) -> None:
    placed.positions = {n: (x - dx, y - dy) for n, (x, y) in placed.positions.items()}
    placed.boxes = {g: (a - dx, b - dy, c - dx, d - dy) for g, (a, b, c, d) in placed.boxes.items()}
    placed.routes = {k: [(x - dx, y - dy) for x, y in points] for k, points in placed.routes.items()}
    placed.back = {k: [(x - dx, y - dy) for x, y in points] for k, points in placed.back.items()}
