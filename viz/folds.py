"""Groups that are folded: which ones begin so, and what crosses their borders."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import text
from .graph import Drawing, Link

FOLD_ABOVE = 60
"""Nodes above which groups begin folded, from the level on at which more than OPEN_UP_TO would be seen."""
FOLD_ABOVE_TOLD = 150
"""The same for a program with a story, which speaks of what is in its groups."""
OPEN_UP_TO = 40


def begins_folded(drawing: Drawing, above: int = FOLD_ABOVE) -> set[str]:
    """The groups of a graph that begin folded: none of a small one; else whole levels, so that equals look equal."""
    if len(drawing.items) <= above:
        return set()
    depth: dict[str | None, int] = {None: 0}
    for group, around in drawing.grouping.parents.items():
        depth[group] = depth[around] + 1
    items, groups = Counter(depth[item.group] for item in drawing.items.values()), Counter(depth.values())
    level, seen = 0, items[0]
    while groups[level + 1] and seen + items[level + 1] + groups[level + 2] <= OPEN_UP_TO:
        level += 1
        seen += items[level]
    return {group for group in drawing.grouping.labels if depth[group] > level}


@dataclass(frozen=True, slots=True)
class Folding:
    """What is folded: as somebody said of a group (`said`), else as a graph of this size begins."""

    said: Mapping[str, bool]
    above: int

    def of(self, drawing: Drawing) -> set[str]:
        """The folded groups of a graph."""
        begin = begins_folded(drawing, self.above)
        return {group for group in drawing.grouping.labels if self.said.get(group, group in begin)}


class Borders:
    """The links into each place that is shown and out of it, one per tensor, in the order of the program."""

    def __init__(self, drawing: Drawing, shown: Mapping[str, str]) -> None:
        self.facts = drawing.facts
        self.coming: dict[str, dict[int, Link]] = defaultdict(dict)
        self.going: dict[str, dict[int, Link]] = defaultdict(dict)
        for link in drawing.links.values():
            source, target = shown[link.source], shown[link.target]
            if source != target:
                self.coming[target].setdefault(link.tensor, link)
                self.going[source].setdefault(link.tensor, link)

    def shapes(self, place: str) -> str:
        """`1×2, 2×2 → 1×2`: what comes in and what goes out."""
        coming, going = (self._each(links[place].values()) for links in (self.coming, self.going))
        return f"{coming} → {going}".strip() if coming or going else ""

    def _each(self, links: Iterable[Link]) -> str:
        found = list(dict.fromkeys(text.shape(self.facts.tensors[link.tensor].shape) for link in links))
        return ", ".join(found if len(found) <= 2 else [found[0], "…"])

    def gradient(self, place: str) -> Link | None:
        """The first link by which a gradient comes back into a place."""
        return next((link for link in self.going[place].values() if link.grad), None)
