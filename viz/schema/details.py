"""The details of one element of a revision, for all its moments: what the inspector shows."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from .scene import Saved
from .values import Code, ElementId, Formula, Line, Num, Track, Value, ValueId


class Head(TypedDict):
    """The description of an element."""

    name: str
    label: str
    code: Code | None
    shape: list[int] | None
    dtype: str | None
    device: str
    sequence_nr: int | None
    """Of the node: the higher number runs first in backward."""


class Moment(TypedDict):
    """The arithmetic of a step: upstream gradient, local derivatives, the cotangent per input, sums written out."""

    step: int
    title: str
    lines: list[Line]


class Entry(TypedDict):
    """A gradient added to `.grad` of a leaf, or written there by the program."""

    step: int
    call: int | None
    label: str
    before: ValueId | None
    added: ValueId | None
    after: ValueId | None
    code: Code | None


class SavedValue(TypedDict):
    """Something that an op saved."""

    name: str
    text: str
    bytes: int
    track: Track[Saved]
    """Without `none`; it may be empty."""
    freed_by: Code | None
    label: str


FigureOf = Literal["value", "seed", "grad", "result", "upstream"]
"""The elements of a figure: for a tensor those of a row of its card, for an op those of its result or upstream
gradient."""


class Figure(TypedDict):
    """A picture of the elements of a value over time."""

    of: FigureOf
    title: str
    kind: Literal["heatmap", "histogram"]
    track: Track[ValueId | None]


class Check(TypedDict):
    """One VJP against finite differences."""

    text: str
    worst: Num
    """The worst relative difference."""
    agrees: bool


class Matrix(TypedDict):
    """The local Jacobian of a call by one input: a row for each element of the result."""

    input: str
    rows: int
    cols: int
    data: list[Num]


class SeriesPoint(TypedDict):
    """One iteration."""

    label: str
    element: ElementId | None
    here: bool
    """Whether it is the requested element."""
    track: Track[Num | None]


class Series(TypedDict):
    """The results of the same code, or the gradients of a leaf, if there are three or more."""

    title: str
    kind: Literal["norm", "size"]
    of: int
    """How often; if more than 256, that many evenly spaced points are sent."""
    points: list[SeriesPoint]


class Details(TypedDict):
    """The answer for one element of a revision."""

    revision: str
    element: ElementId
    kind: Literal["tensor", "op", "group"]
    head: Head
    formula: list[Formula]
    """Of this call, from the rule itself."""
    moments: list[Moment]
    ledger: list[Entry]
    """Of leaves."""
    saved: list[SavedValue]
    values: list[Value]
    """With its own numbering, not that of the scene."""
    figures: list[Figure]
    check: Check | None
    jacobian: Matrix | None
    through: Series | None
