"""The loops of a program's text, and loops in loops with nothing recorded between them: which iterations of the inner
loop belong to one iteration of the outer.

The positions of ops do not say: they are those of the inner loop alone.  It follows from the number of the inner loop's
iterations, if the program states it (`range(4)`, a list literal), or from its data: when batches come again, the next
epoch begins.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from engine.trace.events import OpCalled
from engine.trace.loops import variable
from engine.trace.source import syntax_tree

from ..reading.labels import presentation

_COMPOUND = (ast.If, ast.While, ast.Try, ast.Match, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom)


def length(loop: ast.For | ast.While | ast.AsyncFor, tree: ast.Module) -> int | None:
    """The number of a loop's iterations, if the program states it and nothing in the loop leaves it or an iteration
    early.

    >>> program = ast.parse("n = 3\\nfor i in range(1, n):\\n    i + 1\\n")
    >>> length(program.body[1], program)
    2
    """
    if not isinstance(loop, ast.For) or any(isinstance(node, _LEAVING) for s in loop.body for node in ast.walk(s)):
        return None
    return _count(loop.iter, tree)


def _count(node: ast.expr, tree: ast.Module, lengths: dict[str, int | None] | None = None) -> int | None:
    """The number of elements of an expression.  `lengths` has the names that were looked up, each once and before its
    value, so that `n = list(n)` and a chain of `zip(b, b)` end.
    """
    lengths = {} if lengths is None else lengths
    if isinstance(node, (ast.List, ast.Tuple)):
        return None if any(isinstance(e, ast.Starred) for e in node.elts) else len(node.elts)
    if isinstance(node, ast.Name):
        if node.id not in lengths:
            lengths[node.id] = None
            bound = _bindings(tree).get(node.id)
            lengths[node.id] = None if bound is None or isinstance(bound, ast.Name) else _count(bound, tree, lengths)
        return lengths[node.id]
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        return None
    if node.func.id == "range":
        return _extent([_number(argument, tree) for argument in node.args])
    if node.func.id in ("enumerate", "reversed", "list", "tuple", "sorted") and len(node.args) == 1:
        return _count(node.args[0], tree, lengths)
    if node.func.id == "zip" and node.args:
        counts = [_count(argument, tree, lengths) for argument in node.args]
        return None if None in counts else min(count for count in counts if count is not None)
    return None


def _extent(limits: Sequence[int | None]) -> int | None:
    """The length of `range(*limits)`; None if a limit is not known, or if Python refuses it."""
    numbers = [limit for limit in limits if limit is not None]
    if len(numbers) < len(limits) or not 1 <= len(numbers) <= 3 or 0 in numbers[2:]:
        return None
    start, stop, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    return max(0, -((start - stop) // step))  # len() itself overflows above 2**63


def _number(node: ast.expr, tree: ast.Module) -> int | None:
    sign = 1
    if isinstance(node, ast.Name):
        node = _bindings(tree).get(node.id, node)
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -sign, node.operand
    return sign * node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


@functools.lru_cache(maxsize=4)
def _bindings(tree: ast.Module) -> dict[str, ast.expr]:
    """By its name the value of each variable that the whole file binds once, by an assignment.  Linear in the tree."""
    stores: dict[str, list[ast.Name]] = {}
    others: set[str] = set()
    values: dict[ast.expr, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stores.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.arg):
            others.add(node.arg)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            others.add(node.value.id)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            values[node.targets[0]] = node.value
    return {
        name: values[where[0]]
        for name, where in stores.items()
        if len(where) == 1 and name not in others and where[0] in values
    }


def counts(iterated: ast.expr) -> bool:
    """Return whether the first variable of a loop over this is a different number in each iteration.

    >>> [counts(ast.parse(text).body[0].value) for text in ("range(9)", "tqdm(enumerate(xs))", "[64, 64]")]
    [True, True, False]
    """
    while isinstance(iterated, ast.Call) and iterated.args:
        name = iterated.func.attr if isinstance(iterated.func, ast.Attribute) else getattr(iterated.func, "id", "")
        if name in ("range", "trange", "enumerate", "count"):
            return True
        if name not in ("tqdm", "reversed", "list", "tuple", "iter"):
            return False
        iterated = iterated.args[0]
    return False


def surely_runs(loop: ast.For | ast.While | ast.AsyncFor) -> tuple[int, ...]:
    """The statements of a loop's body, counted from 1, that each iteration reaches, whatever the data are."""
    return tuple(n for n, statement in enumerate(loop.body, 1) if not isinstance(statement, _COMPOUND))


