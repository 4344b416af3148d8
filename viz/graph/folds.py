"""Folded groups: which ones start folded, and the edges that cross their borders."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ..reading import text
from ..reading.facts import Facts, TensorFact
from .gradient_free import WITHOUT_EDGES
from .graph import Drawing, Link
from .groups import Grouping

FOLD_ABOVE = 60
"""The number of nodes above which groups start folded, from the level on at which more than OPEN_UP_TO would be
visible."""
FOLD_ABOVE_TOLD = 150
"""The same for a program with a story, which talks about the contents of its groups."""
OPEN_UP_TO = 40


def begins_folded(drawing: Drawing, above: int = FOLD_ABOVE) -> list[frozenset[str]]:
    """Ways to open a graph that is too large to be drawn whole, from the most open to the most folded; none for a small
    graph.

    Whole levels of groups are folded, so that equal groups look equal. Groups beside a model are folded in all of these
    ways; those around all roots, as a function that trains, in none, so that the loss is seen. Each visible stack has
    one open member as an example, or none.
    """
    if len(drawing.items) <= above:
        return []
    grouping = drawing.grouping
    depth: dict[str | None, int] = {None: 0}
    closed: set[str | None] = {*grouping.quiet, *grouping.stacks}
    hidden: set[str | None] = set(grouping.quiet)
    for group, around in grouping.within.items():
        depth[group] = depth[around] + 1
        if around in closed:
            closed.add(group)
            hidden.add(group)
    items = Counter(depth[item.group] for item in drawing.items.values() if item.group not in closed)
    groups = Counter(depth[group] for group in depth if group not in hidden)
    level, seen = 0, items[0]
    while groups[level + 1] and seen + items[level + 1] + groups[level + 2] <= OPEN_UP_TO:
        level += 1
        seen += items[level]
    rooted = _around_roots(drawing)
    ways = [
        frozenset(group for group in grouping.labels if depth[group] > most or group in closed) - rooted
        for most in range(level, -1, -1)
    ]
    stacks = grouping.stacks - hidden
    return list(dict.fromkeys(way for folded in ways for way in (folded - _at(stacks, folded, grouping), folded)))


def _around_roots(drawing: Drawing) -> frozenset[str]:
    """The groups that contain all roots of backward calls."""
    paths = [drawing.grouping.paths[item.group] for item in drawing.items.values() if item.role == "root"]
    return frozenset(paths[0]).intersection(*paths) if paths else frozenset()


def _at(stacks: AbstractSet[str], folded: AbstractSet[str], grouping: Grouping) -> set[str]:
    """The stacks that are visible when the groups `folded` are folded."""
    return {stack for stack in stacks if folded.isdisjoint(grouping.paths[grouping.within[stack]])}


@dataclass(frozen=True, slots=True)
class Repeats:
    """The groups that are one of several equal ones: all of them, and those after the first."""

    every: frozenset[str]
    further: frozenset[str]


def repeats(drawing: Drawing) -> Repeats:
    """The iterations of loops, and the calls of one function or of modules of one class, that are in the same group."""
    alike: dict[tuple[str | None, object], list[str]] = defaultdict(list)
    grouping = drawing.grouping
    for group, around in grouping.within.items():
        loop = grouping.loops.get(group)
        alike[around, grouping.kin[group] if loop is None else (loop.file, loop.line)].append(group)
    return Repeats(
        frozenset(group for same in alike.values() if len(same) > 1 for group in same),
        frozenset(group for same in alike.values() for group in same[1:]),
    )


def levels(drawing: Drawing, open_groups: AbstractSet[str] = frozenset()) -> list[frozenset[str]]:
    """Ways to fold a graph, from the most open on, in which `open_groups` stay open.

    First nothing is folded, then the contents of iterations, then all iterations; if one of them is to stay open, all
    but the first, as an example.
    """
    inner, alike = inner_first(drawing), repeats(drawing)
    within = [level - alike.every - open_groups for level in inner]
    example = [(alike.every | level) - (open_groups - alike.further) for level in (frozenset[str](), *inner)]
    return list(dict.fromkeys((frozenset[str](), *within, *example)))


def further_folds(drawing: Drawing, open_groups: AbstractSet[str] = frozenset()) -> list[frozenset[str]]:
    """Further ways, level after level, inner ones first: none of several equal iterations stays open."""
    alike = repeats(drawing).every
    return [level - (open_groups - alike) for level in inner_first(drawing)]


def inner_first(drawing: Drawing) -> list[frozenset[str]]:
    """The groups to fold, level after level: the innermost ones, these and those around them, …, all."""
    within = drawing.grouping.within
    depth: dict[str | None, int] = {None: 0}
    for group, around in within.items():
        depth[group] = depth[around] + 1
    return [
        frozenset(group for group in within if depth[group] > level) for level in reversed(range(max(depth.values())))
    ]


def failing(drawing: Drawing, error: str | None) -> tuple[str, ...]:
    """The groups in which a program's error happened."""
    return drawing.grouping.paths[drawing.items[error].group] if error in drawing.items else ()


