"""Programs that can be opened: those of the gallery, a trace file, a trace in memory."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import engine
from engine.trace.events import Trace
from engine.trace.file.consistency import open_checked
from viz import gallery
from viz.gallery import comments
from viz.reading.text import join, one_line
from viz.record.compare_command import has_torch
from viz.record.missing_recording import ended
from viz.record.runner import Script
from viz.run.prefix import CHECKED, MOST
from viz.server.store import ENGINE, HEAVY, Program
from viz.server.workers import TraceFile
from viz.wording.text_difference import changed_lines

GALLERY = "Gallery"


def gallery_programs() -> list[Program]:
    """The gallery in its order, with the corrected programs, each recorded when it is first opened."""
    return [from_gallery(entry) for entry in (*gallery.gallery(), *gallery.fixed_programs())]


def from_gallery(entry: gallery.Program) -> Program:
    about: dict[str, Any] = {
        "title": entry.title,
        "question": entry.question,
        "crumbs": [GALLERY, entry.group, entry.question],
        "legacy": entry.legacy,
        "chapters": [{"title": chapter.title, "text": chapter.full_text} for chapter in entry.chapters],
        "card": {
            "learn": entry.learn,
            "level": entry.level,
            "words": list(entry.words),
            "outcome": entry.outcome,
            "source": entry.source,
        },
        "says": entry.says or None,
        "silence": entry.silence or None,
        "hidden": entry.fixes is not None,
        "other": _other(entry),
        "on_torch": not entry.legacy and has_torch(),
    }
    return Program(
        entry.id,
        about,
        lambda: record_source(entry.source, entry.path),
        lambda scene: gallery.resolve(entry.chapters, scene),
        script=None if entry.legacy else Script(entry.path),
    )


def _other(entry: gallery.Program) -> Mapping[str, Any] | None:
    """The program with the mistake or without it, and its lines that the other one lacks; None for any other
    program."""
    other = gallery.find(entry.fixed or entry.fixes or "")
    if other is None:
        return None
    lines = changed_lines(other.source, entry.source)
    return {
        "id": other.id,
        "is_fixed": other.fixes is not None,
        "added": list(lines.added),
        "gone": [{"before": gone.before, "lines": list(gone.lines)} for gone in lines.gone],
    }


def record_source(source: str, path: Path) -> Trace:
    """The trace of a program of ours.  What it prints is dropped; an exception is the last event of the trace.

    It runs in a thread of its own, so that no frame of whoever opened it stands above the program's in the trace.
    """
    code = compile(source, str(path), "exec")
    traces: list[Trace] = []
    failed: list[BaseException] = []

    def run() -> None:
        scope: dict[str, Any] = {"__name__": "__main__", "__file__": str(path), "__builtins__": __builtins__}
        try:
            with ENGINE, quiet(), engine.record() as trace:
                traces.append(trace)
                exec(code, scope)  # noqa: S102  # a script that ships with us
        except Exception as error:  # noqa: BLE001  # the programs that are about an error end with it
            failed.append(error)

    thread = threading.Thread(target=run, name=f"record {path.stem}")
    thread.start()
    thread.join()
    if not traces:
        raise failed[0]
    return traces[0]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drops the output and warnings of our programs, which the app shows; the terminal is the user's."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def from_trace(trace: Trace, title: str = "trace") -> Program:
    """A trace in memory."""
    return with_lesson(Program(slug(title), about_script(title), lambda: trace), trace)


def from_files(
    paths: Sequence[Path], most: int = MOST, again: Callable[[Trace], Script] | None = None
) -> list[Program]:
    """Trace files that are opened together; those of the same name are told apart by their folders."""
    names = [path.name for path in paths]
    titles = [
        f"{path.resolve().parent.name}/{path.name}" if names.count(path.name) > 1 else path.name for path in paths
    ]
    opened = [from_file(path, most, again, title) for path, title in zip(paths, titles, strict=True)]
    own = ids([path.stem for path in paths])
    return [replace(program, id=name) for program, name in zip(opened, own, strict=True)]


def from_file(path: Path, most: int = MOST, again: Callable[[Trace], Script] | None = None, title: str = "") -> Program:
    """A trace file, of which the beginning is read and checked now.

    Only the first `most` events of a longer section are shown.  `again` finds the script to run again for edits.
    """
    file = open_checked(str(path), min(most, CHECKED))
    about = {
        **about_script(title or path.name),
        "note": " ".join(filter(None, (ended(file.meta), damage_note(file), unchecked(file)))),
    }
    program = Program(slug(path.stem), about, lambda: file, file=TraceFile.of(path, most), most=most)
    program = replace(program, again=None if again is None else again(file))
    return with_lesson(program, file)


def with_lesson(program: Program, trace: Trace) -> Program:
    """The program with the chapters that its script has in comments; a long run has none, because it is a run first."""
    lesson = comments.lesson_of(list(trace.files.values()))
    if lesson is None or len(trace.events) >= HEAVY:
        return program
    return as_lesson(program, lesson[1])


def as_lesson(program: Program, lesson: comments.Lesson) -> Program:
    """The program with the title and the chapters of a lesson."""
    title = lesson.title or str(program.about["title"])
    crumbs = [*program.about["crumbs"][:-1], title]
    chapters = [{"title": part.title} for part in lesson.parts]
    about = {**program.about, "title": title, "question": title, "crumbs": crumbs, "chapters": chapters}
    return replace(program, about=about, chapters=comments.chapters)


def unchecked(file: Trace) -> str:
    """The note on a file that was written before rows had checksums; "" for any other."""
    if not file.meta.get("unchecked"):
        return ""
    return "This file has an earlier format, without checksums for its steps, so damage to them cannot be detected."


def damage_note(file: Trace) -> str:
    """The note on a file that lost rows; "" for any other."""
    match file.meta.get("damaged"):
        case [*lost] if lost:
            what = join([one_line(str(one), 80) for one in lost[:5]])
            remedy = "Copy it again, or record the program again."
            return f"This file is damaged. It is shown without the parts that cannot be read: {what}. {remedy}"
    return ""


def about_script(title: str) -> Mapping[str, Any]:
    """The scene's description of a program without a story."""
    return {"title": title, "question": title, "crumbs": [GALLERY, "Yours", title], "legacy": False, "chapters": []}


def slug(text: str) -> str:
    """A short name for an address, apart from the names of the gallery.

    >>> slug("my net (2)")
    'my-my-net-2'
    """
    return "my-" + (re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "trace")


def ids(names: Sequence[str]) -> list[str]:
    """Short names, all different.

    >>> ids(["a b", "a-b", "c"])
    ['my-a-b', 'my-a-b-2', 'my-c']
    """
    own: list[str] = []
    for name in names:
        numbered = (f"{slug(name)}-{number}" for number in itertools.count(2))
        own.append(next(one for one in itertools.chain([slug(name)], numbered) if one not in own))
    return own
