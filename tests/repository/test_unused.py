"""No private name of a module is left that nothing uses: linters look inside functions only."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "viz", "docs", "benchmarks")
OF_TORCH = {"_LRScheduler"}
"""torch's own private names, which programs import."""


def definitions(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """The statements that define the private names of a module; what is decorated is used by its decorator."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]) | ast.ClassDef(name=name, decorator_list=[]):
                names = [name]
            case ast.Assign(targets=targets):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                names = [name]
            case _:
                names = []
        yield from ((node, name) for name in names if name.startswith("_") and name.strip("_"))


def uses(tree: ast.AST) -> set[str]:
    """The names that code reads, imports or has as an attribute; in annotations that are texts, too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) | ast.alias(name=name):
                names.add(name)
            case ast.Constant(value=str(text)) if text.isidentifier():
                names.add(text)
    return names


def unused(trees: dict[str, ast.Module]) -> list[str]:
    """The private names of these modules that nothing but their own definition mentions."""
    uses_of = {id(node): uses(node) for tree in trees.values() for node in tree.body}
    mentions = Counter(name for names in uses_of.values() for name in names)
    return [
        f"{file}:{node.lineno} {name}"
        for file, tree in trees.items()
        for node, name in definitions(tree)
        if name not in OF_TORCH and mentions[name] == (name in uses_of[id(node)])
    ]


def test_private_names_are_used() -> None:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    ours = [path for path in files if ROOT / "viz" / "gallery" not in path.parents[1:]]  # a program's names are its own
    assert len(ours) > 300
    assert unused({path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in ours}) == []


@pytest.mark.parametrize(
    "line",
    [
        "_LIMIT = 3",
        "_LIMIT: int = 3",
        "def _f(): return _f()",
        "class _A: ...",
        '"""`_f` is described."""\ndef _f(): ...',
    ],
)
def test_name_without_use_is_found(line: str) -> None:
    assert len(unused({"a.py": ast.parse(line), "b.py": ast.parse("x = 1")})) == 1


@pytest.mark.parametrize("other", ["from a import _f", "a._f()", 'getattr(a, "_f")'])
def test_use_elsewhere_counts(other: str) -> None:
    assert unused({"a.py": ast.parse("def _f(): ..."), "b.py": ast.parse(other)}) == []
