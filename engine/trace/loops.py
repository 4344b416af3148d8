"""The variables of the loops around a line of the user's code, and their values while the program runs."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from types import CodeType
from typing import Any

import numpy as np

from .source import syntax_tree

NAMELESS = "_"
"""The variable of a loop that does not use it: its values tell the iterations apart, but are not shown."""
MOST_TEXT = 20
"""The longest text, in characters, that serves as the value of a loop's variable."""
_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
_CHOOSING = (
    ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.Yield, ast.YieldFrom, ast.Await,
)  # fmt: skip
"""Expressions of which a part may be left out, or runs in a frame of its own."""
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
    """The loops around a line, within its function or module, outer ones first."""
    within = ("", 0) if code.co_name == "<module>" else (code.co_name, code.co_firstlineno)
    loops = _loops(*_edition(code.co_filename))
    return tuple(loop for loop in loops if loop.line < line <= loop.end and loop.within == within)


def _edition(filename: str) -> tuple[str, Hashable]:
    """A file, and the size and time of the text that `linecache` has of it: a program may be edited and run again."""
    linecache.getlines(filename)
    return filename, linecache.cache.get(filename, ())[:2]


@functools.lru_cache(maxsize=64)
def _loops(filename: str, edition: Hashable) -> tuple[NamedLoop, ...]:
    try:
        tree = syntax_tree("".join(linecache.getlines(filename)))
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
            within = "class", 0  # their bodies do not run in frames with variables of their own
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            name = variable(node)
            if name is not None:
                yield NamedLoop(node.body[0].lineno - 1, node.body[-1].end_lineno or node.lineno, name, within)
        todo += [(below, within) for below in ast.iter_child_nodes(node)]


def comes_for_sure(code: CodeType, line: int) -> bool:
    """Return whether each iteration of the innermost named loop around a line, or else each call of its function,
    reaches it. True only if this is obvious: the line is under no condition, in no `try` or `with`, and nothing leaves
    the loop before its end.
    """
    return line in _sure_lines(*_edition(code.co_filename))


@functools.lru_cache(maxsize=64)
def _sure_lines(filename: str, edition: Hashable) -> frozenset[int]:
    try:
        tree = syntax_tree("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    sure: set[int] = set()
    unsure: set[int] = set()
    todo: list[tuple[list[ast.stmt], bool]] = [(tree.body, True)]
    while todo:
        body, plain = todo.pop()
        plain = plain and not _has_way_out(body)
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                todo.append((statement.body, True))
            elif isinstance(statement, ast.For):
                todo += [(statement.body, variable(statement) is not None), (statement.orelse, False)]
                (sure if plain else unsure).update(range(statement.lineno, statement.body[0].lineno))
            elif bodies := _bodies(statement):
                todo += [(one, False) for one in bodies]
                unsure.update(range(statement.lineno, bodies[0][0].lineno))
            else:
                chosen = any(map(_is_choosing, ast.walk(statement)))
                lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
                (sure if plain and not chosen else unsure).update(lines)
    return frozenset(sure - unsure)


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The statements inside a statement, in the order of the text."""
    parts = [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    bodies = [getattr(part, name, None) for part in parts for name in ("body", "orelse", "finalbody")]
    return sorted((one for one in bodies if one), key=lambda one: int(one[0].lineno))


def _is_choosing(node: ast.AST) -> bool:
    return isinstance(node, _CHOOSING) or (isinstance(node, ast.Compare) and len(node.ops) > 1)  # a < b < c


def _has_way_out(body: list[ast.stmt]) -> bool:
    inner = body[:-1] if body and isinstance(body[-1], ast.Return) else body
    return any(isinstance(node, _LEAVING) for statement in inner for node in ast.walk(statement))


def variable(loop: ast.For | ast.AsyncFor | ast.While) -> str | None:
    """The first name that a loop binds; None if the loop's body binds it again.

    >>> variable(ast.parse("for i, (x, y) in enumerate(pairs): x * y").body[0])
    'i'
    """
    if isinstance(loop, ast.While):
        return None
    name = next((part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)), None)
    again = (
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for statement in loop.body
        for node in ast.walk(statement)
    )
    return None if name is None or any(again) else name


def variable_value(frame: Any, name: str) -> Any:
    """The value of a variable of a running frame; None unless it is a number or a text, and for nan."""
    if not frame.f_code.co_flags & CO_OPTIMIZED:
        value = frame.f_globals.get(name)
    else:
        variables = frame.f_locals
        value = variables.get(name)
        # Before Python 3.13 the dict of a function's variables stays with the frame and would keep its tensors alive.
        if type(variables) is dict and sys.getrefcount(variables) <= _HELD_BY_FRAME:
            variables.clear()
    kind = type(value)
    if kind is int or kind is str or kind is bool:
        return value
    if isinstance(value, np.generic):
        value = value.item()
        kind = type(value)
    return value if kind is int or kind is str or kind is bool or (kind is float and value == value) else None


def literal(value: Any) -> str | None:
    """A number or a short text as Python writes it; None if it is too long.

    >>> literal(5), literal(0.1), literal("a"), literal(None)
    ('5', '0.1', "'a'", None)
    """
    too_long = value is None or (type(value) is str and len(value) > MOST_TEXT)
    return None if too_long or (type(value) is int and abs(value) > 2**53) else repr(value)
