"""The visible part of a drawing: a folded group stands for everything inside it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping
from collections.abc import Set as AbstractSet

import networkx as nx

from ..graph.folds import Borders
from ..graph.gradient_free import WITHOUT_EDGES
from ..graph.graph import Drawing, Item, Link
from ..graph.stacks import members_of_stacks, with_runs
from ..layout import cards, choice
from ..layout.layered.lines import MOST_OF_BOXES
from ..layout.layered.ports import Anchors, GradientOrigin
from ..layout.sheet import Size
from ..layout.views import EACH_OF_BOXES, WHOLE
from ..reading.facts import Facts
from ..schema.scene import Group
from ..schema.values import Box, RowSize

Lines = Mapping[str, tuple[int, int]]
MOST_USERS = 24
"""The number of uses of a leaf in groups that start folded up to which edges lead there from it; beyond that they have
stubs."""
VIEW = (757.0, 607.0)
"""The stage for which a long chain is broken into lines: beside both panels at 1440 x 900 px, without its bars."""
VIEW_OF_MODEL = (757.0, 560.0)
"""The same above the timeline of a program that is too long to draw whole, which has more rows."""
VIEW_OF_SECTION = (757.0, 512.0)
"""The same with the row of the run above it."""


class VisibleGraph:
    """The graph on the screen: each element at its place, with all that a folded group stands for.

    `place_of` is the place of an element: its own, or that of the outermost folded group around it; `members` the
    elements of a place; `merged` the links behind an edge, and `edge_of` the edge of a link; `rows` the rows of a card;
    `cells` the members of each stack that is shown as one node.
    """

    def __init__(
        self, facts: Facts, drawing: Drawing, folded: AbstractSet[str], lines: Lines | None = None,
        limit: float = math.inf, direct: AbstractSet[str] = frozenset(), zoom: float = 1.0,
    ) -> None:  # fmt: skip
        """`lines` has row and line by element if the picture should have the lines of one with other folds.

        Edges lead into the groups `direct`, and into their contents, from a leaf itself and not from stubs.  Texts fit
        at `zoom`.
        """
        drawing, self.folded = with_runs(drawing, folded)
        self.facts, self.drawing, self.lines, self.limit, self.zoom = facts, drawing, lines or {}, limit, zoom
        grouping = drawing.grouping
        self.home: dict[str | None, str | None] = {None: None}  # the outermost folded group around each group
        for group, around in grouping.within.items():
            self.home[group] = self.home[around] or (group if group in self.folded else None)
        self.place_of = {ident: self.home[item.group] or ident for ident, item in drawing.items.items()}
        for stubs in drawing.stubs.values():
            within = [
                stub
                for stub in stubs
                if drawing.twin(stub) is not None and not direct.isdisjoint(grouping.paths[drawing.items[stub].group])
            ]
            if len(within) <= MOST_USERS:
                self.place_of.update({stub: self.place_of[drawing.items[stub].twin or stub] for stub in within})
        stacks = members_of_stacks(grouping)
        self.cells = {stack: members for stack, members in stacks.items() if self.home[stack] == stack}
        self.borders = Borders(drawing, self.place_of)
        self.members: dict[str, list[str]] = defaultdict(list)
        for ident, place in self.place_of.items():
            self.members[place].append(ident)
        self.merged: dict[str, list[Link]] = {}
        self.edge_of: dict[str, str] = {}
        self.rows: dict[str, list[RowSize]] = {}

    @property
    def view(self) -> Size:
        """The size of the whole picture on a usual screen, in px."""
        if not self.drawing.grouping.model:
            return VIEW
        return VIEW_OF_SECTION if "section" in self.facts.trace.meta else VIEW_OF_MODEL

    def graph(self) -> nx.MultiDiGraph:
        """The graph with folded groups as nodes."""
        drawing, grouping = self.drawing, self.drawing.grouping
        graph = nx.MultiDiGraph(within={g: a for g, a in grouping.within.items() if self.home[g] is None})
        graph.graph.update(view=self.view, limit=self.limit)
        if grouping.model:
            graph.graph.update(each=EACH_OF_BOXES, lines=MOST_OF_BOXES, low=WHOLE)
        for ident in drawing.graph:
            place = self.place_of[ident]
            if place in graph:
                continue
            if place in grouping.labels:
                size, anchors, under, group = (
                    self.group_size(place),
                    Anchors(fan=False),
                    0.0,
                    grouping.within[place],
                )
            else:
                item = drawing.items[ident]
                size, anchors = self.measure(item)
                under, group = self.under(item), item.group
            graph.add_node(place, size=size, anchors=anchors, under=under, group=group)
            lines = [self.lines[member] for member in self.members[place] if member in self.lines]
            if lines:
                graph.nodes[place]["line"] = min(lines)
        for link in drawing.links.values():
            a, b = self.place_of[link.source], self.place_of[link.target]
            if a == b or not WITHOUT_EDGES.isdisjoint((grouping.quiet.get(a), grouping.quiet.get(b))):
                continue
            key = link.id if (a, b) == (link.source, link.target) else f"e{a}>{b}:0"
            self.edge_of[link.id] = key
            if key not in self.merged:
                self.merged[key] = []
                argument = link.position if link.op is not None and b == link.target else None
                graph.add_edge(a, b, key=key, origin=self.origin(link, a), argument=argument)
            self.merged[key].append(link)
        return graph

    def group_size(self, group: str) -> Size:
        grouping = self.drawing.grouping
        quiet, shapes = grouping.quiet.get(group) is not None, ""
        if grouping.model and not quiet:
            shapes = self.borders.shapes(group, max(self.ops(group), default=None))
        count = len(self.cells.get(group, ()))
        dots = 0 if count else len(self.parameters(group))
        return cards.group_size(grouping.labels[group], self.zoom, dots, quiet, shapes, count)

    def borders_of_cells(self) -> Borders:
        """The links over the borders of the members of stacks that are shown as one node."""
        of: dict[str | None, str | None] = {None: None}
        for group, around in self.drawing.grouping.within.items():
            of[group] = of[around] or (group if around in self.cells else None)
        place_of = {ident: of[item.group] or self.place_of[ident] for ident, item in self.drawing.items.items()}
        return Borders(self.drawing, place_of)

    def ops(self, place: str) -> list[int]:
        """The ops in a folded group."""
        return [op for member in self.members[place] if (op := self.drawing.items[member].op) is not None]

    def parameters(self, place: str) -> list[str]:
        """The parameters in a folded group, each once: cards, and stubs of cards elsewhere."""
        drawing = self.drawing
        if not drawing.grouping.quiet.keys().isdisjoint(drawing.grouping.paths[place]):
            return []
        numbers: dict[int, str] = {}
        for ident in self.members[place]:
            item = drawing.items[ident]
            is_leaf = item.op is None and item.role == "leaf" and item.tensor is not None
            if is_leaf and (item.twin is None or item.tensor not in numbers):
                numbers[item.tensor or 0] = ident
        return list(numbers.values())

    def is_shared(self, card: str) -> bool:
        """Return whether several modules use the parameter of a card."""
        item, owners = self.drawing.items[card], self.drawing.grouping.owners
        stubs = self.drawing.stubs.get(item.tensor, ()) if item.tensor is not None else ()
        return any(
            group in owners and group != item.group for stub in stubs for group in [self.drawing.items[stub].group]
        )

    def origin(self, link: Link, place: str) -> Hashable:
        """The tensor that travels along an edge: that of a stub, the `.grad` of a card, or that of its element."""
        item = self.drawing.items[link.source]
        if item.twin is not None:
            return place
        grad = item.op is None and link.tensor != item.tensor and link.tensor in self.facts.owner
        return GradientOrigin(link.source) if grad else link.source

    def measure(self, item: Item) -> tuple[Size, Anchors]:
        label, sub, _ = cards.head(item, self.drawing)
        if item.kind == "op" and item.op is not None:
            record = self.facts.ops[item.op].event.node
            return cards.op_size(label, sub, bool(record and record.saved), self.zoom), cards.op_anchors()
        if item.kind == "stub":
            return cards.stub_size(label, self.zoom), Anchors(fan=False)
        rows = self.rows[item.id] = cards.rows(item, self.drawing)
        size = cards.card_size(label, sub, rows, self.zoom)
        return size, cards.card_anchors(size, rows)

    def under(self, item: Item) -> float:
        """The distance below a node that other routes keep: below an op, and a card through which gradients go."""
        if item.tensor is None:
            return cards.HALO
        return cards.under(self.rows.get(item.id, ())) if self.facts.tensors[item.tensor].requires_grad else 0.0

    def groups(self, picture: choice.Picture) -> list[Group]:
        grouping = self.drawing.grouping
        direct: dict[str, list[str]] = defaultdict(list)
        for ident, item in self.drawing.items.items():
            if item.group is not None and (item.twin is None or self.place_of[ident] != self.place_of[item.twin]):
                direct[item.group].append(ident)
        result: list[Group] = []
        for group, label in grouping.labels.items():
            box = picture.boxes.get(group)
            if box is None and self.home[group] == group:
                x, y = picture.positions.get(group, (0.0, 0.0))
                w, h = self.group_size(group)
                box = (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
            if box is not None:
                members = self.members[group] if self.home[group] == group else direct[group]
                entry: Group = {
                    "id": group, "label": label, "within": grouping.within[group], "members": members,
                    "folded": group in self.folded, "box": rounded(box),
                }  # fmt: skip
                if parts := picture.parts.get(group):
                    entry["parts"] = [rounded(part) for part in parts]
                if group in grouping.loops:
                    entry["round"] = True
                if group in grouping.stacks:
                    entry["stack"] = True
                result.append(entry)
        return result


def rounded(box: Box) -> Box:
    """A box in the browser's form."""
    x0, y0, x1, y1 = box
    return round(x0, 2), round(y0, 2), round(x1, 2), round(y1, 2)
