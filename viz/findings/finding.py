"""A finding: a problem that raised no error, with its kind, place and fix.  Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ..schema.run import RunFindingKind
from ..schema.values import FindingKind

Kind = FindingKind
NONFINITE_GRADIENT: frozenset[Kind] = frozenset({"nan-gradient", "inf-gradient"})
NONFINITE: frozenset[Kind] = NONFINITE_GRADIENT | {"nan", "inf"}
EXPLODING: frozenset[Kind] = frozenset({"growth", "divergence"})
ADDING_UP: frozenset[Kind] = frozenset({"sum", "not-zeroed"})
OFTEN_MEANT: frozenset[Kind] = frozenset({"sum", "tie", "kink"})
"""Kinds that are often intended: marked on the graph, without a chapter."""

MISTAKES: frozenset[Kind] = frozenset({
    "not-zeroed", "not-called", "other-loss", "cleared", "unused-clip", "unreached", "unheld", "unlisted",
    "loss-dimension", "no-logarithm", "log-target", "softmax-twice", "sigmoid-twice", "target-range", "view-order",
    "flat-scores", "padding", "negated", "one-class",
    "swapped", "constant-term", "attention-dimension", "batch-as-time", "same-target", "alike-units", "write", "cut",
    "copy", "shape",
})  # fmt: skip
"""Kinds about what the program says, which explain what its numbers show."""

MAKE_GROW: frozenset[Kind] = frozenset({
    "not-zeroed", "not-called", "other-loss", "unused-clip", "no-logarithm", "log-target", "negated", "target-range",
})  # fmt: skip
"""Mistakes after which numbers may grow until they overflow."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that raised no error: its event, place, reason, and fix ("" if unknown).

    `label`, `why` and `fix` are for people.
    """

    kind: Kind
    event: int
    at: str | None
    label: str
    why: str
    fix: str = ""
    line: int | None = None
    leaf: int | None = None
    """The tensor that had the problem before anything was computed, and so hides its source."""


@dataclass(frozen=True, slots=True)
class SectionFinding:
    """A problem that several iterations of a run show together: the section that shows it, and the problems in the
    numbers that it causes.  `label`, `why` and `fix` are for people."""

    section: int
    label: str
    why: str
    fix: str
    explains: tuple[RunFindingKind, ...] = ()
