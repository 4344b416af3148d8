"""Left to right in ranks, group by group: columns, boxes, and routes that cross only the boxes they belong to.

Each open group is laid out on its own.  Edges that cross its border use ports, and in the layout around it the group
has its folded size until order and heights are known.  Then its column is widened and its neighbours in the column move
apart: a fold changes no order, and everything else only moves sideways as a whole.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import networkx as nx

from ..sheet import HEAD, PAD, PORT_GAP, Box, Piece, Point, Sheet, Size, around, clean, moved, shifted
from . import bundles, lines, turns
from .ports import BESIDE, Anchors, Own, Part, Ports, from_cards, in_order, straight
from .ranked_graph import LANE, RankedGraph, Step, longest, ranks

Places = Callable[[RankedGraph], list[float]]

SIZE: Size = (116.0, 56.0)
FOLDED: Size = (200.0, 76.0)
APART = 34.0
"""Distance between parts of a group that no edge joins."""
LONG = 12
"""The fewest steps of a path that is drawn level; the nodes of a shorter one are centred on their sources."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the picture is divided into lines: no wider than `limit`, or as in `lines` (row and line by node)."""

    limit: float = math.inf
    lines: Mapping[Hashable, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Picture:
    """Positions (centres) by node, boxes by open group, routes of values and of gradients by edge key.

    `lines` has row and line by node if there are several lines, `parts` the boxes of groups that are cut by them.
    """

    positions: dict[Hashable, Point] = field(default_factory=dict)
    boxes: dict[Hashable, Box] = field(default_factory=dict)
    routes: dict[Hashable, list[Point]] = field(default_factory=dict)
    back: dict[Hashable, list[Point]] = field(default_factory=dict)
    name: str = "layered"
    note: str | None = None
    limit: float = math.inf
    lines: dict[Hashable, tuple[int, int]] = field(default_factory=dict)
    parts: dict[Hashable, list[Box]] = field(default_factory=dict)


def place(graph: nx.DiGraph, places: Places, plan: Plan | None = None) -> Picture:
    """Positions and routes of a directed acyclic graph (multi or not), in the lines of `plan` (default: one line).

    Node attributes: `size` (w, h), `anchors`, `under` (the distance that routes between lines keep below it), `group`
    (the innermost open group).  `graph.graph["within"]` has the group around each open group, outer ones first,
    `graph.graph["lines"]` the most lines.  An edge's `origin` names the value that travels (default: its source): edges
    of one origin share their route.  Its `argument` is its number among the arguments of its target: they enter in that
    order from top to bottom if that costs no crossing.  Raises ValueError for a graph with a cycle.
    """
    return _LayeredLayout(graph, places, plan or Plan()).picture()


class _LayeredLayout:
    """A layout in progress: of a whole graph, or of the `nodes` in one of its lines, with the ends of `edges` there.

    Of two ports in `sides`, the first one should be above the other.
    """

    def __init__(
        self, graph: nx.DiGraph, places: Places, plan: Plan, nodes: Sequence[Hashable] | None = None,
        edges: Sequence[Part] | None = None, sides: Sequence[tuple[Hashable, Hashable]] = (),
    ) -> None:  # fmt: skip
        self.graph, self.places, self.plan = graph, places, plan
        self.is_line, self.sides = nodes is not None, sides
        self.nodes = list(graph) if nodes is None else nodes
        self.lines: dict[Hashable, tuple[int, int]] = {}
        self.inner: dict[tuple[Hashable, Hashable], tuple[list[Point], list[Point]]] = {}
        self.within: Mapping[Hashable, Hashable | None] = graph.graph.get("within", {})
        self.members: dict[Hashable | None, list[Hashable]] = defaultdict(list)
        all_edges = _edges(graph)
        self.edges = [(key, u, v, d.get("origin", u)) for key, u, v, d in all_edges] if edges is None else list(edges)
        self.arguments: dict[Hashable, int] = {
            key: data["argument"] for key, _, _, data in all_edges if data.get("argument") is not None
        }
        self.rooms: dict[Hashable | None, Piece] = {}
        self.spines: dict[Hashable | None, list[Step]] = {}
        self.through: dict[Hashable, tuple[Hashable | None, Hashable | None]] = {}

    def picture(self) -> Picture:
        return self.collect(self.whole())

    def whole(self) -> Piece:
        """The outermost group, with everything in it."""
        within = self.within
        path: dict[Hashable | None, list[Hashable | None]] = {None: [None]}
        for group, outer in within.items():
            path[group] = [*path[outer], group]
        order = {node: i for i, node in enumerate(self.nodes)}
        began: dict[Hashable, int] = {}
        for node in self.nodes:
            self.members[self.group(node)].append(node)
            for group in path[self.group(node)][1:]:
                began.setdefault(group, order[node])
        for group, outer in within.items():
            if group in began:
                self.members[outer].append(group)
        local = self.split(path)
        for group in path:  # outer ones first: they decide by which ports the level line enters inner ones
            if group is None or group in began:
                spine = self.spine(group, local[group])
                if within or len(spine) >= LONG or self.is_line:
                    self.spines[group] = spine
        for group in sorted(path, key=lambda g: -len(path[g])):
            if group is None or group in began:
                members = sorted(self.members[group], key=lambda n: began[n] if n in within else order[n])
                self.rooms[group] = self.room(group, members, local[group], len(path[group]) - 1)
        return self.rooms[None]

    def group(self, node: Hashable) -> Hashable | None:
        result: Hashable | None = self.graph.nodes[node].get("group")
        return result

    def split(self, path: Mapping[Hashable | None, list[Hashable | None]]) -> dict[Hashable | None, list[Part]]:
        """Each edge cut at the borders of the groups it crosses: (edge, from, to, origin) per group; None is a port."""
        local: dict[Hashable | None, list[Part]] = defaultdict(list)
        for key, u, v, origin in self.edges:
            ups, downs = ([] if end is None else path[self.group(end)] for end in (u, v))
            shared = sum(1 for a, b in zip(ups, downs, strict=False) if a == b)
            ups_full: list[Hashable | None] = [*ups, u]
            downs_full: list[Hashable | None] = [*downs, v]
            for depth in range(len(ups) - 1, shared - 1, -1):
                local[ups[depth]].append((key, ups_full[depth + 1], None, origin))
            if shared:
                local[ups[shared - 1]].append((key, ups_full[shared], downs_full[shared], origin))
            for depth in range(shared, len(downs)):
                local[downs[depth]].append((key, None, downs_full[depth + 1], origin))
        return local

    def spine(self, group: Hashable | None, pieces: list[Part]) -> list[Step]:
        """The longest path through a group, which is drawn level, also in the groups that it passes through.

        Notes in `through` the ports (by origin) through which it enters and leaves them.
        """
        enter, leave = self.through.get(group, (None, None)) if group is not None else (None, None)
        steps = [(("in", o) if u is None else u, ("out", o) if v is None else v, o) for _, u, v, o in pieces]
        first, last = (None if o is None else (side, o) for side, o in (("in", enter), ("out", leave)))
        way = longest(steps, first, last)
        origins = [None, *(o for _, _, o in way), None]
        for i, vertex in enumerate([*(u for u, _, _ in way), *(v for _, v, _ in way[-1:])]):
            if vertex in self.within:
                self.through[vertex] = (origins[i], origins[i + 1])
        return way

    def level_height(self, vertex: Hashable) -> float:
        """The height, from its top, at which a vertex is held level: that of the spine's ports, else its middle."""
        height = self.size(vertex)[1]
        if vertex not in self.within or vertex not in self.through:
            return height / 2
        room, (enter, leave) = self.rooms[vertex], self.through[vertex]
        ports = [side[o] for side, o in ((room.ins, enter), (room.outs, leave)) if o is not None and o in side]
        return sum(ports) / len(ports) if ports else height / 2

    # -- one group ------------------------------------------------------------------------------------------------

    def size(self, vertex: Hashable) -> Size:
        room = self.rooms.get(vertex) if vertex in self.within else None
        if room is not None:
            return room.box[2], room.box[3]
        size: Size = self.graph.nodes[vertex].get("size", SIZE)
        return size

    def room(self, group: Hashable | None, members: list[Hashable], edges: list[Part], depth: int) -> Piece:
        """Lay out the direct members of a group: each connected part on its own, in lines if it is too wide."""
        index: dict[Hashable, int] = {m: i for i, m in enumerate(members)}
        ends: list[tuple[int, int]] = []
        for _, u, v, origin in edges:
            a = index.setdefault(("in", origin), len(index)) if u is None else index[u]
            b = index.setdefault(("out", origin), len(index)) if v is None else index[v]
            ends.append((a, b))
        vertices = list(index)
        ins = [i for i, v in enumerate(vertices) if i >= len(members) and v[0] == "in"]  # type: ignore[index]  # past the members stand ports
        outs = [i for i, v in enumerate(vertices) if i >= len(members) and v[0] == "out"]  # type: ignore[index]  # past the members stand ports
        rank = ranks(len(vertices), ends, ins, outs)
        sheet = Sheet(vertices, len(members), rank)
        sheet.chains(ends, [origin for *_, origin in edges])
        sizes = [self.size(v) if i < len(members) else (0.0, LANE) for i, v in enumerate(vertices)]
        nominal = [
            FOLDED if v in self.within and i < len(members) else s
            for i, (v, s) in enumerate(zip(vertices, sizes, strict=True))
        ]
        heavy = [(index[u], index[v], o) for u, v, o in self.spines.get(group, ()) if u in index and v in index]
        both = list(zip(edges, ends, strict=True))
        beside = [(index[a], index[b]) for a, b in self.sides if group is None and a in index and b in index]
        beside += from_cards(sheet, both)
        to_ops = {key: self.arguments[key] for key, _, v, _ in edges if key in self.arguments and v not in self.within}
        ranked = sheet.ranked([s[1] for s in nominal], heavy, in_order(sheet, both, to_ops), beside)
        holds = [self.level_height(v) if i < len(members) else LANE / 2 for i, v in enumerate(vertices)]
        y = [0.0] * len(ranked.ranks)
        pieces = []
        for part in ranked.components():
            for node, height in zip(part, self.places(ranked.part(part)), strict=True):
                y[node] = height
            sheet.widen(y, sizes, nominal, holds, part)
            inside = set(part)
            own = [(edge, end) for edge, end in both if end[0] in inside]
            if group is not None:  # at the border of a line a route may be at any height
                for port, height in self.ports(sheet, y, sizes, own).levels(own).items():
                    y[port] = height
            pieces.append(self.furnish(group, sheet, y, sizes, own, part))
        return self.arrange(group, pieces, self.plan.limit - 2 * PORT_GAP * depth)

    def furnish(
        self, group: Hashable | None, sheet: Sheet, y: list[float], sizes: list[Size],
        edges: Own, part: list[int],
    ) -> Piece:  # fmt: skip
        """Columns, the contents of the groups, and routes from border to border."""
        columns = sheet.columns(sizes, y, part)
        centres = sheet.centres(sizes, columns, part)
        piece = Piece()
        for i in part:
            if i < sheet.members:
                self.put(piece, sheet.vertices[i], (centres[i], y[i]))
            elif i < len(sizes):
                port: tuple[str, Hashable] = sheet.vertices[i]  # type: ignore[assignment]  # past the members stand ports
                (piece.ins if port[0] == "in" else piece.outs)[port[1]] = y[i]
        ports = self.ports(sheet, y, sizes, edges)
        for (key, u, v, origin), (a, b) in edges:
            way = sheet.way(a, origin, b)
            right, left = columns[sheet.rank[a]][1], columns[sheet.rank[b]][0]
            start, end = centres[a] + sizes[a][0] / 2, centres[b] - sizes[b][0] / 2
            inside, behind = self.inner.get((key, u), ([], [])), self.inner.get((key, v), ([], []))
            routes = []
            for out, into, shift, first, last in zip(
                ports.right(a, origin), ports.left(key, b, origin), (-BESIDE, BESIDE), inside, behind, strict=True
            ):  # the value's route, and the gradient's below it
                if group is None and (u is None or v is None):
                    out, into = straight(u is None, [y[lane] + shift for lane in way], out, into)
                bends = [(x, y[lane] + shift) for lane in way for x in columns[sheet.ranks[lane]]]
                routes.append(clean([*first, (start, out), (right, out), *bends, (left, into), (end, into), *last]))
            piece.routes[key] = routes[0], routes[1]
            if u is None:
                piece.entering.add(key)
            if v is None:
                piece.leaving.add(key)
        gaps = [(before[1], behind[0]) for before, behind in pairwise(columns.values())]
        piece.routes.update(bundles.apart({key: piece.routes[key] for (key, *_), _ in edges}, gaps))
        solid = [columns[sheet.rank[i]] for i in part if i < sheet.members]
        halves = [(sizes[i][1] if i < len(sizes) else LANE) / 2 for i in part]
        piece.box = (
            min(x0 for x0, _ in solid), min(y[i] - half for i, half in zip(part, halves, strict=True)),
            max(x1 for _, x1 in solid), max(y[i] + half for i, half in zip(part, halves, strict=True)),
        )  # fmt: skip
        return piece if group is not None else piece.flat()

    def put(self, piece: Piece, vertex: Hashable, centre: Point) -> None:
        """Put a node at its position; for a group, its box and everything in it."""
        if vertex not in self.within:
            piece.at[vertex] = centre
            return
        room = self.rooms[vertex]
        dx, dy = centre[0] - room.box[2] / 2, centre[1] - room.box[3] / 2
        for key in (*room.entering, *room.leaving):
            if key in room.routes:
                go, back = room.routes.pop(key)
                self.inner[key, vertex] = shifted(go, dx, dy), shifted(back, dx, dy)
        piece.boxes[vertex] = [moved(room.box, dx, dy)]
        piece.inside.append((room, dx, dy))

    def arrange(self, group: Hashable | None, pieces: list[Piece], limit: float) -> Piece:
        """The parts of a group from its top left corner, in rows; each part of the outermost group in lines.

        Low parts beside a high one stand one below the other, as long as they are no wider than the first of them.
        """
        framed = group is not None
        before = 0.0 if not framed else PORT_GAP if any(piece.entering for piece in pieces) else PAD
        behind = 0.0 if not framed else PORT_GAP if any(piece.leaving for piece in pieces) else PAD
        x, y, bottom = before, 0.0, (HEAD if framed else 0.0) - APART
        row, alone, parts = -1, True, []
        column = (0.0, 0.0, 0.0)  # left, width and bottom of the last column in a row
        for piece in pieces:
            if not framed:
                piece = self.in_lines(piece, row + 1, limit)
            wide, high = piece.box[2] - piece.box[0], piece.box[3] - piece.box[1]
            tied = bool(piece.entering or piece.leaving)
            follows = math.isfinite(limit) and not (tied or alone) and x + wide <= before + limit
            if not framed and self.plan.lines:
                follows = any(self.plan.lines.get(v, (-1, 0))[0] == row for v in piece.at)
            left, width, low = column
            if row >= 0 and not (framed or tied or alone) and wide <= width and low + APART + high <= bottom:
                parts.append(piece.moved(left - piece.box[0], low + APART - piece.box[1]))
                column = (left, width, low + APART + high)
            else:
                if row < 0 or not follows:
                    x, y, row = before, bottom + APART, row + 1
                parts.append(piece.moved(x - piece.box[0], y - piece.box[1]))
                column = (x, wide, y + high)
                x, bottom, alone = x + wide + APART, max(bottom, y + high), tied
            if not framed:
                self.lines.update({v: (row, self.lines.get(v, (0, 0))[1]) for v in piece.at})
        room = Piece()
        right = max((piece.box[2] for piece in parts), default=0.0) + behind
        room.box = (0.0, 0.0, right, bottom + (PAD if framed else 0.0))
        for piece in parts:
            if framed:
                piece.reach(0.0, right)
            room.take(piece)
        return room

    def in_lines(self, piece: Piece, row: int, limit: float) -> Piece:
        """A part of the outermost group, broken into lines if it is too wide, or as the plan says."""
        if not self.plan.lines and not math.isfinite(limit):
            return piece
        earlier = {v: self.plan.lines[v][1] for v in piece.at if v in self.plan.lines}
        most = self.graph.graph.get("lines", lines.MOST)
        line = self.with_use(lines.numbers(piece, self.size, limit, most, earlier))
        self.lines.update({v: (row, line.get(v, 0)) for v in piece.at})
        return self.stacked(line) if line else piece

    def with_use(self, line: dict[Hashable, int]) -> dict[Hashable, int]:
        """The lines, with each node that has no sources in the first line that uses it."""
        users: dict[Hashable, list[int]] = defaultdict(list)
        reached = {v for _, u, v, _ in self.edges if u in line}
        for _, u, v, _ in self.edges:
            if v in line and u in line and u not in reached and self.graph.nodes[u].get("group") is None:
                users[u].append(line[v])
        earlier = {**line, **{node: min(ranks) for node, ranks in users.items()}}
        return earlier if set(earlier.values()) == set(line.values()) else line

    def stacked(self, line: Mapping[Hashable, int]) -> Piece:
        """Nodes in their lines, each laid out on its own; an edge between two lines has an end in both."""
        count = max(line.values()) + 1
        nodes: list[list[Hashable]] = [[] for _ in range(count)]
        for node in self.nodes:
            if node in line:
                nodes[line[node]].append(node)
        parts: list[list[Part]] = [[] for _ in range(count)]
        over: list[turns.Over] = []
        for key, u, v, origin in self.edges:
            if u not in line or v not in line:
                continue
            a, b = line[u], line[v]
            if a == b:
                parts[a].append((key, u, v, origin))
                continue
            over.append((key, origin, a, b))
            parts[a].append((key, u, None, origin))
            parts[b].append((key, None, v, origin))
        pieces: list[Piece] = []
        parted = [self.parted(own, edges) for own, edges in zip(nodes, parts, strict=True)]
        for number, (own, edges) in enumerate(zip(nodes, parts, strict=True)):
            sides = lines.sides(number, over, pieces, parted)
            pieces.append(_LayeredLayout(self.graph, self.places, Plan(), own, edges, sides).whole())
        return lines.stacked(pieces, over, {key: origin for key, _, _, origin in self.edges}, self.size, self.under)

    def parted(self, nodes: Sequence[Hashable], edges: Sequence[Part]) -> dict[Hashable, int]:
        """For each edge of a line, the part that it is in, numbered in the order of the parts."""
        joined = nx.Graph()
        joined.add_nodes_from(nodes)
        for _, u, v, origin in edges:
            if v is not None:
                joined.add_edge(("in", origin) if u is None else u, v)
        for node in nodes:
            group = self.group(node)
            while group is not None:
                joined.add_edge(node, ("group", group))
                group = self.within[group]
        part = {}
        for number, component in enumerate(nx.connected_components(joined)):
            part.update(dict.fromkeys(component, number))
        return {key: part[v] for key, _, v, _ in edges if v is not None}

    def anchors(self, vertex: Hashable) -> Anchors:
        result: Anchors = self.graph.nodes[vertex].get("anchors", Anchors())
        return result

    def under(self, vertex: Hashable) -> float:
        height: float = self.graph.nodes[vertex].get("under", 0.0)
        return height

    def ports(self, sheet: Sheet, y: list[float], sizes: list[Size], own: Own) -> Ports:
        return Ports(sheet, y, sizes, self.rooms, self.anchors, self.arguments, own)

    # -- all together ---------------------------------------------------------------------------------------------

    def collect(self, room: Piece) -> Picture:
        """The outermost group, and for each group the box around all of its parts; the first node is at (0, 0)."""
        origin = room.at[next(iter(self.graph))] if len(self.graph) else (0.0, 0.0)
        room = room.moved(-origin[0], -origin[1])
        return Picture(
            room.at, {group: around(boxes) for group, boxes in room.boxes.items()},
            {key: go for key, (go, _) in room.routes.items()},
            {key: back[::-1] for key, (_, back) in room.routes.items()},
            limit=self.plan.limit, lines=self.lines if len(set(self.lines.values())) > 1 else {},
            parts={group: boxes for group, boxes in room.boxes.items() if len(boxes) > 1},
        )  # fmt: skip


def _edges(graph: nx.DiGraph) -> list[tuple[Hashable, Hashable, Hashable, dict[str, Any]]]:
    """(key, from, to, attributes) of each edge."""
    if graph.is_multigraph():
        return [(key, u, v, data) for u, v, key, data in graph.edges(keys=True, data=True)]
    return [((u, v), u, v, data) for u, v, data in graph.edges(data=True)]
