"""The programs that ship, each in a folder of its own: a script `<id>.py`, shown as it stands, and its `story.toml`.

This module only reads: no program runs here, and nothing is recorded.  `contents.toml` has the groups, each a folder
here, and the order in which the programs are offered.  Beside a program that makes a mistake lies `<id>_fixed.py`, the
program without it, which is reached from it and not listed.  The form of a story is described in docs/gallery.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .chapters import Chapter, StepRef, find_line, read_chapter, resolve

__all__ = [
    "Chapter", "Group", "Program", "StepRef", "contents", "find", "find_line", "fixed_programs", "gallery", "read",
    "resolve",
]  # fmt: skip

HERE = Path(__file__).parent

FIXED = "_fixed"
"""What the name of a fixed program ends in; before it stands the name of the program with the mistake."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the gallery.  `rows` are the founding cases that it proves, `random` names without fixed values.

    `learn` is what one has understood after it, `words` are topics and other words by which people search for it.

    Of one that makes a mistake `confusion` is its number in the list of those that people make, and `says` the message
    that it gets; where it gets none, `silence` is what goes wrong.  `holds` has expressions and what they are when the
    program has ended.  `data` says where measured data come from.
    """

    id: str
    title: str
    question: str
    group: str
    level: str
    legacy: bool
    chapters: tuple[Chapter, ...]
    source: str
    path: Path
    outcome: str
    learn: str = ""
    words: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    random: tuple[str, ...] = ()
    confusion: int | None = None
    says: str = ""
    silence: str = ""
    data: str = ""
    holds: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def fixed(self) -> str | None:
        """The id of the program without the mistake; None where this one makes none."""
        return None if self.confusion is None else f"{self.id}{FIXED}"

    @property
    def fixes(self) -> str | None:
        """The id of the program whose mistake is mended here; None of all others."""
        return self.id.removesuffix(FIXED) if self.id.endswith(FIXED) else None


@dataclass(frozen=True, slots=True)
class Group:
    """A group of the gallery: its title, the level of its programs, and their folders in the order of the gallery."""

    title: str
    level: str
    folders: tuple[Path, ...]


@cache
def contents() -> tuple[Group, ...]:
    """The groups, in the order in which they are offered.

    >>> [len(group.folders) for group in contents()][:2]
    [22, 4]
    """
    groups = tomllib.loads((HERE / "contents.toml").read_text("utf-8"))
    return tuple(
        Group(group["title"], group["level"], tuple(HERE / kind / name for name in group["programs"]))
        for kind, group in groups.items()
    )


@cache
def _programs() -> tuple[Program, ...]:
    return tuple(program for group in contents() for folder in group.folders for program in read(folder, group))


@cache
def gallery() -> tuple[Program, ...]:
    """The programs that are offered, in their order.

    >>> gallery()[0].question
    'What do the weights in backward() select?'
    """
    return tuple(program for program in _programs() if program.fixes is None)


@cache
def fixed_programs() -> tuple[Program, ...]:
    """The programs without the mistake, one for each that makes one; they answer the same question.

    >>> [program.fixes for program in fixed_programs()][:2]
    ['carried_state', 'shared_trunk']
    """
    return tuple(program for program in _programs() if program.fixes is not None)


def find(name: str) -> Program | None:
    """The program with this id, or None.

    >>> find("weights").title
    'One-hot weights'
    """
    return next((program for program in _programs() if program.id == name), None)


def read(folder: Path, group: Group) -> Iterator[Program]:
    """The program in a folder, and then the one without its mistake, if it makes one.

    Raises ValueError that names a story out of form.
    """
    try:
        story = tomllib.loads((folder / "story.toml").read_text("utf-8"))
        fixed = story.pop("fixed") if "confusion" in story else None
        yield _program(folder / f"{folder.name}.py", group, story)
        if fixed is not None:
            fixed = {"title": f"{story['title']}, fixed", "question": story["question"], **fixed}
            yield _program(folder / f"{folder.name}{FIXED}.py", group, fixed)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder.name}/story.toml: {error}; docs/gallery.md has the form") from error


def _program(path: Path, group: Group, story: Mapping[str, Any]) -> Program:
    about = dict(story)
    chapters = tuple(map(read_chapter, about.pop("chapter")))
    rows, random, words = (tuple(about.pop(name, ())) for name in ("rows", "random", "words"))
    wrong = about.get("says", about.get("silence"))
    if wrong is not None:
        about.setdefault("outcome", wrong)
    return Program(
        path.stem, group=group.title, chapters=chapters, source=path.read_text("utf-8"), path=path, rows=rows,
        random=random, words=words, **{"legacy": False, "level": group.level, **about},
    )  # fmt: skip
