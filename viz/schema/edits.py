"""Edits: the changes to a recording that the browser requests, which make a revision."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

NestedNumbers = Any
"""A number, or a list of these, as deep as the tensor has dimensions."""


class CommandSpec(TypedDict):
    """A command in edits."""

    id: str
    """The id of the command in the scene; a new one has its own."""
    kind: Literal["backward", "zero", "set"]
    """The kind of the command."""
    after: int | None
    """The event that it follows, -1 for the start; null: after all."""
    root: int | None
    """The tensor from which a backward call starts; of several the first."""
    gradient: NestedNumbers
    """The seed gradient; `"none"` if none is passed, null for the one that the program passes; for several roots,
    that of the first."""
    retain_graph: bool
    """As passed to the call."""
    create_graph: bool
    """As passed to the call."""
    inputs: list[int | None] | None
    """The tensors of `inputs=`; null in it is one that has no name in the picture."""
    leaf: int | None
    """The tensor whose gradient is zeroed or set."""


class Edits(TypedDict):
    """The changes of a revision."""

    leaves: dict[str, NestedNumbers]
    """The values of a leaf by the number of its tensor."""
    commands: list[CommandSpec] | None
    """All commands of the program; null: as recorded."""
