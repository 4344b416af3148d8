"""The details of one element of a revision, for all its moments: what the inspector shows."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from .scene import Saved
from .values import Code, ElementId, Formula, Line, Num, Track, Value, ValueId


class Head(TypedDict):
    """The description of an element."""

    name: str
    """The name in the program, or of the node."""
    label: str
    """The kind of the element, in words."""
    code: Code | None
    """The line that made it."""
    shape: list[int] | None
    """The shape of a tensor, or of an op's first result."""
    dtype: str | None
    """The dtype of a tensor, or of an op's first result."""
    device: str
    """`cpu` or `cuda`."""
    sequence_nr: int | None
    """The sequence number of the node: the higher one runs first in backward."""
    about: str
    """For an op that only the library of the program has: a sentence of its documentation there; else empty."""


class Moment(TypedDict):
    """The arithmetic of a step: upstream gradient, local derivatives, the cotangent per input, sums written out."""

    step: int
    """The step that it is about."""
    title: str
    """The expression or the call."""
    lines: list[Line]
    """The arithmetic, line by line."""


class Entry(TypedDict):
    """A gradient added to `.grad` of a leaf, or written there by the program."""

    step: int
    """The step at which it arrived."""
    call: int | None
    """The number of the backward call; null if the program wrote the gradient."""
    label: str
    """Its origin, in words."""
    before: ValueId | None
    """`.grad` before."""
    added: ValueId | None
    """The gradient that was added."""
    after: ValueId | None
    """`.grad` after."""
    code: Code | None
    """The call, or the line that wrote it."""


class SavedValue(TypedDict):
    """A value that an op saved."""

    name: str
    """The field of the node that holds it."""
    text: str
    """A description, with its value if that is short."""
    bytes: int
    """Memory that it keeps, in bytes."""
    track: Track[Saved]
    """Without `none`; it may be empty."""
    freed_by: Code | None
    """The backward call that freed it."""
    label: str
    """Its state, in words."""


FigureOf = Literal["value", "seed", "grad", "result", "upstream"]
"""The elements of a figure: for a tensor those of a row of its card, for an op those of its result or upstream
gradient."""


class Figure(TypedDict):
    """A picture of the elements of a value over time."""

    of: FigureOf
    """The part of the element that it shows."""
    title: str
    """Its heading."""
    kind: Literal["heatmap", "histogram"]
    """How it is drawn."""
    track: Track[ValueId | None]
    """The value that it shows."""


class Check(TypedDict):
    """One VJP against finite differences."""

    text: str
    """The comparison and its result, in words."""
    worst: Num
    """The worst relative difference."""
    agrees: bool
    """Whether the rule passes."""


class Comparison(TypedDict):
    """The recorded numbers of a call against those of the engine's op, if the program ran on another library."""

    library: str
    """The name and the version of the library."""
    text: str
    """How far they are apart."""
    worst: Num
    """The largest difference relative to the largest number."""
    agrees: bool
    """Whether it is no more than rounding."""


class Matrix(TypedDict):
    """The local Jacobian of a call by one input: a row for each element of the result."""

    input: str
    """The name of the input."""
    rows: int
    """How many rows it has."""
    cols: int
    """How many columns it has: one for each element of the input."""
    data: list[Num]
    """Row by row."""


class SeriesPoint(TypedDict):
    """One iteration."""

    label: str
    """The name of the iteration."""
    element: ElementId | None
    """Its card; null where it has none."""
    here: bool
    """Whether it is the requested element."""
    track: Track[Num | None]
    """The number; null before there is one."""


class Series(TypedDict):
    """The results of the same code, or the gradients of a leaf, if there are three or more."""

    title: str
    """The name of the measure."""
    kind: Literal["norm", "size"]
    """`norm` of gradients, or `size` of numbers."""
    of: int
    """How often; if more than 256, that many evenly spaced points are sent."""
    points: list[SeriesPoint]
    """One for each iteration."""


class Details(TypedDict):
    """The answer for one element of a revision."""

    revision: str
    """The id of the revision."""
    element: ElementId
    """The element that was asked for."""
    kind: Literal["tensor", "op", "group"]
    """The kind of the element; a stub counts as its tensor."""
    head: Head
    formula: list[Formula]
    """The formulas of this call, from the rule itself."""
    moments: list[Moment]
    """In the order of their steps."""
    ledger: list[Entry]
    """The accumulations into a leaf."""
    saved: list[SavedValue]
    """The saved values of an op."""
    values: list[Value]
    """The values, numbered on their own, not as in the scene."""
    figures: list[Figure]
    """A figure for each value with more than one element."""
    check: Check | None
    """For ops whose rule can be compared; else null."""
    compared: Comparison | None
    """For ops of a program that ran on another library, if the engine has the op; else null."""
    jacobian: Matrix | None
    """For ops, if it is small enough; else null."""
    through: Series | None
    """Null if there are fewer than three points."""
