"""What the pages that people wrote contain: scripts, commands, prompts, sentences of the app, pictures.

The tests run all of it; docs/make/screenshots.py opens the same scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[1]
WRITTEN = (HERE / "tutorial.md", *sorted(HERE.glob("howto/*.md")), *sorted(HERE.glob("explanation/*.md")))
"""The tutorial, the ways to do something, and the explanations."""
IMAGES = HERE / "images"

_SCRIPT = re.compile(r"<!-- (\S+\.py) -->\n```python\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)
_COMMANDS = re.compile(r"```sh\n(.*?)```", re.DOTALL)
_PROMPTS = re.compile(r"```pycon\n(.*?)```", re.DOTALL)
_SENTENCE = re.compile(r"^> (?:Step (\d+) of (\d+)\. )?(.*)$", re.MULTILINE)
_PROGRAM = re.compile(r"\?program=([\w-]+)")
_PICTURE = re.compile(r"images/([\w-]+\.\w+)")


@dataclass(frozen=True)
class Script:
    """A program that a page tells the reader to write, and what it prints and raises."""

    name: str
    text: str
    says: str


@dataclass(frozen=True)
class Step:
    """A sentence that the page promises for a step."""

    number: int
    of: int
    say: str


def scripts(page: str) -> list[Script]:
    """The blocks of Python that have a file name above them.

    >>> scripts('''<!-- one.py -->
    ... ```python
    ... print(1)
    ... ```
    ... ```text
    ... 1
    ... ```
    ... ''')
    [Script(name='one.py', text='print(1)\\n', says='1\\n')]
    """
    return [Script(name, text, says) for name, text, says in _SCRIPT.findall(page)]


def commands(page: str) -> list[str]:
    """The lines of its shell blocks."""
    return [line for block in _COMMANDS.findall(page) for line in block.splitlines() if line]


def prompts(page: str) -> str:
    """Everything typed at a prompt, as one session."""
    return "\n".join(_PROMPTS.findall(page))


def steps(page: str) -> list[Step]:
    """The quoted sentences that name a step."""
    return [Step(int(k), int(n), say) for k, n, say in _SENTENCE.findall(page) if k]


def quoted(page: str) -> list[str]:
    """The other quoted lines."""
    return [say for k, _, say in _SENTENCE.findall(page) if not k]


def programs(page: str) -> set[str]:
    """The programs of the gallery whose address it gives."""
    return set(_PROGRAM.findall(page))


def pictures(page: str) -> set[str]:
    """The files of the pictures that it shows."""
    return set(_PICTURE.findall(page))


def script_named(name: str) -> Script:
    """The script of that name, on whichever page it is.  Raises StopIteration where it is on none."""
    return next(script for script in every_script() if script.name == name)


def every_script() -> Iterator[Script]:
    """Those of all pages."""
    for path in WRITTEN:
        yield from scripts(path.read_text("utf-8"))