def period(iterations: Sequence[Sequence[OpCalled]]) -> int | None:
    """The number of iterations after which the same data come again, in any order; None if they do not, or not evenly.
    The last epoch may be incomplete: because of an error, or because the recording ends.
    """
    inputs = [_data(ops) for ops in iterations]
    uses: dict[object, list[int]] = {}
    for n, data in enumerate(inputs):
        for thing in data:
            uses.setdefault(thing, []).append(n)
    again = {
        thing for thing, at in uses.items() if 1 < len(at) <= at[-1] - at[0]
    }  # not a state: used in every iteration
    signs = [frozenset(data & again) for data in inputs]
    several = len(set(signs))
    if not 1 < several < len(signs) or frozenset() in signs:
        return None
    chunks = [signs[start : start + several] for start in range(0, len(signs), several)]
    return several if all(len(set(chunk)) == len(chunk) for chunk in chunks) else None


def _data(ops: Sequence[OpCalled]) -> frozenset[object]:
    """The inputs of ops that none of them computed or wrote: tensors, and parts of tensors, `X[4:8]`."""
    results = {out.tensor for op in ops for out in op.outputs}
    data: set[object] = set()
    for op in ops:
        outside = [i.tensor for i in op.inputs if i.tensor is not None and i.tensor not in results]
        data.update(outside)
        if outside and presentation(op).indexing:  # a part of a data set comes again in the next epoch
            data.add((op.name, *outside, repr(op.attrs)))
    return frozenset(data)


def loops_of(tree: ast.Module) -> Iterator[ast.For | ast.While | ast.AsyncFor]:
    """Every loop."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)) and node.body:
            yield node


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the program: its header begins at line `first`, its body after `line`, with a statement at each of
    `starts`.

    `sources` are the names over which it iterates, `variable` tells its iterations apart and differs in each of them if
    it `counts`.
    """

    first: int
    line: int
    end: int
    label: str
    starts: tuple[int, ...]
    length: int | None
    sure: tuple[int, ...]
    file: str
    sources: frozenset[str]
    variable: str | None
    counts: bool = False


MOST_LOOPS = 2_000
"""Loops of a file that are looked at."""


def _tree(code: str) -> ast.Module | None:
    """The syntax tree of a file; None if it is not Python."""
    try:
        return syntax_tree(code)
    except (SyntaxError, ValueError, RecursionError):
        return None


@functools.lru_cache(maxsize=64)
def loops_in(code: str, file: str) -> tuple[Loop, ...]:
    """The loops of a file by first line, outer ones first; none if it is not Python.

    >>> [(loop.first, loop.line, loop.end, loop.variable) for loop in loops_in("for i in x:\\n    f(i)\\n", "a.py")]
    [(1, 1, 2, 'i')]
    """
    tree = _tree(code)
    if tree is None:
        return ()
    loops = []
    for node in islice(loops_of(tree), MOST_LOOPS):
        end = node.body[-1].end_lineno or node.lineno
        target = "while" if isinstance(node, ast.While) else f"for {ast.unparse(node.target)}"
        starts, sure = tuple(s.lineno for s in node.body), surely_runs(node)
        parts = () if isinstance(node, ast.While) else ast.walk(node.iter)
        sources = frozenset(part.id for part in parts if isinstance(part, ast.Name))
        line = node.body[0].lineno - 1
        can_tell = not isinstance(node, ast.While) and counts(node.iter)
        stated = length(node, tree)
        loops.append(
            Loop(node.lineno, line, end, target, starts, stated, sure, file, sources, variable(node), can_tell)
        )
    return tuple(sorted(loops, key=lambda loop: (loop.line, -loop.end)))


Span = tuple[int, int, int, int]
"""A part of a text: line, column, last line, last column."""


@functools.lru_cache(maxsize=64)
def repeated_in(code: str) -> tuple[Span, ...]:
    """The parts of the list, set and dict comprehensions of a file that run for each element; none if it is not Python.

    From Python 3.12 on such a comprehension runs in the frame of the function that contains it.

    >>> repeated_in("b = [f(x) for x in xs() if x]")
    ((1, 5, 1, 9), (1, 27, 1, 28))
    """
    tree = _tree(code)
    if tree is None:
        return ()
    parts: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
            parts += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            parts += [test for one in node.generators for test in one.ifs]
            parts += [one.iter for one in node.generators[1:]]  # the first one is evaluated once
    return tuple((one.lineno, one.col_offset, one.end_lineno or 0, one.end_col_offset or 0) for one in parts)
