"""The variables of the loops around a line of the user's code, and what they hold while the program runs."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from types import CodeType
from typing import Any

import numpy as np

MOST_TEXT = 20
"""Characters up to which a text in a loop's variable tells a round."""
_HELD_BY_FRAME = 3
"""References to the dict of a frame's variables that nobody else has: the frame's, ours and that of the question."""


@dataclass(frozen=True, slots=True)
class NamedLoop:
    """A `for` loop from the line before its body to its end, with the first name that it binds.

    `within` are the name and the first line of the function that it is in.
    """

    line: int
    end: int
    name: str
    within: tuple[str, int]


def loops_around(code: CodeType, line: int) -> tuple[NamedLoop, ...]:
    """The loops of a function, or of a module, that a line is in, the outer ones first."""
    within = ("", 0) if code.co_name == "<module>" else (code.co_name, code.co_firstlineno)
    return tuple(loop for loop in _loops(code.co_filename) if loop.line < line <= loop.end and loop.within == within)


@functools.lru_cache(maxsize=64)
def _loops(filename: str) -> tuple[NamedLoop, ...]:
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(sorted(_named(tree, ("", 0)), key=lambda loop: (loop.line, -loop.end)))


def _named(tree: ast.AST, within: tuple[str, int]) -> Iterator[NamedLoop]:
    todo = [(tree, within)]
    while todo:
        node, within = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            within = node.name, min(one.lineno for one in (node, *node.decorator_list))
        elif isinstance(node, ast.ClassDef):
            within = "class", 0  # whose body is no frame with variables of its own to ask for
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            name = variable(node)
            if name is not None:
                yield NamedLoop(node.body[0].lineno - 1, node.body[-1].end_lineno or node.lineno, name, within)
        todo += [(below, within) for below in ast.iter_child_nodes(node)]


def variable(loop: ast.For | ast.AsyncFor | ast.While) -> str | None:
    """The first name that a loop binds; None where it is `_`, or where the loop's body binds it again.

    >>> variable(ast.parse("for i, (x, y) in enumerate(pairs): x * y").body[0])
    'i'
    """
    if isinstance(loop, ast.While):
        return None
    name = next((part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)), "_")
    again = (
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for statement in loop.body
        for node in ast.walk(statement)
    )
    return None if name == "_" or any(again) else name


def held(frame: Any, name: str) -> Any:
    """What a variable of a running frame holds; None for what is not a number or a text, and for nan."""
    if not frame.f_code.co_flags & CO_OPTIMIZED:
        value = frame.f_globals.get(name)
    else:
        found = frame.f_locals
        value = found.get(name)
        # Before Python 3.13 the dict of a function's variables stays with the frame and would keep its tensors alive.
        if type(found) is dict and sys.getrefcount(found) <= _HELD_BY_FRAME:
            found.clear()
    kind = type(value)
    if kind is int or kind is str or kind is bool:
        return value
    if isinstance(value, np.generic):
        value = value.item()
        kind = type(value)
    return value if kind is int or kind is str or kind is bool or (kind is float and value == value) else None


def written(value: Any) -> str | None:
    """A number or a short text as Python writes it; None for what is too long.

    >>> written(5), written(0.1), written("a"), written(None)
    ('5', '0.1', "'a'", None)
    """
    too_long = value is None or (type(value) is str and len(value) > MOST_TEXT)
    return None if too_long or (type(value) is int and abs(value) > 2**53) else repr(value)
