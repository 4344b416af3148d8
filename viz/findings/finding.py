"""A finding: something that is wrong though nothing was raised, of which kind, where, and what helps.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "nan",  # an op of the forward pass gives the first nan
    "inf",  # an op of the forward pass gives the first inf
    "nan-gradient",  # a VJP sends on the first nan
    "inf-gradient",  # a VJP sends on the first inf
    "growth",  # numbers that overflow later pass a size here that those of a sound program seldom have
    "divergence",  # each update makes the loss larger
    "sum",  # a backward call adds to the gradient of an earlier one
    "not-zeroed",  # the same, and a parameter was updated in between
    "cleared",  # gradients are cleared after backward, before the optimiser's step
    "unreached",  # an optimiser holds a parameter that no gradient comes to
    "unheld",  # a module was changed after its optimiser was made, which does not hold the new parameter
    "unlisted",  # a module uses a parameter that it does not list, so no optimiser holds it
    "stalled",  # an op passes on zeros alone in every backward call
    "loss-dimension",  # probabilities sum to 1 along another dimension than that of the classes
    "no-logarithm",  # nll_loss of probabilities
    "softmax-twice",  # cross entropy of probabilities
    "sigmoid-twice",  # binary cross entropy, which takes scores, of probabilities
    "write",  # a saved value was changed in a way that no version counts
    "cut",  # an op of a tensor and of its detached copy
    "copy",  # torch.tensor() made a leaf of a tensor with a history
    "leaf",  # `.grad` was asked of a tensor that is not a leaf
    "tie",  # several elements are the largest or the smallest
    "kink",  # a function has no slope at this value
    "cast",  # a gradient lost digits when it was cast
    "shape",  # a column against a row is spread to a matrix
    "rounded",  # a gradient is too small for float16
]
"""What is wrong.  Whoever treats findings differently asks for their kind, never for a word of their texts."""

KINDS: tuple[Kind, ...] = get_args(Kind)
NONFINITE_GRADIENT: frozenset[Kind] = frozenset({"nan-gradient", "inf-gradient"})
NONFINITE: frozenset[Kind] = NONFINITE_GRADIENT | {"nan", "inf"}
EXPLODING: frozenset[Kind] = frozenset({"growth", "divergence"})
ADDING_UP: frozenset[Kind] = frozenset({"sum", "not-zeroed"})
OFTEN_MEANT: frozenset[Kind] = frozenset({"sum", "tie", "kink"})
"""What is meant as often as not: marked on the graph, and not told."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong though nothing was raised: at which event, where, why, and what helps ("": unknown).

    `label`, `why` and `fix` are for people.
    """

    kind: Kind
    event: int
    at: str | None
    label: str
    why: str
    fix: str = ""
    line: int | None = None