def told_of(facts: Facts, drawing: Drawing) -> set[str]:
    """The groups that contain the subject of the program: leaves, roots and tensors that keep their gradient.

    A state that each iteration of a loop has is represented by the gradient that reached the iteration.
    """
    grouping, alike = drawing.grouping, repeats(drawing)
    groups: set[str] = set()
    for item in drawing.items.values():
        if item.twin is not None or item.tensor is None:
            continue
        fact = facts.tensors[item.tensor]
        is_subject = item.role in ("leaf", "root") and fact.requires_grad
        path = grouping.paths[item.group]
        if not grouping.library.isdisjoint(path):
            continue
        if is_subject or (item.tensor in facts.retained and alike.every.isdisjoint(path)):
            groups.update(path)
    return groups


def _is_of_module(fact: TensorFact) -> bool:
    """Return whether a tensor belongs to a module: a parameter or a buffer."""
    return fact.leaf is not None and fact.leaf.source in ("parameter", "buffer")


class Borders:
    """The links into each visible place and out of it, one per tensor, in the order of the program, and from cards
    elsewhere that have no edge to it; and those by which gradients come back."""

    def __init__(self, drawing: Drawing, places: Mapping[str, str]) -> None:
        self.facts = drawing.facts
        self.coming: dict[str, dict[int, Link]] = defaultdict(dict)
        self.going: dict[str, dict[int, Link]] = defaultdict(dict)
        self.far: dict[str, dict[int, Link]] = defaultdict(dict)
        self.back: dict[str, dict[int, Link]] = defaultdict(dict)
        quiet, items = drawing.grouping.quiet, drawing.items
        for link in drawing.links.values():
            source, target = places[link.source], places[link.target]
            if not WITHOUT_EDGES.isdisjoint((quiet.get(source), quiet.get(target))):
                continue
            if source != target and link.value:
                self.coming[target].setdefault(link.tensor, link)
                self.going[source].setdefault(link.tensor, link)
            twin = items[link.source].twin
            if source == target and twin is not None and items[twin].role == "constant" and places[twin] != target:
                self.far[target].setdefault(link.tensor, link)
            if source != target and link.grad:
                self.back[source].setdefault(link.tensor, link)

    def shapes(self, place: str, last: int | None) -> str:
        """`1×2, 2×2 → 1×2`: the shapes that come in and go out; if nothing goes out, the result of the `last` op
        inside."""
        coming = self._each([*self.far[place].values(), *self.coming[place].values()])
        going = self._each(self.going[place].values())
        if not going and last is not None:
            going = text.shape(self.facts.ops[last].event.outputs[0].shape)
        return f"{coming} → {going}" if coming and going else coming or going

    def _each(self, links: Iterable[Link]) -> str:
        tensors = [self.facts.tensors[link.tensor] for link in links]
        passed = [fact for fact in tensors if not _is_of_module(fact)]
        shapes = list(dict.fromkeys(text.shape(fact.shape) for fact in passed or tensors))
        return ", ".join(shapes if len(shapes) <= 2 else [shapes[0], "…"])

    def gradient(self, place: str) -> Link | None:
        """The link by which the gradient comes back into a place; None if several tensors leave it."""
        links = list(self.back[place].values())
        return links[0] if len(links) == 1 else None
