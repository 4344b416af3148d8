"""Methods of a training that the program names without calling them, as in `opt.step` for `opt.step()`.  Pure."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import NamedTuple

from ...reading import text
from ...reading.facts import Facts
from ..finding import Finding

EFFECTS = {
    "step": "nothing is updated there",
    "zero_grad": "the gradients are not zeroed there, and those of several backward calls add up",
    "backward": "no gradient is computed there",
    "train": "the model stays in its mode",
    "eval": "the model stays in its mode",
}
"""What follows, by method."""


class _Statement(NamedTuple):
    """A statement that names a method: the line, the method with its object, its own name, and an event there."""

    line: int
    method: str
    name: str
    event: int


def not_called(facts: Facts) -> list[Finding]:
    """The statements that consist of such a method, in blocks of which some line was run, as one finding.  Linear in
    the text."""
    statements = [one for file in facts.trace.files for one in _in_file(facts, file)]
    if not statements:
        return []
    first, several = statements[0], len(statements) > 1
    methods = text.join(list(dict.fromkeys(one.method for one in statements)))
    why = "Without parentheses, a method is not called: " + "; ".join(
        f"line {one.line} only names {one.method}, so {EFFECTS[one.name]}" for one in statements
    )
    fix = f"Write {text.join([f'`{one.method}()`' for one in statements])}."
    label = f"{methods} {'are' if several else 'is'} not called"
    return [Finding("not-called", first.event, None, label, f"{why}.", fix, first.line)]


def _in_file(facts: Facts, name: str) -> Iterator[_Statement]:
    file = facts.sources.file(name)
    if not any(f".{method}\n" in f"{line.partition('#')[0].rstrip()}\n" for line in file.lines for method in EFFECTS):
        return  # as nearly all: they need not be searched
    for node, above in file.above.items():
        match node:
            case ast.Expr(value=ast.Attribute(value=(ast.Name() | ast.Attribute()), attr=attr)) if attr in EFFECTS:
                event = _event_in(facts, name, above, node.lineno)
                if event is not None:
                    yield _Statement(node.lineno, file.text_of(node.value), attr, event)


def _event_in(facts: Facts, file: str, block: ast.AST, line: int) -> int | None:
    """The first event of a block that a line belongs to, from that line on if there is one; None if none was run."""
    first, last = getattr(block, "lineno", 1), getattr(block, "end_lineno", None) or sys.maxsize
    stacks = {
        stack: frame.line for stack, frame in facts.frames.items() if frame.file == file and first <= frame.line <= last
    }
    events = [event for event in facts.trace.events if getattr(event, "stack", -1) in stacks]
    later = (event.index for event in events if stacks[event.stack] >= line)
    return next(later, events[-1].index if events else None)
