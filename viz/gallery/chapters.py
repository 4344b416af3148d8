"""Chapters: the texts of a story, each tied to lines of its program and to a step, and found again in a scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..schema.scene import Chapter as ChapterOfScene
from ..schema.story import Question

T = TypeVar("T")

KINDS = frozenset({"forward", "vjp", "accumulate", "write", "error"})


@dataclass(frozen=True, slots=True)
class StepRef:
    """A step by what happens in it: the `nth` (from 1; -1 is the last) of its kind that the lines caused.

    `at` narrows it to one tensor or op, by label or by expression.  The lines of a backward step are those of the
    backward call.
    """

    kind: str
    nth: int = 1
    line: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Chapter:
    """One text of a story, tied to the source lines from `line` to `until` and leading to the end of a step.

    A line is named by a text that it contains: `"x.grad.zero_()"`, the second such line `"x.grad.zero_() #2"`, the last
    `"x.grad.zero_() #-1"`; an element by its label in the picture or by its expression: `"x"`, `"2 * x"`, `"h #3"`.
    `inspect` is for a chapter that speaks of what the inspector shows: it is opened where it is not; `unfold` for one
    that speaks of what is in folded groups.  `tries` are edits that it proposes (viz/server/lesson/proposals.py).
    """

    title: str
    text: str
    line: str
    until: str | None = None
    step: StepRef | None = None
    select: tuple[str, ...] = ()
    inspect: bool = False
    unfold: bool = False
    notes: str = ""
    tries: tuple[str, ...] = ()
    ask: Question | None = field(default=None, hash=False)  # a dictionary has no hash

    @property
    def full_text(self) -> str:
        """Its text, and the explanation of the answer to its question."""
        return " ".join(filter(None, (self.text, self.ask.get("why") if self.ask else None)))


def question(text: str, choices: Sequence[str], right: int, why: str = "") -> Question:
    """A question with its choices, of which the one with the number `right` (from 1) is true, and what explains it.

    Raises ValueError where there is no such choice.
    """
    if choices and not 1 <= right <= len(choices):
        raise ValueError(f"the right choice is one of 1 to {len(choices)}, not {right}")
    content: Question = {"text": text, "choices": [{"text": c, "right": i == right} for i, c in enumerate(choices, 1)]}
    return {**content, "why": why} if why else content


def read_chapter(entry: Mapping[str, Any]) -> Chapter:
    """A chapter as a story has it.  Raises KeyError, TypeError or ValueError where it is out of form."""
    about = dict(entry)
    step, select, tries = about.pop("step", None), tuple(about.pop("select", ())), tuple(about.pop("tries", ()))
    if step is not None and step["kind"] not in KINDS:
        raise ValueError(f"a step is one of {', '.join(sorted(KINDS))}, not {step['kind']!r}")
    words = about.pop("ask", None)
    ask = None
    if words:
        ask = question(words["question"], words.get("choices", ()), words.get("right", 0), words.get("why", ""))
    return Chapter(**about, step=StepRef(**step) if step else None, select=select, tries=tries, ask=ask)


def find_line(source: str, name: str) -> int | None:
    """The line (from 1) that contains the text, or with ` #2` behind it, the second such line.

    >>> find_line("a = 1\\nb = a\\nc = a\\n", "= a #2")
    3
    """
    text, nth = _split(name)
    numbers = [number for number, line in enumerate(source.splitlines(), 1) if text in line]
    return _nth(numbers, nth)


def resolve(chapters: Sequence[Chapter], scene: Mapping[str, Any]) -> list[ChapterOfScene]:
    """The chapters as a scene holds them: with line numbers, the time `t` that each leads to, and element ids.

    The program is the one of the scene's files that has the most of the chapters' lines (the innermost if several do).
    `step` is the time at which the step referred to is done (its number + 1).  What this scene does not have, since it
    was edited or has stopped at an error, is None or left out.
    """
    texts = [file["text"] for file in scene["program"]["files"]] or [""]
    file = max(range(len(texts)), key=lambda n: (sum(find_line(texts[n], c.line) is not None for c in chapters), n))
    place = _Place(scene, file, texts[file])
    return [place.chapter(chapter) for chapter in chapters]


@dataclass(frozen=True, slots=True)
class _Place:
    """Looks things up in one scene; `file` is the number of the program's text among the scene's files."""

    scene: Mapping[str, Any]
    file: int
    source: str

    def chapter(self, chapter: Chapter) -> ChapterOfScene:
        result: ChapterOfScene = {
            "title": chapter.title,
            "text": chapter.text,
            "lines": self.lines(chapter.line, chapter.until),
            "step": self.step(chapter),
            "select": [node["id"] for name in chapter.select if (node := self.element(name)) is not None],
        }
        if chapter.unfold and (groups := self.unfold(chapter.select)):
            result["unfold"] = groups
        if chapter.inspect:
            result["inspect"] = True
        if chapter.notes:
            result["notes"] = chapter.notes
        if chapter.ask is not None:
            result["ask"] = chapter.ask
        if chapter.tries:
            result["tries"] = [{"text": text} for text in chapter.tries]
        return result

    def lines(self, line: str, until: str | None) -> tuple[int, int] | None:
        first = find_line(self.source, line)
        last = first if until is None else find_line(self.source, until)
        return None if first is None or last is None else (first, last)

    def step(self, chapter: Chapter) -> int | None:
        ref = chapter.step
        if ref is None:
            return None
        lines = self.lines(ref.line, None) if ref.line else self.lines(chapter.line, chapter.until)
        if lines is None:
            return None
        steps = [
            number
            for number, step in enumerate(self.scene["steps"], 1)
            if step["kind"] == ref.kind
            and (ref.at is None or ref.at in (self.active(number - 1), self.expression(step["code"])))
            and any(self.overlaps(code, lines) for code in _causes(step))
        ]
        return _nth(steps, ref.nth)

    def active(self, step: int) -> str | None:
        """The label of what is active in a step."""
        inside, element = self.scene.get("inside"), self.scene["steps"][step]["at"]
        if inside:
            label: str | None = inside["at"][step]
            return label
        return next((node["label"] for node in self.scene["nodes"] if node["id"] == element), None)

    def unfold(self, names: Sequence[str]) -> list[str]:
        """The folded groups around what a chapter speaks of, the outermost first."""
        nodes = [node for name in names if (node := self.element(name)) is not None]
        return list(dict.fromkeys(group for node in nodes for group in node.get("unfold", ())))

    def element(self, name: str) -> Mapping[str, Any] | None:
        text, nth = _split(name)
        every_node = (self.scene.get("inside") or self.scene)["nodes"]  # of what is in a folded group, the group
        nodes = [node for node in every_node if node["kind"] in ("tensor", "op")]
        matches = [node for node in nodes if text == node["label"]]
        if not matches:  # an expression: the op, not the tensor that it makes
            matches = [node for node in nodes if node["kind"] == "op" and text == self.expression(node["code"])]
        return _nth(matches, nth)

    def expression(self, code: Mapping[str, int] | None) -> str | None:
        if code is None or code["file"] != self.file or code["line"] != code["end"]:
            return None
        lines = self.source.splitlines()
        return lines[code["line"] - 1][code["col"] : code["stop"]] if code["line"] <= len(lines) else None

    def overlaps(self, code: Mapping[str, int], lines: Sequence[int]) -> bool:
        return code["file"] == self.file and code["line"] <= lines[1] and code["end"] >= lines[0]


def _causes(step: Mapping[str, Any]) -> Iterator[Mapping[str, int]]:
    """The positions that a step counts as caused by: of a backward step the backward call, of others the expression."""
    if step.get("from") is not None:
        yield step["from"]
    if step.get("code") is not None and (step.get("from") is None or step["kind"] == "error"):
        yield step["code"]


def _split(name: str) -> tuple[str, int]:
    text, mark, number = name.rpartition(" #")
    return (text, int(number)) if mark and number.removeprefix("-").isdigit() else (name, 1)


def _nth(members: Sequence[T], nth: int) -> T | None:
    """The member with this number: from 1, or from -1 backwards."""
    place = nth - 1 if nth > 0 else nth
    return members[place] if -len(members) <= place < len(members) else None
