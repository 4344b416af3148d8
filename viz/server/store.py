"""The state of programs and revisions: both, and what was computed for them, found by id.

A revision is a program and edits; its id is a hash of both, so that the same edits made twice are one revision, and an
address that carries edits always leads to the same picture.  Traces, scenes and details are kept in caches of so many
bytes (docs/howto/deploy/README.md) and computed again when asked for; the edits of a revision are kept longest, because
an address may name nothing else.  What is cached never waits for what is computed; only recording and replay run one at
a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from engine.trace.file.consistency import open_checked

from ..run.prefix import CHECKED, MOST
from ..run.run import Run
from ..scene.reading import weight
from ..schema.scene import Chapter
from ..tasks.lru import Lru
from ..tasks.single_flight import SingleFlight
from .http.gzip_pieces import DeflatedText, pack_json
from .workers import TraceFile, WorkerEnd, Workers

if TYPE_CHECKING:
    from engine.trace.events import Trace

    from ..record.runner import Script

log = logging.getLogger("backstep")

Json = dict[str, Any]

MIB = 1 << 20
TRACES = 48, 192 * MIB
"""Recorded and replayed traces: their number and their bytes; the same for the others below."""
SCENES = 512, 64 * MIB
"""Scenes, compressed as they are sent: a hundred nodes take some 50 kB."""
DETAILS = 2048, 32 * MIB
"""Details of elements, compressed as they are sent."""
RUNS = 8, 8
"""Facts about whole recordings: their number."""
REVISIONS = 20_000, 32 * MIB
"""The edits of revisions, as JSON."""
HEAVY = 1_500
"""The number of events from which on the scenes of a trace file are made in a separate process: they take 0.2 s and
more."""
AHEAD = 10.0
"""Seconds for which what is made ahead waits until nobody else needs a process."""
NO_EDITS: Json = {"leaves": {}, "commands": None}
NOT_RECOMPUTED = "not-recomputed"
"""The kind of the problem of edits that need another library than the engine."""
UNEDITED = '{"commands":null,"leaves":{}}'


class Problem(Exception):
    """A message for a person: a title, what happened, and what to do. `ways` are (label, address) pairs for buttons."""

    def __init__(self, kind: str, title: str, text: str, ways: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self.kind = kind
        self.title = title
        self.text = text
        self.ways = tuple(ways)

    def as_json(self) -> Json:
        return {"kind": self.kind, "title": self.title, "text": self.text, "ways": [list(way) for way in self.ways]}


class ResultPending(Exception):
    """The result takes long and does not exist yet: the page asks for it in the background first."""


class Shelf(Protocol):
    """Where all processes of a server look for slow results: files, and scenes of sections of `long` events or more."""

    long: int

    def __call__(self, request: str, make: Callable[[], DeflatedText]) -> DeflatedText:
        """The result; if there is none, a process in the background makes it, and others raise ResultPending."""

    def tell(self, request: str, replayed: int) -> None:
        """Notes how many changes have been replayed for a result that is being made."""

    def replayed(self, request: str) -> int:
        """The number that was noted last, 0 if none was."""


@dataclass(frozen=True)
class Program:
    """A recorded program.  `about` is what the scene says of it (title, question, crumbs, legacy, chapters).

    `record` makes the trace; it is called once, when the program is first opened.  `chapters` ties the story to the
    steps of a scene.  `version` counts recordings of a watched script; `watched` programs are asked about by the
    browser from time to time, and `note` says why the newest save was not recorded.  `file` is where another
    process finds the trace.  Only the first `most` events of a longer section are shown.  `script` is what it was
    recorded from, if that was a script that ran on the engine; `again` is the same of one that ran on another library,
    if the user allows it to be run again for edits (`--rerun`).
    """

    id: str
    about: Mapping[str, Any]
    record: Callable[[], Trace]
    chapters: Callable[[Mapping[str, Any]], list[Chapter]] | None = None
    version: int = 1
    watched: bool = False
    note: str = ""
    file: TraceFile | None = None
    most: int = MOST
    script: Script | None = None
    again: Script | None = None


@dataclass(frozen=True)
class ProgramRerun:
    """A program that was run again with the edits of a revision: its recording, and the note on it."""

    file: TraceFile
    text: str

    def as_json(self) -> Json:
        return {"file": self.file.as_json(), "text": self.text}


@dataclass(frozen=True)
class Revision:
    """A recording of a program, or one section of it, with edits; `id` is a hash of both, `text` the canonical edits as
    JSON.  Without a number it is the section that is shown first.
    """

    id: str
    program: str
    version: int
    text: str = field(hash=False)
    section: int | None = None

    @property
    def edits(self) -> Json:
        """The edits, parsed again from their text: as lists, a million numbers take four times as much memory."""
        edits: Json = json.loads(self.text)
        return edits

    @property
    def is_base(self) -> bool:
        return self.text == UNEDITED


RunPart = Literal["overview", "graphs"]


class Computation(Protocol):
    """The pure side of the app, with which the store computes; tests can count and replace it."""

    def replay(self, trace: Trace, edits: Mapping[str, Any]) -> Trace: ...

    def scene(self, job: SceneJob) -> Mapping[str, Any]: ...

    def details(self, trace: Trace, scene: Mapping[str, Any], element: str) -> Mapping[str, Any]: ...

    def overview(self, run: Run, program: Program) -> Mapping[str, Any]: ...

    def graphs(self, run: Run) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class SceneJob:
    """All inputs of a scene."""

    program: Program
    revision: Revision
    trace: Trace
    base: Trace
    base_id: str
    previous: Trace | None
    folds: Mapping[str, bool]
    layout: str
    run: Run
    section: int


def canonical(edits: Mapping[str, Any] | None) -> str:
    """One text for equal edits.

    >>> canonical({"commands": None, "leaves": {}}) == canonical(None)
    True
    """
    return json.dumps(checked(edits), sort_keys=True, separators=(",", ":"), allow_nan=False)


def checked(edits: Mapping[str, Any] | None) -> Json:
    """Edits from outside, in their full form; raises Problem if their form is not that of docs/scene-format.md."""
    fields = dict(edits or NO_EDITS)
    leaves, commands = fields.get("leaves") or {}, fields.get("commands")
    if not isinstance(leaves, Mapping) or not all(isinstance(key, str) for key in leaves):
        raise bad_edits("`leaves` must map the number of a tensor to its values.")
    if commands is not None:
        if not isinstance(commands, Sequence) or isinstance(commands, str):
            raise bad_edits("`commands` must be a list.")
        if not all(isinstance(command, Mapping) and "kind" in command for command in commands):
            raise bad_edits("Each command must have a kind: backward, zero or set.")
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
        entry = self._programs.get(program)
        if entry is None:
            raise Problem(
                "unknown-program",
                "This program is not open here",
                f"The program {program!r} in this link is not in the gallery and was not opened in this session. "
                "A script or a file is known only to the session that opened it: open it again with "
                "`backstep run script.py` or `backstep open FILE`.",
                [("Open the gallery", "/")],
            )
        return entry

    def add(self, program: Program) -> Program:
        """Adds the program; one with the same id is replaced and its version goes up by one."""
        with self._lock:
            old = self._programs.get(program.id)
            version = old.version + 1 if old else program.version
            new = replace(program, version=version)
            self._programs[new.id] = new
        return new

    def add_together(self, programs: Sequence[Program]) -> Program:
        """Adds programs, at least one, and links each to the others; returns the first."""
        added = []
        for program in programs:
            beside = {one.id: one.about["title"] for one in programs if one.id != program.id}
            about = {**program.about, "beside": beside} if beside else program.about
            added.append(self.add(replace(program, about=about)))
        return added[0]

    def annotate(self, program: str, note: str) -> None:
        """Sets the note on a recording: what is wrong with the script as it is now."""
        with self._lock:
            self._programs[program] = replace(self._programs[program], note=note)

    def programs(self) -> list[Program]:
        return list(self._programs.values())


class Revisions(Protocol):
    """Revisions by id."""

    def get(self, key: str) -> Revision | None: ...

    def put(self, key: str, value: Revision) -> Revision: ...


ENGINE = threading.Lock()
"""The engine keeps one recorder and one grad mode per process, so recording and replay run here one at a time."""


class Store:
    """Answers the two questions of the browser, a scene and details, from its caches or by computing them."""

    def __init__(
        self,
        catalogue: Catalogue,
        pure: Computation,
        workers: Workers | None = None,
        revisions: Revisions | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self.catalogue = catalogue
        self.pure = pure
        self.workers = workers
        self.shelf = shelf
        self._traces: Lru[str, Trace] = Lru(*TRACES, lambda _, trace: weight(trace))
        self._files: Lru[str, Trace] = Lru(*RUNS, lambda _, trace: 1)
        """Recordings that are open files, of which the runs hold the same ones. Among the traces, a long one would take
        the place of its own sections."""
        self._runs: Lru[str, Run] = Lru(*RUNS, lambda _, run: 1)
        self._scenes: Lru[tuple[Any, ...], DeflatedText] = Lru(*SCENES, _size)
        self._calls: Lru[str, DeflatedText] = Lru(*DETAILS, _size)
        self._details: Lru[tuple[str, str], DeflatedText] = Lru(*DETAILS, _size)
        self._overviews: Lru[str, DeflatedText] = Lru(*DETAILS, _size)
        self._revisions: Revisions = revisions or Lru[str, Revision](*REVISIONS, lambda _, one: len(one.text))
        self._sources: dict[str, tuple[int, str]] = {}
        self.again: dict[str, ProgramRerun] = {}
        """The run with the edits of a revision, by its id, if there was one."""
        self._flight = SingleFlight()

    def revision(
        self, program: str, edits: Mapping[str, Any] | None, revision: str | None = None, section: int | None = None
    ) -> Revision:
        """The revision of a section of a program with these edits, or (`edits` None) the one whose id an address names.

        It is known by its id once its trace has been made: edits that are refused leave nothing behind.
        """
        entry = self.catalogue.find(program)
        if edits is None and revision is not None:
            result = self._revisions.get(revision) or self.revision(program, NO_EDITS, section=section)
            if result.id != revision or result.program != program or result.version != entry.version:
                raise _unknown_revision(program, revision)
            return result
        return self._revision(program, entry.version, canonical(edits), section)

    def prepare(self) -> None:
        """Begins to make the scenes and overviews of long recordings, so that they are ready when the browser asks."""
        for program in self.catalogue.programs():
            if program.file is not None:
                for make in (self._prepare_scene, self._prepare_overview):
                    threading.Thread(
                        target=self._prepared, args=(make, program.id), daemon=True, name="prepare"
                    ).start()

    def _prepare_scene(self, revision: Revision) -> None:
        if self._is_far(revision):
            self.scene(revision, None, {}, "")

    def _prepare_overview(self, revision: Revision) -> None:
        run = self._run(revision)
        if run.is_divided and run.is_measured:
            self.overview(revision.program)

    def _prepared(self, make: Callable[[Revision], None], program: str) -> None:
        try:
            make(self.revision(program, None))
        except Exception as error:  # noqa: BLE001  # it comes again, and is said, when the browser asks
            log.debug("the first scene of %s could not be made: %s", program, error)

    def trace(self, revision: Revision) -> Trace:
        """The trace of a revision: recorded, or replayed from the recorded one."""
        if revision.is_base:
            return self._base(revision)
        trace = self._flight.cached(self._traces, revision.id, lambda: self._replayed(revision))
        self._revisions.put(revision.id, revision)
        return trace

    def scene(
        self, revision: Revision, previous: Revision | None, folds: Mapping[str, bool], layout: str
    ) -> DeflatedText:
        """The scene of a revision, as JSON; `previous` is the one whose values are shown as ghosts."""
        old = previous if previous is not None and previous.id != revision.id else None
        key = (revision.id, old.id if old else None, tuple(sorted(folds.items())), layout)
        scene = self._flight.cached(self._scenes, key, lambda: self._scene(revision, old, folds, layout))
        self._revisions.put(revision.id, revision)
        return scene

    def details(self, revision: Revision, element: str) -> DeflatedText:
        """The details of one element at all moments, as JSON."""
        key = (revision.id, element)
        return self._flight.cached(self._details, key, lambda: self._detailed(revision, element))

    def overview(self, program: str) -> DeflatedText:
        """A few numbers per iteration and parameter of the newest recording of a program, as JSON."""
        return self._of_run(program, "overview")

    def graphs(self, program: str) -> DeflatedText:
        """The problems in the graphs of its first iterations, as JSON."""
        return self._of_run(program, "graphs")

    def opens_whole(self, program: str) -> bool:
        """Return whether the run view is shown first."""
        return self._run(self.revision(program, None)).opens_whole

    def _of_run(self, name: str, part: RunPart) -> DeflatedText:
        revision = self.revision(name, None)

        def make() -> DeflatedText:
            is_quick = part == "overview" and self._run(revision).is_measured
            if not is_quick and (far := self._elsewhere(revision, part=part)) is not None:
                return far
            run, program = self._run(revision), self.catalogue.find(name)
            return pack_json(self.pure.overview(run, program) if part == "overview" else self.pure.graphs(run))

        return self._flight.cached(self._overviews, f"{name}@{revision.version} {part}", make)

    def _scene(self, revision: Revision, old: Revision | None, folds: Mapping[str, bool], layout: str) -> DeflatedText:
        program = self.catalogue.find(revision.program)
        if (
            program.version != revision.version
        ):  # a watched script that has changed: the scene would describe the old one
            raise _recorded_again(program.id)
        if self.shelf is not None and self._is_long(revision, self.shelf):
            request = json.dumps(["scene", revision.id, old and old.id, sorted(folds.items()), layout])
            return self.shelf(request, lambda: self._computed(revision, old, folds, layout))
        if (far := self._elsewhere(revision, old, folds, layout)) is not None:
            return far
        return self._computed(revision, old, folds, layout)

    def _computed(
        self, revision: Revision, old: Revision | None, folds: Mapping[str, bool], layout: str
    ) -> DeflatedText:
        program = self.catalogue.find(revision.program)
        trace, before = self.trace(revision), self._before(old)
        base_id = self._revision(revision.program, revision.version, UNEDITED, revision.section).id
        run, base = self._run(revision), trace if revision.is_base else self._base(revision)
        section = self._section(revision)
        scene = self.pure.scene(SceneJob(program, revision, trace, base, base_id, before, folds, layout, run, section))
        self.know(revision, scene)
        return pack_json(scene)

    def know(self, revision: Revision, scene: Mapping[str, Any]) -> DeflatedText:
        """Keeps the parts of a scene that details need: the same for any folding."""
        return self._calls.put(revision.id, pack_json({"revision": scene["revision"], "phases": scene["phases"]}))

    def _before(self, old: Revision | None) -> Trace | None:
        """The trace whose values are shown as ghosts: an extra, without which the new picture is still right."""
        try:
            return self.trace(old) if old else None
        except Problem:  # such a revision was never shown
            return None
        except Exception:
            log.warning("the revision before could not be made again", exc_info=True)
            return None

    def _elsewhere(
        self,
        revision: Revision,
        old: Revision | None = None,
        folds: Mapping[str, bool] | None = None,
        layout: str = "",
        element: str | None = None,
        part: RunPart | None = None,
        calls: Json | None = None,
    ) -> DeflatedText | None:
        """A scene, the details of an element, or the overview of a run, from a worker process; None if it is made
        here."""
        program = self.catalogue.find(revision.program)
        if self.workers is None or program.file is None or not self._is_far(revision):
            return None
        file = {"id": program.id, "version": program.version, "about": program.about, "file": program.file.as_json()}
        question = {
            "program": file, "revision": revision.id, "text": revision.text, "folds": folds, "layout": layout,
            "previous": old and {"id": old.id, "text": old.text}, "element": element, "section": revision.section,
            "part": part, "calls": calls,
            "again": {one.id: self.again[one.id].as_json() for one in (revision, old) if one and one.id in self.again},
        }  # fmt: skip
        try:
            head, answer = self.workers.packed(program.id, part or self._section(revision), question)
        except WorkerEnd as error:
            raise _ended(error) from error
        if "problem" in head:
            raise Problem(**head["problem"])
        if "failed" in head:
            raise RuntimeError(f"a scene could not be made:\n{head['failed']}")
        return None if head["stale"] else answer

    def _is_far(self, revision: Revision) -> bool:
        return self.workers is not None and len(self._recorded(revision.program, revision.version).events) >= HEAVY

    def _is_long(self, revision: Revision, shelf: Shelf) -> bool:
        run, number = self._run(revision), self._section(revision)
        if not 0 <= number < len(run.sections):
            return False  # `_base` says so
        section = run.sections[number]
        return min(section.end - section.start, run.most) >= shelf.long

    def _detailed(self, revision: Revision, element: str) -> DeflatedText:
        packed = self._calls.get(revision.id)
        if packed is None and self.shelf is not None and self._is_long(revision, self.shelf):
            with contextlib.suppress(ResultPending):  # it was shown so long ago that nobody has it any more
                packed = self.know(revision, self.scene(revision, None, {}, "").json())
        calls = None if packed is None else packed.json()
        if (far := self._elsewhere(revision, element=element, calls=calls)) is not None:
            return far
        calls = calls or self.scene(revision, None, {}, "").json()
        return pack_json(self.pure.details(self.trace(revision), calls, element))

    def recorded(self, program: str) -> Trace:
        """The newest recording of a program, whole."""
        return self._recorded(program, self.catalogue.find(program).version)

    def _recorded(self, program: str, version: int) -> Trace:
        """A recording of a program. Raises Problem if a newer one has replaced it and it is gone."""

        def record() -> Trace:
            entry = self.catalogue.find(program)
            if entry.version != version:
                raise _recorded_again(program)
            return entry.record()

        traces = self._traces if self.catalogue.find(program).file is None else self._files
        return self._flight.cached(traces, f"{program}@{version}", record)

    def _run(self, revision: Revision) -> Run:
        """The whole recording that a revision is a part of."""

        def read() -> Run:
            program = self.catalogue.find(revision.program)
            whole = self._recorded(revision.program, revision.version)
            return Run(whole, program.most, is_told=program.chapters is not None)

        return self._flight.cached(self._runs, f"{revision.program}@{revision.version}", read)

    def _section(self, revision: Revision) -> int:
        return self._run(revision).opens if revision.section is None else revision.section

    def _base(self, revision: Revision) -> Trace:
        """The recorded section that a revision is of.  Raises Problem if the recording has no such section."""
        run, section = self._run(revision), self._section(revision)
        if not 0 <= section < len(run.sections):
            raise _unknown_section(revision.program, section, len(run.sections))
        if not run.is_divided:
            return run.trace(0)
        key = f"{revision.program}@{revision.version}#{section}"
        return self._flight.cached(self._traces, key, lambda: run.trace(section))

    def ahead(self, revision: Revision, folds: Mapping[str, bool], layout: str) -> None:
        """Makes a scene that is likely to be requested next, while nobody waits for it, nor for the process that would
        make it: whoever unfolds a box meanwhile needs the one that has read its iteration."""

        def make() -> None:
            if self.workers is not None and not self.workers.rest(AHEAD):
                return
            try:
                self.scene(revision, None, folds, layout)
            except Exception as error:  # noqa: BLE001  # it comes again, and is said, when the browser asks
                log.debug("the scene of section %s could not be made: %s", revision.section, error)

        threading.Thread(target=make, daemon=True, name="ahead").start()

    def whole(self, revision: Revision) -> tuple[Run, int]:
        """The recording that a revision is a part of, and the number of its section."""
        return self._run(revision), self._section(revision)

    def base(self, revision: Revision) -> Trace:
        """A revision before its edits."""
        return self._base(revision)

    def _replayed(self, revision: Revision) -> Trace:
        again = self.again.get(revision.id)
        if again is not None:
            return self._ran_again(revision, again)
        base = self._base(revision)
        with ENGINE:
            return self.pure.replay(base, revision.edits)

    def _ran_again(self, revision: Revision, again: ProgramRerun) -> Trace:
        """The section of a revision in the run with its edits.  Raises Problem if that run ended before it."""
        run, section = self._run(revision), self._section(revision)
        whole = open_checked(again.file.path, min(run.most, CHECKED))
        other = Run(whole, run.most, is_told=run.is_told or not run.is_divided)
        if section and (not other.is_divided or section >= len(other.sections)):
            raise _ended_before(run.sections[section].label)
        trace = other.trace(section if other.is_divided else 0)
        return replace(trace, meta={**trace.meta, "rerun": True, "recomputed": again.text})

    def _revision(self, program: str, version: int, text: str, section: int | None = None) -> Revision:
        part = [] if section is None else [str(section)]
        named = "\0".join([program, str(version), self._source(program, version), text, *part])
        return Revision(hashlib.sha256(named.encode()).hexdigest()[:16], program, version, text, section)

    def _source(self, program: str, version: int) -> str:
        """A hash of the text of a recording's files; that of the newest is kept."""
        entry = self._sources.get(program)
        if entry is None or entry[0] != version:
            files = json.dumps(dict(self._recorded(program, version).files), sort_keys=True)
            entry = self._sources[program] = (version, hashlib.sha256(files.encode()).hexdigest())
        return entry[1]


