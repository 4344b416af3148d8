"""Everything that a page may ask about a program, computed beforehand and packed as differences.

Of a section of a run these are its scene, the same with groups folded and unfolded, the scenes of all edits that are
foreseen, and the details of all their elements.  assets/js/lesson/answers.mjs answers from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from viz.server.lesson.difference import difference
from viz.server.lesson.likely_edits import foreseen
from viz.server.store import Json, Problem, Revision, Store

ROOM = 8_000_000
"""Characters of JSON after which no further scene is packed: compressed, they are about a megabyte."""
MOST_FOLDS = 24
"""The most pictures of a section with other groups folded."""


Tell = Callable[[int], None]
"""Is called with the number of changes that have been replayed so far."""


def nobody(_replayed: int) -> None:
    """Ignores the number."""


class Lesson:
    """The contents of one lesson while they are packed; `room` is the rest of ROOM, `spare` a part of it for later."""

    def __init__(self, store: Store, tell: Tell = nobody) -> None:
        self.store = store
        self.tell = tell
        self.room = ROOM
        self.spare = 0
        self.replayed = 0

    def packed(self, program: str, also: Sequence[Json] = (), section: int | None = None) -> Json:
        """A program, opening at a section of its run, and the one without its mistake; `also` has further edits of that
        section."""
        other = (self.store.catalogue.find(program).about.get("other") or {}).get("id")
        programs = {program: self.program(program, also, section)}
        return {"opens": program, "programs": {**programs, **({other: self.program(other)} if other else {})}}

    def opening(self, program: str, section: int | None) -> Json:
        """Only one section of a program, as it opens."""
        revision = self.store.revision(program, None, section=section)
        base = _shared(self.store.scene(revision, None, {}, "").json())
        number = (base["section"] or {}).get("at")
        opened = {"base": base, "foldings": [], "edited": [], "details": {}, "changed": {}}
        sections = {"" if number is None else str(number): opened}
        return {"opens": program, "programs": {program: {"opens": number, "sections": sections, "run": None}}}

    def program(self, program: str, also: Sequence[Json] = (), section: int | None = None) -> Json:
        """The section that it opens with, and further likely requests about it; then the others that fit, and the
        edits of these, the nearest first."""
        scene = self.store.scene(self.store.revision(program, None, section=section), None, {}, "").json()
        opens, count = (scene["section"]["at"], scene["section"]["count"]) if scene["section"] else (None, 1)
        first = self.recorded(program, opens)
        sections = {"" if opens is None else str(opens): first}
        run = self.run(program, first["base"])
        self.spare = self.room // 2 if count > 1 else 0
        self.extend(first, program, opens, also)
        self.spare = 0
        for number in _nearest(opens or 0, count):
            if self.room <= 0:
                break
            sections[str(number)] = self.recorded(program, number)
        for number in _nearest(opens or 0, count):
            if self.room > 0:
                self.replay(sections[str(number)], program, number, foreseen(sections[str(number)]["base"], pairs=0))
        return {"opens": opens, "sections": sections, "run": run}

    def run(self, program: str, scene: Mapping[str, Any]) -> Json | None:
        """The data of the run view: `overview` and `graphs`; None for a program without them, or if they are too
        large."""
        if scene["section"] is None and not scene["norms"]:
            return None
        data = {"overview": self.store.overview(program).json(), "graphs": self.store.graphs(program).json()}
        return data if self.reserve(data) else None

    def recorded(self, program: str, number: int | None) -> Json:
        """A section as it was recorded: `base`, its scene, and `details`, of all its elements."""
        revision = self.store.revision(program, None, section=number)
        base = _shared(self.store.scene(revision, None, {}, "").json())
        details = self.details(revision, base)
        self.reserve([base, details])
        return {"base": base, "foldings": [], "edited": [], "details": details, "changed": {}}

    def extend(self, section: Json, program: str, number: int | None, also: Sequence[Json]) -> None:
        """Adds scenes to a section, as differences from its base: edits, and `foldings`, with other groups folded."""
        recorded, base = self.store.revision(program, None, section=number), section["base"]
        for scene in self.foldings(recorded, base):
            new = {one: row for one, row in self.details(recorded, scene).items() if one not in section["details"]}
            change = difference(base, scene)
            if not self.reserve([change, new]):
                break
            section["foldings"].append(change)
            section["details"] |= new
        section["edited"] += [self.edited(section, program, number, edits) for edits in also]
        self.replay(section, program, number, [one for one in foreseen(base) if one not in also])

    def replay(self, section: Json, program: str, number: int | None, likely: Sequence[Json]) -> None:
        """Adds replays to a section while there is room: to `edited` the edits with their scene, or why there is none;
        to `changed` the details that differ, by revision and element."""
        for edits in likely:
            if self.room <= self.spare:
                break
            section["edited"].append(self.edited(section, program, number, edits))

    def edited(self, section: Json, program: str, number: int | None, edits: Json) -> Json:
        """The scene of an edited section, with its details in `section`; the reason if the edit is refused."""
        self.replayed += 1
        self.tell(self.replayed)
        try:
            revision = self.store.revision(program, edits, section=number)
            scene = _shared(self.store.scene(revision, None, {}, "").json())
        except Problem as problem:
            return {"edits": edits, "problem": problem.as_json()}
        base_rows = section["details"]
        details = {
            element: difference(base_rows.get(element), one) for element, one in self.details(revision, scene).items()
        }
        change = difference(section["base"], scene)
        self.reserve([change, details])
        section["changed"][revision.id] = details
        return {"edits": edits, "revision": revision.id, "scene": change}

    def reserve(self, documents: Any) -> bool:
        """Takes the room that documents need; False if there is not enough."""
        self.room -= len(json.dumps(documents, separators=(",", ":")))
        return self.room > self.spare

    def details(self, revision: Revision, scene: Mapping[str, Any]) -> Json:
        """The details of all elements."""
        return {element: self.store.details(revision, element).json() for element in _elements(scene)}

    def foldings(self, revision: Revision, base: Mapping[str, Any]) -> Iterator[Json]:
        """The recorded scene with other groups folded: as its chapters unfold them, all open, all folded, and each
        group by itself opened or folded."""
        seen = {frozenset(base["folded"])}
        for folds in _folds(base, self.unfolded(revision, base)):
            if len(seen) > MOST_FOLDS:
                return
            scene = _shared(self.store.scene(revision, None, folds, "").json())
            if frozenset(scene["folded"]) not in seen:
                seen.add(frozenset(scene["folded"]))
                yield scene

    def unfolded(self, revision: Revision, base: Mapping[str, Any]) -> Mapping[str, Any]:
        """The scene with all groups open, those in groups too."""
        scene: Mapping[str, Any] = base
        folds: dict[str, bool] = {}
        while scene["folded"] and not folds.keys() >= set(scene["folded"]):
            folds |= dict.fromkeys((*(group["id"] for group in scene["groups"]), *scene["folded"]), False)
            scene = self.store.scene(revision, None, folds, "").json()
        return scene


def _nearest(number: int, count: int) -> list[int]:
    """All other numbers below `count`, the nearest first, of two that are as near the later one.

    >>> _nearest(1, 4)
    [2, 0, 3]
    """
    return sorted({*range(count)} - {number}, key=lambda other: (abs(other - number), -other))


def _elements(scene: Mapping[str, Any]) -> list[str]:
    """The elements that a visitor can select: a stub has the details of its tensor, and a part of a stack, which only
    this picture knows, those of the stack (`elementOf` of assets/js/panels/inspector/inspector.mjs)."""
    stacks = {group["id"] for group in scene["groups"] if group.get("stack")}
    nodes = [node for node in scene["nodes"] if node["kind"] != "stub"]
    return list(dict.fromkeys(n["group"] if "cells" in n and n["group"] in stacks else n["id"] for n in nodes))


def _shared(scene: Json) -> Json:
    """A scene as it may leave this machine: files have names without folders, and the recordings that were opened
    together with this one are left out."""
    scene["program"].pop("beside", None)
    for file in scene["program"]["files"]:
        file["name"] = PurePath(file["name"].replace("\\", "/")).name
    return scene


def _folds(base: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[dict[str, bool]]:
    """The requests to `store.scene`, the likeliest first."""
    folds: dict[str, bool] = {}
    for chapter in base["program"]["chapters"]:
        folds |= dict.fromkeys(chapter.get("unfold", ()), False)
        yield dict(folds)
    for node in base["nodes"]:
        yield from ({node["id"]: False, member["id"]: False} for member in node.get("cells", ()))
    groups = {group["id"]: group["within"] for group in whole["groups"]}
    for group in groups:
        if groups[group] is None or group in base["folded"]:
            yield dict.fromkeys(_around(group, groups), False) if group in base["folded"] else {group: True}
    yield dict.fromkeys(groups, False)
    yield dict.fromkeys(groups, True)
    for group in groups:
        yield {group: True}


def _around(group: str, within: Mapping[str, str | None]) -> Iterator[str]:
    """A group and those around it."""
    at: str | None = group
    while at is not None:
        yield at
        at = within.get(at)
