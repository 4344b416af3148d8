"""Exceptions in torch's words, with a second part of our own.

`str(error)` is torch's message, word for word; what we add (the op, the shapes, the user's line, the way on) is a note
in the sense of PEP 678, so that Python prints it under the message and no parser of messages is disturbed.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Place:
    """Where in the graph an error arose: the node that ran and the tensors that it is about."""

    node: object = None
    tensors: tuple[object, ...] = field(default=())


def explained(error: BaseException, note: str = "", *, node: object = None, tensors: tuple[object, ...] = ()) -> BaseException:
    """Return `error` with our note and its place in the graph."""
    if note:
        error.add_note(note)
    error.place = Place(node, tensors)  # type: ignore[attr-defined]
    return error


def runtime(message: str, note: str = "", *, node: object = None, tensors: tuple[object, ...] = ()) -> RuntimeError:
    """A RuntimeError with torch's `message` and our `note`."""
    error = RuntimeError(message)
    explained(error, note, node=node, tensors=tensors)
    return error


class OutOfScope(NotImplementedError):
    """Something that torch has and Backstep leaves out on purpose (complex and sparse tensors, other devices)."""
