"""Texts that people read have none of the patterns of docs/style.md that are never right."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THINGS = (
    "leaf|leaves|trace|number|tensor|tensors|file|folder|script|command|shape|zero|view|op|scalar|valid|whole|input"
    "|loss|class|parameter"
)
INSTEAD = {
    # pattern -> what to write
    rf"(?<!there )\b(?:is|are|was|were) no (?:{THINGS})\b": "not a …",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\b(?:is|are|was|be|do|does|did) otherwise\b": "differs, changed; does something else",
    r"\b(?:is|are|was|were) born\b": "appears, comes from",
    r"\btold so\b|\bis told with\b": "gets an error that …",
    r"\bcomes? (?:to \S+ )?from above\b": "the upstream gradient; receives",
    r"\bround by round\b": "in each iteration",
    r"(?-i:\bWhat (?:it|they) saved (?:is|are)\b)": "Its saved tensor is …",
    r"\b(?:that|those|numbers) of then\b": "the recorded …",
    r"\brooms\b": "modules, folders",
    r"\bwho(?:ever)? asks? for\b": "the word for them: visitors, the user",
    r"\banew\b": "again",
    r"\bin place of\b": "instead of",
    r"\bdirectly behind\b": "directly after",
    r"\bfor every eye\b": "accessibility",
    r"\b(?:is|are|was|were) told\b": "gets a message, receives",
    r"\bof one's own\b": "of your own",
    r"\brounding alone\b": "only rounding",
    r"\bat last\b": "finally",
    r"\bcounted through\b": "in the flattened tensor",
    r", where (?:it|they) (?:took|was|were|had)\b": "instead of",
    r"\bnothing tells\b": "it is not known",
}
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "style.md"),
]
SOURCES = [*sorted((ROOT / "engine").rglob("*.py")), *sorted((ROOT / "viz").rglob("*.py"))]
MODULES = sorted((ROOT / "assets" / "js").rglob("*.mjs"))
STORIES = sorted((ROOT / "viz" / "gallery").rglob("*.toml"))
LITERAL = re.compile(r"`(?:\\.|[^`\\])*`|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
COMMENT = re.compile(r"/\*.*?\*/|(?:^|\s)//[^\n]*", re.DOTALL)


def slips(text: str) -> list[str]:
    """What stands in a text that docs/style.md has better words for.

    >>> slips("This is no leaf."), slips("There is no leaf here."), slips("x is not a leaf")
    (['is no leaf: not a …'], [], [])
    """
    found = ((re.search(pattern, text, re.IGNORECASE), better) for pattern, better in INSTEAD.items())
    return [f"{hit[0]}: {better}" for hit, better in found if hit is not None]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text: paragraphs of a page, string literals of code (no docstrings), lines of a story."""
    source = path.read_text("utf-8")
    if path.suffix == ".py":
        tree = ast.parse(source)
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield node.lineno, node.value
    elif path.suffix == ".mjs":
        for found in LITERAL.finditer(COMMENT.sub("", source)):
            yield 0, found[0]
    else:
        yield from enumerate(source.splitlines(), 1)


@pytest.mark.parametrize("files", [PAGES, SOURCES, MODULES, STORIES], ids=["pages", "sources", "modules", "stories"])
def test_texts_that_people_read_are_plain_english(files: list[Path]) -> None:
    assert len(files) > 15
    wrong = [
        f"{path.relative_to(ROOT).as_posix()}:{line} {slip}"
        for path in files
        for line, text in texts(path)
        for slip in slips(text)
    ]
    assert wrong == []
