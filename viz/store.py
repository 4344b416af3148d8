"""The only state of the server: programs, revisions and what was computed for them, found by id.

A revision is a program and edits; its id is a hash of both, so that the same edits made twice are one revision, and an
address that carries edits always leads to the same picture.  Traces, scenes and details are kept in small LRU caches
and computed again when asked for; the edits of a revision are kept longest, because an address may name nothing else.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from .lru import Lru

if TYPE_CHECKING:
    from engine.trace import Trace

log = logging.getLogger("backstep")

Json = dict[str, Any]

TRACES = 48
SCENES = 64
DETAILS = 512
REVISIONS = 20_000
NO_EDITS: Json = {"leaves": {}, "commands": None}


class Problem(Exception):
    """Something that a person should read: a title, what happened, and where the way goes on.

    `ways` are (label, address) pairs for buttons.
    """

    def __init__(self, kind: str, title: str, text: str, ways: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self.kind = kind
        self.title = title
        self.text = text
        self.ways = tuple(ways)

    def as_json(self) -> Json:
        return {"kind": self.kind, "title": self.title, "text": self.text, "ways": [list(way) for way in self.ways]}


@dataclass(frozen=True)
class Program:
    """A recorded program.  `about` is what the scene says of it (title, question, crumbs, legacy, chapters).

    `record` makes the trace; it is called once, when the program is first opened.  `chapters` ties the story to the
    steps of a scene.  `version` counts recordings of a watched script; `watched` programs are asked about by the
    browser from time to time, and `note` is what keeps the newest save from being recorded.
    """

    id: str
    about: Mapping[str, Any]
    record: Callable[[], Trace]
    chapters: Callable[[Json], list[Json]] | None = None
    version: int = 1
    watched: bool = False
    note: str = ""


@dataclass(frozen=True)
class Revision:
    """A program with edits; `id` is a hash of the recorded program and the canonical edits."""

    id: str
    program: str
    version: int
    edits: Mapping[str, Any] = field(hash=False)

    @property
    def is_base(self) -> bool:
        return canonical(self.edits) == canonical(NO_EDITS)


class Pure(Protocol):
    """What the store computes with: the pure side of the app, handed in so that tests can count and replace it."""

    def replay(self, trace: Trace, edits: Mapping[str, Any]) -> Trace: ...

    def scene(self, job: SceneJob) -> Json: ...

    def details(self, trace: Trace, scene: Json, element: str) -> Json: ...


@dataclass(frozen=True)
class SceneJob:
    """Everything that a scene depends on."""

    program: Program
    revision: Revision
    trace: Trace
    base: Trace
    base_id: str
    previous: Trace | None
    folds: Mapping[str, bool]
    layout: str


def canonical(edits: Mapping[str, Any] | None) -> str:
    """One text for equal edits.

    >>> canonical({"commands": None, "leaves": {}}) == canonical(None)
    True
    """
    return json.dumps(checked(edits), sort_keys=True, separators=(",", ":"), allow_nan=False)


def checked(edits: Mapping[str, Any] | None) -> Json:
    """Edits from outside, in their full form; raises Problem where they have another form than docs/scene-format.md."""
    given = dict(edits or NO_EDITS)
    leaves, commands = given.get("leaves") or {}, given.get("commands")
    if not isinstance(leaves, Mapping) or not all(isinstance(key, str) for key in leaves):
        raise bad_edits("`leaves` maps the number of a tensor to its values.")
    if commands is not None:
        if not isinstance(commands, Sequence) or isinstance(commands, str):
            raise bad_edits("`commands` is a list.")
        if not all(isinstance(command, Mapping) and "kind" in command for command in commands):
            raise bad_edits("Each command has a kind: backward, zero or set.")
    return {"leaves": {str(key): leaves[key] for key in leaves}, "commands": commands}


def bad_edits(text: str) -> Problem:
    """The problem of edits that have another form than docs/scene-format.md."""
    return Problem("bad-edits", "These edits cannot be read", text, [("Open the gallery", "/")])


class Catalogue:
    """The programs that can be opened, in the order in which the gallery shows them; scripts and files are added."""

    def __init__(self, programs: Sequence[Program] = ()) -> None:
        self._programs = {program.id: program for program in programs}
        self._lock = threading.Lock()

    def find(self, program: str) -> Program:
        found = self._programs.get(program)
        if found is None:
            raise Problem(
                "unknown-program",
                "There is no such program here",
                f"The address names the program {program!r}, which is neither in the gallery nor opened in this "
                "session. A script or a file is known only to the session that opened it: start it again with "
                "`backstep run script.py` or `backstep open FILE`.",
                [("Open the gallery", "/")],
            )
        return found

    def add(self, program: Program) -> Program:
        """Adds the program; one with the same id is replaced and its version goes up by one."""
        with self._lock:
            old = self._programs.get(program.id)
            version = old.version + 1 if old else program.version
            new = replace(program, version=version)
            self._programs[new.id] = new
        return new

    def annotate(self, program: str, note: str) -> None:
        """A note on the same recording: what is wrong with the script as it is now."""
        with self._lock:
            self._programs[program] = replace(self._programs[program], note=note)

    def programs(self) -> list[Program]:
        return list(self._programs.values())


class Store:
    """Answers the two questions of the browser, a scene and details, from its caches or by computing them."""

    def __init__(self, catalogue: Catalogue, pure: Pure) -> None:
        self.catalogue = catalogue
        self.pure = pure
        self._traces: Lru[str, Trace] = Lru(TRACES)
        self._scenes: Lru[tuple[Any, ...], Json] = Lru(SCENES)
        self._details: Lru[tuple[str, str], Json] = Lru(DETAILS)
        self._revisions: Lru[str, Revision] = Lru(REVISIONS)
        # The engine keeps one recorder and one grad mode per process, so recording and replay run one at a time.
        self._computing = threading.RLock()

    def revision(self, program: str, edits: Mapping[str, Any] | None, revision: str | None = None) -> Revision:
        """The revision of a program with these edits, or (`edits` None) the one whose id an address names."""
        found = self.catalogue.find(program)
        if edits is None and revision is not None:
            known = self._revisions.get(revision)
            if known is None or known.program != program or known.version != found.version:
                raise _unknown_revision(program, revision)
            return known
        full = checked(edits)
        text = "\0".join([found.id, str(found.version), self._source(found), canonical(full)])
        made = Revision(hashlib.sha256(text.encode()).hexdigest()[:16], program, found.version, full)
        return self._revisions.put(made.id, made)

    def trace(self, revision: Revision) -> Trace:
        """The trace of a revision: recorded, or replayed from the recorded one."""
        with self._computing:
            known = self._traces.get(revision.id)
            if known is not None:
                return known
            base = self._base(self.catalogue.find(revision.program))
            made = base if revision.is_base else self.pure.replay(base, revision.edits)
            return self._traces.put(revision.id, made)

    def scene(self, revision: Revision, previous: Revision | None, folds: Mapping[str, bool], layout: str) -> Json:
        """The scene of a revision; `previous` is the one whose values are shown as ghosts."""
        old = previous if previous is not None and previous.id != revision.id else None
        key = (revision.id, old.id if old else None, tuple(sorted(folds.items())), layout)
        with self._computing:
            known = self._scenes.get(key)
            if known is not None:
                return known
            program = self.catalogue.find(revision.program)
            trace = self.trace(revision)
            before = self.trace(old) if old else None
            base_id = self.revision(program.id, None).id
            job = SceneJob(program, revision, trace, self._base(program), base_id, before, folds, layout)
            return self._scenes.put(key, self.pure.scene(job))

    def details(self, revision: Revision, element: str) -> Json:
        """The details of one element at all moments."""
        key = (revision.id, element)
        with self._computing:
            known = self._details.get(key)
            if known is not None:
                return known
            scene = self.scene(revision, None, {}, "")
            return self._details.put(key, self.pure.details(self.trace(revision), scene, element))

    def _base(self, program: Program) -> Trace:
        key = f"{program.id}@{program.version}"
        known = self._traces.get(key)
        return known if known is not None else self._traces.put(key, program.record())

    def _source(self, program: Program) -> str:
        with self._computing:
            return json.dumps(dict(self._base(program).files), sort_keys=True)


def _unknown_revision(program: str, revision: str) -> Problem:
    return Problem(
        "unknown-revision",
        "This revision is no longer known",
        f"The address names the revision {revision!r}. Its edits were too long to stand in the address, and this "
        "session has not made them: it was made by another session, or the program has changed since. "
        "The program itself is still here, as it was recorded.",
        [("Open the program as recorded", f"/?program={program}"), ("Open the gallery", "/")],
    )
