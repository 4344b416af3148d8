"""The changes that edits make, by line of the program, so that no line appears to have run that did not."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from difflib import SequenceMatcher
from operator import itemgetter
from typing import Any

import numpy as np

from engine.replay.program import NONE_PASSED, Command, Edits, commands
from engine.trace.events import BackwardStarted, Trace

from ..reading import text
from ..schema.scene import Change, ChangeKind
from ..schema.values import Code
from .command_positions import places
from .reading import Reading, reading_of


def changes(base: Trace, edits: Edits) -> list[Change]:
    """`{command, leaf, kind, code, text}` of each difference from the recording `base`.

    `kind` is "edited", "removed", "added" or "moved" (here, from elsewhere); `code` is the line that it is about, None
    for the start of the program.  Cost: linear in commands and places.
    """
    reading = reading_of(base)
    result = [_leaf(reading, leaf, values) for leaf, values in edits.leaves.items()]
    if edits.commands is not None:
        result += _commands(reading, edits.commands)
    return result


def _leaf(reading: Reading, leaf: int, values: Any) -> Change:
    event = reading.facts.trace.events[reading.facts.tensors[leaf].event]
    sentence = f"{reading.facts.names.get(leaf) or 'tensor'} = {_numbers(values)}"
    return _change("edited", reading.code(event.stack), sentence, leaf=leaf)


def _commands(reading: Reading, edit_commands: tuple[Command, ...]) -> Iterator[Change]:
    trace = reading.facts.trace
    by_id = {command.id: command for command in commands(trace)}
    ordered = sorted(edit_commands, key=lambda command: command.after)  # those of one place run in this order
    stays = _staying(list(by_id), [command.id for command in ordered])
    code = {ident: reading.code(trace.events[was.base].stack) for ident, was in by_id.items() if was.base is not None}
    lines = places(trace)
    last, behind = None, None  # the place of the command before, and the line after which it runs
    for command in ordered:
        if command.after != last:
            last = command.after
            behind = lines[max(bisect_right(lines, last, key=itemgetter("after")) - 1, 0)]["code"]
        was = by_id.get(command.id)
        moved = was is not None and (command.after != was.after or command.id not in stays)
        parts = list(_differences(reading, was, command)) if was is not None else []
        if was is None or moved:
            yield _change("added" if was is None else "moved", behind, _call(reading, command), command.id)
        if moved:
            parts.append(f"runs after line {behind['line']}" if behind is not None else "runs at the start")
        if parts:
            yield _change("edited", code.get(command.id), ", ".join(parts), command.id)
        if was is not None and not moved:
            behind = code.get(command.id) or behind
    now = {command.id for command in edit_commands}
    yield from (_change("removed", code.get(ident), "", ident) for ident in by_id if ident not in now)


def _staying(was: list[str], now: list[str]) -> set[str]:
    """The commands that kept their order among the others."""
    blocks = SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks()
    return {ident for block in blocks for ident in was[block.a : block.a + block.size]}


def _differences(reading: Reading, was: Command, now: Command) -> Iterator[str]:
    """The differences of a recorded command from the edited one, except its place."""
    if now.roots != was.roots:
        yield f"from {_names(reading, now.roots)}"
    if now.leaf != was.leaf and now.leaf is not None:
        yield f"of {_names(reading, (now.leaf,))}"
    if now.gradient != was.gradient and not (now.gradient == NONE_PASSED and _passes_none(reading, was)):
        yield "no gradient" if now.gradient == NONE_PASSED else f"gradient {_gradient_text(now)}"
    for flag in ("retain_graph", "create_graph"):
        if getattr(now, flag) != getattr(was, flag):
            yield f"{flag}={getattr(now, flag)}"
    if now.inputs != was.inputs:
        yield "no inputs=" if now.inputs is None else f"inputs={_names(reading, now.inputs)}"


def _call(reading: Reading, command: Command) -> str:
    """A command in the program's own form."""
    if command.kind != "backward":
        return f"{_names(reading, (command.leaf,) if command.leaf is not None else ())}.grad.zero_()"
    arguments = [] if command.gradient in (None, NONE_PASSED) else [_gradient_text(command)]
    arguments += [f"{flag}=True" for flag in ("retain_graph", "create_graph") if getattr(command, flag)]
    return f"{_names(reading, command.roots)}.backward({', '.join(arguments)})"


def _passes_none(reading: Reading, recorded: Command) -> bool:
    """Return whether the program itself passes no gradient in this call."""
    event = None if recorded.base is None else reading.facts.trace.events[recorded.base]
    return isinstance(event, BackwardStarted) and all(root.implicit for root in event.roots)


def _gradient_text(command: Command) -> str:
    """The gradient of an edited call as Python would write it: a list for several roots, None if none is passed."""
    several = len(command.roots) > 1 and isinstance(command.gradient, list)
    if not several:
        return _numbers(command.gradient)
    return f"[{', '.join('None' if one == NONE_PASSED else _numbers(one) for one in command.gradient)}]"


def _names(reading: Reading, tensors: tuple[int, ...]) -> str:
    return text.join([reading.facts.names.get(tensor) or "tensor" for tensor in tensors]) or "tensor"


def _numbers(values: Any) -> str:
    """Nested lists in the form of the app, if they are short."""
    array = np.asarray(values)
    return text.listing(array) if array.size <= text.SMALL and array.dtype.kind in "bif" else "with different numbers"


def _change(
    kind: ChangeKind, code: Code | None, sentence: str, command: str | None = None, leaf: int | None = None
) -> Change:
    return {"kind": kind, "code": code, "text": sentence, "command": command, "leaf": leaf}