def _size(_key: object, packed: DeflatedText) -> int:
    return len(packed.blocks)


def unreadable(error: Exception) -> Problem:
    """The problem of a trace file of which a part turns out to be malformed when it is read."""
    return Problem("bad-trace", "This file cannot be read", str(error), [("Open the gallery", "/")])


def _ended(error: WorkerEnd) -> Problem:
    return Problem(
        "ended",
        "The process that made this picture has stopped",
        f"It was stopped from outside ({error}); the machine may have run out of memory. The previous view is still "
        "there. Start Backstep with a smaller `--events`, or try again.",
        [("Open the gallery", "/")],
    )


def _unknown_section(program: str, section: int, count: int) -> Problem:
    return Problem(
        "unknown-section",
        "The recording has no such iteration",
        f"The link names number {section + 1:,}; the recording has {count:,}. It may have been recorded again since.",
        [("Open the first one", f"/?program={program}&section=0"), ("Open the gallery", "/")],
    )


def _ended_before(label: str) -> Problem:
    return Problem(
        "edit-refused",
        "The program ends before this iteration",
        f"With this edit the program ends before {label}. Look at the iteration in which it ends.",
    )


def _recorded_again(program: str) -> Problem:
    return Problem(
        "recorded-again",
        "The program was recorded again",
        "It changed while this view was being computed, and the previous recording is no longer available.",
        [("Open the program as it is now", f"/?program={program}"), ("Open the gallery", "/")],
    )


def _unknown_revision(program: str, revision: str) -> Problem:
    return Problem(
        "unknown-revision",
        "This revision is no longer known",
        f"The edits of revision {revision!r} were too long for the link, and this session does not have them: "
        "another session made them, or the program has changed since. "
        "The program itself is still here, as it was recorded.",
        [("Open the program as recorded", f"/?program={program}"), ("Open the gallery", "/")],
    )
