"""One code for numpy and cupy: what kernels call by numpy's names is there in cupy too."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

import engine
from tests.engine.arrays.cupy_names import FILE, listed, offered

ENGINE = Path(engine.__file__).parent
OF_NUMPY_ALONE = {"errstate": "how numpy warns; no array goes through it"}


def used() -> dict[str, str]:
    """Every dotted name behind `xp.` in the engine, with one place where it stands."""
    found: dict[str, str] = {}
    for path in sorted(ENGINE.rglob("*.py")):
        inner: set[ast.expr] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Attribute) and node not in inner
            ):  # the outermost comes first: xp.add.at, not xp.add
                parts, value = [node.attr], node.value
                while isinstance(value, ast.Attribute):
                    inner.add(value)
                    parts.append(value.attr)
                    value = value.value
                if isinstance(value, ast.Name) and value.id == "xp":
                    found.setdefault(".".join(reversed(parts)), f"{path.relative_to(ENGINE)}:{node.lineno}")
    return found


def test_every_name_of_the_array_library_is_cupys_too() -> None:
    names = set(listed())
    calls = used()
    assert len(calls) > 80
    assert {name: place for name, place in calls.items() if name not in names | set(OF_NUMPY_ALONE)} == {}


def test_names_of_numpy_alone_are_no_more_than_used() -> None:
    assert set(OF_NUMPY_ALONE) <= set(used())


def test_list_of_cupys_names_is_that_of_the_package() -> None:
    if importlib.util.find_spec("cupy") is None:
        pytest.skip("cupy is not installed here")
    lines = [line for line in FILE.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    assert set(lines) <= set(offered())
