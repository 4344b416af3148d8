"""Nothing decides on English: what is done about a finding or an error hangs on its kind, never on its words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = frozenset({"label", "title", "message", "why", "fix", "note", "say", "traceback"})
"""The texts of findings, errors, warnings, chapters, phases and groups: names of attributes, and of keys in a scene."""
SEARCHES = frozenset({
    "startswith", "endswith", "find", "index", "count", "partition", "rpartition", "split", "search", "match",
    "fullmatch", "findall", "finditer",
})  # fmt: skip
WRAPPERS = frozenset({"str", "lower", "strip", "message_of", "repr"})
READERS = {
    "engine/trace/messages.py": "PyTorch's messages in a trace: the one place that reads them",
    "engine/arrays/errors.py": "numpy's messages, which become PyTorch's",
    "viz/record/torch/patches.py": "PyTorch's warnings, of which the place in its own source is left out",
    "viz/record/torch_import.py": "Python's message of an import that failed, which alone names what is missing",
}
"""Files that read a message of another program, which is their input."""
SCRIPTS = sorted((ROOT / "assets" / "js").rglob("*.mjs"))
TEXT = r"\b(?:label|title|message|why|fix|note|say|told|says|derived|sub)"
IN_SCRIPTS = re.compile(
    rf"{TEXT}\??\.(?:includes|startsWith|endsWith|match|search)\("  # finding.label.includes("gradient")
    rf"|\.(?:test|exec|match)\([\w.?]*{TEXT}\)"  # /grad/.test(title)
    rf"|{TEXT} ?[!=]==? ?[\"'`/A-Z]"  # title === "value", label === LOCAL
)
"""A text for people that is searched, or compared with words, in a line of a script."""
SEARCHING = {
    "scene/find.mjs": "what is searched for is text",
    "scene/flame.mjs": "the label of a span is a name or an expression of the program, which is shortened",
    "scene/timeline.mjs": "the label of a phase is an expression of the program, which is shortened",
}
FILES = sorted(path for package in ("engine", "viz") for path in (ROOT / package).rglob("*.py"))


def decisions(tree: ast.AST) -> Iterator[int]:
    """The lines in which a text for people is compared with words, or searched for them."""
    caught = {"error"} | {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            is_searched = isinstance(node.ops[-1], (ast.In, ast.NotIn)) and _is_text(sides[-1], caught)
            if is_searched or (any(_is_text(side, caught) for side in sides) and any(map(_is_words, sides))):
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
            parts = [node.func.value, *node.args]
            if any(_is_text(part, caught) for part in parts) and not all(map(_is_space, node.args)):
                yield node.lineno


def _is_text(node: ast.AST, caught: set[str]) -> bool:
    """Whether an expression is a text for people, or what `str()` and the like make of one or of a caught error."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        parts = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
        is_error = any(isinstance(part, ast.Name) and part.id in caught for part in parts)
        return name in WRAPPERS and (is_error or any(_is_text(part, caught) for part in parts))
    if isinstance(node, ast.Attribute):
        return node.attr in TEXTS
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value in TEXTS


def _is_words(node: ast.AST) -> bool:
    """Whether an expression is a text that the code itself has, or several of them."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return any(map(_is_words, node.elts))
    if isinstance(node, (ast.Name, ast.Attribute)):
        return (node.id if isinstance(node, ast.Name) else node.attr).isupper()
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_space(node: ast.AST) -> bool:
    """Whether a text is taken apart at spaces or line ends, whatever it says."""
    return isinstance(node, ast.Constant) and not str(node.value).strip()


@pytest.mark.parametrize("package", ["engine", "viz"])
def test_nothing_decides_on_a_text_for_people(package: str) -> None:
    found = {
        f"{name}:{line}"
        for path in FILES
        if (name := path.relative_to(ROOT).as_posix()).startswith(package) and name not in READERS
        for line in decisions(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(), "give it a kind and ask for that"


def test_nothing_in_the_browser_decides_on_a_text_for_people() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in SCRIPTS
        if not path.as_posix().endswith(tuple(SEARCHING))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if IN_SCRIPTS.search(line.partition(" // ")[0]) and not line.lstrip().startswith(("*", "/*", "//"))
    }
    assert found == set(), "ask for its kind"
    for name in SEARCHING:
        assert IN_SCRIPTS.search((ROOT / "assets" / "js" / name).read_text(encoding="utf-8")), name


@pytest.mark.parametrize("name", READERS)
def test_reader_of_messages_reads_some(name: str) -> None:
    assert list(decisions(ast.parse((ROOT / name).read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    "code",
    [
        'if "gradient" in finding.label: pass',
        'born = [c for c in told if "is born" in c["title"]]',
        "next(answer for start, answer in KNOWN if start in event.message)",
        'event.message.startswith("Trying to backward")',
        're.search("got ([0-9]+)", case.event.message)',
        'if finding.label == "a kink": pass',
        "event.message != CREATE_GRAPH",
        'try: pass\nexcept ValueError as error:\n    if "too big" in str(error).lower(): pass',
    ],
)
def test_decision_on_a_text_is_seen(code: str) -> None:
    assert list(decisions(ast.parse(code)))


@pytest.mark.parametrize(
    "line",
    [
        'if (finding.label.includes("gradient")) return;',
        'token(/grad/.test(title) ? "--gradient" : "--saved")',
        'find((one) => one.title === "value")',
        "told[0]?.label === LOCAL",
        'derived?.startsWith("by ")',
    ],
)
def test_decision_on_a_text_is_seen_in_a_script(line: str) -> None:
    assert IN_SCRIPTS.search(line)


@pytest.mark.parametrize(
    "code", ['finding.kind == "nan"', "finding.label + where", "one.message == other.message", "error.message.split()"]
)
def test_what_is_no_decision_on_a_text_is_not_seen(code: str) -> None:
    assert not list(decisions(ast.parse(code)))
