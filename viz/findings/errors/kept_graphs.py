"""How a tensor of an earlier graph came into a later one, as the program's text says it.  Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from engine.trace.events import Frame
from engine.trace.source import File, Sources

COLLECTING = frozenset({"append", "extend", "appendleft"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
Loop = tuple[str, int]
"""The file of a loop, and its line."""


def collected_in(sources: Sources, maker: Sequence[Frame], user: Sequence[Frame]) -> str:
    """The list to which the program appends a tensor, and all of whose elements it uses; "" if there is none.

    `maker` and `user` are the call stacks at which the tensor is computed and used.  An element that is picked by its
    number, as in `states[-1]`, is a state, and the list is not the reason for its use.
    """
    names = (name for frame in maker for name in _lists(sources.file(frame.file), sources.node(frame)))
    return next((name for name in names if any(_uses(sources, frame, name.split(".")[-1]) for frame in user)), "")


def loop_above(sources: Sources, maker: Sequence[Frame], *repeated: Sequence[Frame]) -> int | None:
    """The line of the outermost loop that repeats some call stacks, and not `maker`; None if there is none."""
    outside = set(_loops(sources, maker))
    first, *others = (list(_loops(sources, stack)) for stack in repeated)
    shared = (loop for loop in first if loop not in outside and all(loop in other for other in others))
    return next((line for _, line in shared), None)


def _lists(file: File, node: ast.AST | None) -> Iterator[str]:
    """The lists to which the value of an expression is appended, there or by a name that it is bound to."""
    below, scope, bound = node, node, set[str]()
    while below in file.above and not isinstance(scope, FUNCTIONS):
        scope = file.above[below]
        if isinstance(scope, ast.Call) and below in scope.args:
            yield from _receiver(file, scope)
        if isinstance(scope, ast.Assign):
            flat = [e for t in scope.targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
            bound |= {file.text_of(one) for one in flat if isinstance(one, (ast.Name, ast.Attribute))}
        below = scope
    for call in ast.walk(scope) if scope is not None and bound else ():
        if isinstance(call, ast.Call) and any(file.text_of(part) in bound for part in _parts(call.args)):
            yield from _receiver(file, call)


def _receiver(file: File, call: ast.Call) -> Iterator[str]:
    """`x` of `x.append(…)`."""
    match call.func:
        case ast.Attribute(value=(ast.Name() | ast.Attribute()) as value, attr=attr) if attr in COLLECTING:
            yield file.text_of(value)


def _parts(nodes: Sequence[ast.AST]) -> Iterator[ast.Name | ast.Attribute]:
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, (ast.Name, ast.Attribute)):
                yield part


def _uses(sources: Sources, frame: Frame, name: str) -> bool:
    """Whether the expression at a frame, or a loop around it, goes through all elements of a list."""
    above, node = sources.file(frame.file).above, sources.node(frame)
    read: list[ast.AST] = [node] if isinstance(node, ast.expr) else []
    while node in above and not isinstance(node, FUNCTIONS):
        node = above[node]
        if isinstance(node, (ast.For, ast.AsyncFor)):
            read.append(node.iter)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            read += [one.iter for one in node.generators]
    return any(
        (part.id if isinstance(part, ast.Name) else part.attr) == name and not _is_picked(above.get(part))
        for part in _parts(read)
    )


def _is_picked(above: ast.AST | None) -> bool:
    return isinstance(above, ast.Subscript) and not isinstance(above.slice, ast.Slice)


def _loops(sources: Sources, stack: Sequence[Frame]) -> Iterator[Loop]:
    """The loops whose bodies a call stack is in, from the outermost to the innermost."""
    for frame in stack:
        above, below, inner = sources.file(frame.file).above, sources.node(frame), list[Loop]()
        while below in above and not isinstance(below, FUNCTIONS):
            node = above[below]
            if isinstance(node, LOOPS) and below in node.body:
                inner.append((frame.file, node.lineno))
            below = node
        yield from reversed(inner)
