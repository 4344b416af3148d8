"""A script as a lesson: its chapters are comments, and it stays plain Python that runs.

    # ## A title begins a chapter
    # Its text.  An empty comment line begins a paragraph; `code`, **bold** and *emphasis* are markup.
    # > What only the presenter sees.
    # ? A question, asked before the chapter's lines run
    # - a choice
    # + the right choice
    # = why it is right, said once the chapter's move has shown it
    # ! gradient = [0, 1], retain_graph = False    an edit to try (viz/server/lesson/proposals.py)

The lines of a chapter are those from its comments to the next chapter.  The title of the lesson is the first line of
the script's docstring.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from engine.trace.source import syntax_tree

from ..schema.scene import Chapter as ChapterOfScene
from ..schema.story import Choice, Question

_TITLE = re.compile(r"# ## +(\S.*)")
_COMMENT = re.compile(r"# ?(.*)")


@dataclass
class Part:
    """A chapter as it is written: what it says, and the lines from `first` to `last` that it is about."""

    title: str
    first: int
    last: int
    text: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    question: str = ""
    choices: list[Choice] = field(default_factory=list)
    why: list[str] = field(default_factory=list)
    tries: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        """A line of the comment below the title."""
        kind, content = line[:2], line[2:].strip()
        if kind == "> " or line == ">":
            self.notes.append(content)
        elif kind == "? ":
            self.question = f"{self.question} {content}".strip()
        elif kind in ("- ", "+ ") and self.question:
            self.choices.append({"text": content, "right": kind == "+ "})
        elif kind == "= " and self.question:
            self.why.append(content)
        elif kind == "! ":
            self.tries.append(content)
        else:
            self.text.append(line.rstrip())

    @property
    def ask(self) -> Question | None:
        if not self.question:
            return None
        content: Question = {"text": self.question, "choices": self.choices}
        return {**content, "why": "\n".join(self.why)} if self.why else content


@dataclass(frozen=True)
class Lesson:
    """A script that has chapters; `title` is "" where its docstring has none."""

    title: str
    parts: tuple[Part, ...]


def read(source: str) -> Lesson | None:
    """The lesson in a script; None where it has no chapter.

    >>> read("# ## Double\\n# Twice x.\\ny = 2 * x\\n").parts[0].title
    'Double'
    >>> read("y = 2 * x  # ## no title, because it follows code\\n") is None
    True
    """
    parts: list[Part] = []
    lines = source.splitlines()
    goes_on = False  # whether the comment of a chapter goes on
    for number, line in enumerate(lines, 1):
        if match := _TITLE.fullmatch(line):
            parts.append(Part(match[1].strip(), number + 1, len(lines)))
            goes_on = True
        elif goes_on and (comment := _COMMENT.fullmatch(line)):
            parts[-1].add(comment[1])
            parts[-1].first = number + 1
        else:
            goes_on = False
    for one, following in pairwise(parts):
        one.last = following.first - 1 - _comments(lines, following.first)
    for one in parts:
        while one.last > one.first and not lines[one.last - 1].strip():
            one.last -= 1
        while one.first < one.last and not lines[one.first - 1].strip():
            one.first += 1
    return Lesson(_title(source), tuple(parts)) if parts else None


def _comments(lines: Sequence[str], first: int) -> int:
    """How many lines of comment stand before a line."""
    count = 0
    while count < first - 1 and lines[first - 2 - count].startswith("#"):
        count += 1
    return count


def _title(source: str) -> str:
    try:
        return (ast.get_docstring(syntax_tree(source)) or "").partition("\n")[0].rstrip(".")
    except (SyntaxError, ValueError, RecursionError):
        return ""


def lesson_of(files: Sequence[str]) -> tuple[int, Lesson] | None:
    """The lesson among the texts of a program, with its number; of several the one with the most chapters."""
    lessons = [(number, lesson) for number, text in enumerate(files) if (lesson := read(text)) is not None]
    return max(lessons, key=lambda one: len(one[1].parts), default=None)


def chapters(scene: Mapping[str, Any]) -> list[ChapterOfScene]:
    """The chapters of a scene's own script; none where it has none.

    The move of a chapter ends with the last step that its lines cause before those of a later chapter do.
    """
    file_and_lesson = lesson_of([file["text"] for file in scene["program"]["files"]])
    if file_and_lesson is None:
        return []
    file, lesson = file_and_lesson
    causes = [set(_causes(step, file)) for step in scene["steps"]]
    own = [[k for k, lines in enumerate(causes) if lines & set(range(p.first, p.last + 1))] for p in lesson.parts]
    return [_chapter(part, _end(own, n), scene) for n, part in enumerate(lesson.parts)]


def _end(own: Sequence[Sequence[int]], number: int) -> int | None:
    """The time at which the move of a chapter ends; None for a chapter in which nothing happens."""
    steps = own[number]
    later = min((other[0] for other in own[number + 1 :] if other and steps and other[0] > steps[0]), default=None)
    within = [k for k in steps if later is None or k < later]
    return within[-1] + 1 if within else None


def _chapter(part: Part, end: int | None, scene: Mapping[str, Any]) -> ChapterOfScene:
    at = scene["steps"][end - 1]["at"] if end else None
    lines = (part.first, part.last) if part.first <= part.last else None
    chapter: ChapterOfScene = {
        "title": part.title, "text": "\n".join(part.text).strip(), "lines": lines, "step": end,
        "select": [at] if at is not None else [],
    }  # fmt: skip
    if part.notes:
        chapter["notes"] = "\n".join(part.notes)
    if part.ask is not None:
        chapter["ask"] = part.ask
    if part.tries:
        chapter["tries"] = [{"text": text} for text in part.tries]
    return chapter


def _causes(step: Mapping[str, Any], file: int) -> Iterator[int]:
    """The lines of a script that a step counts as caused by: of a backward step those of its call."""
    code = step.get("from") or step["code"]
    if code is not None and code["file"] == file:
        yield from range(code["line"], code["end"] + 1)
