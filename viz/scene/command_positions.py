"""The positions in a program where a command may be: after which lines, and the tensors that exist by then."""

from __future__ import annotations

from engine.replay.program import commands, gradient_tensors
from engine.trace.events import BackwardEnded, BackwardStarted, CodeEntered, CodeLeft, LeafCreated, OpCalled, Trace

from ..schema.scene import Place
from ..schema.values import Code
from .reading import Reading, reading_of

START = -1
"""The place before everything else in a program."""


def places(trace: Trace) -> list[Place]:
    """The places of a recording, in order: `{after, code, makes}`, one for each run of events of one line.

    `after` is the field of this name in CommandSpec, `makes` has the tensors that exist from there on.  There is no
    place inside a backward call, and none for the events of a command, because commands move.
    """
    reading = reading_of(trace)
    return reading.once(("positions",), lambda: _places(reading))


def _places(reading: Reading) -> list[Place]:
    trace = reading.facts.trace
    holders = gradient_tensors(trace)
    result: list[Place] = [{"after": START, "code": None, "makes": []}]
    depth, last = 0, None
    for event in trace.events:
        if isinstance(event, CodeEntered):
            depth += 1
        elif isinstance(event, CodeLeft):
            depth -= 1
        elif isinstance(event, BackwardStarted):
            if depth == 0 and _is_argument(result[-1], reading.code(event.stack)):
                result.pop()  # a weight that is written in the call itself is not a line of its own
            depth, last = depth + 1, None
        elif isinstance(event, BackwardEnded):
            depth -= 1
        elif depth == 0 and (
            isinstance(event, LeafCreated) or (isinstance(event, OpCalled) and event.inplace not in holders)
        ):
            frame = reading.facts.frames.get(event.stack)
            line = None if frame is None else (frame.file, frame.line)
            tensors = [event.tensor] if isinstance(event, LeafCreated) else [out.tensor for out in event.outputs]
            if line is not None and line == last:
                result[-1]["after"] = event.index
                result[-1]["makes"] += tensors
                continue
            last = line
            result.append({"after": event.index, "code": reading.code(event.stack), "makes": tensors})
    return result


def last_place(trace: Trace) -> int:
    """The place of a command without one: after the last line and the last command."""
    return max([int(places(trace)[-1]["after"]), *(command.after for command in commands(trace))])


def _is_argument(place: Place, call: Code | None) -> bool:
    code = place["code"]
    if code is None or call is None or code["file"] != call["file"]:
        return False
    return call["line"] <= code["line"] and code["end"] <= call["end"]
