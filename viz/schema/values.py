"""The parts of scenes and details: numbers, tracks, positions in the program, values, formulas."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

T = TypeVar("T")

Num = float | Literal["nan", "inf", "-inf"]
"""A number; JSON has no nan and no infinities, so these are text."""

Track = list[tuple[float, T]]
"""A value over time: pairs `(k, value)`, ascending in `k`, the first at 0; each holds up to the next."""

ElementId = str
"""Stable across steps, edits and folds: `t3` tensor 3, `t3.1` its version 1, `n5` the sixth op that the program ran
(commands are not counted), `n2.0` the first that backward call 2 recorded, `t3@n5` the stub of `t3` at `n5`, `g…` a
group, `e…` an edge."""

ValueId = int
"""The place of a value in the `values` of its document."""

Point = tuple[float, float]
"""x and y in layout units, which are CSS px at zoom 1."""

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in layout units."""

Wire = tuple[int, int, Num]
"""Source cell, target cell, and the local derivative of the one by the other, where it is not zero."""

FindingKind = Literal[
    "nan",  # an op of the forward pass gives the first nan
    "inf",  # an op of the forward pass gives the first inf
    "nan-gradient",  # a VJP sends on the first nan
    "inf-gradient",  # a VJP sends on the first inf
    "growth",  # numbers that overflow later pass a size here that those of a sound program seldom have
    "divergence",  # each update makes the loss larger
    "sum",  # a backward call adds to the gradient of an earlier one
    "not-zeroed",  # the same, and a parameter was updated in between
    "other-loss",  # a step uses gradients that the loss of another network left, such as a discriminator's
    "cleared",  # gradients are cleared after backward, before the optimiser's step
    "not-called",  # a method such as `opt.step` is named without parentheses
    "unused-clip",  # gradients are clipped before they arrive, while they are scaled, or after the step that uses them
    "unreached",  # an optimiser holds a parameter that no gradient comes to
    "unheld",  # a module was changed after its optimiser was made, which does not hold the new parameter
    "unlisted",  # a module uses a parameter that it does not list, so no optimiser holds it
    "stalled",  # an op passes on zeros alone in every backward call
    "dead-units",  # most units of a layer are 0 for every example of a batch
    "alike-units",  # the units of a layer began with the same weights, and stay copies of each other
    "vanishing",  # a gradient fades to a millionth on its way back through equal steps or layers
    "exploding",  # a gradient grows a million times on its way back
    "loss-dimension",  # probabilities sum to 1 along another dimension than that of the classes
    "no-logarithm",  # nll_loss or kl_div of probabilities
    "log-target",  # kl_div against logarithms of probabilities
    "softmax-twice",  # cross entropy, or the logits of a distribution, of probabilities
    "one-class",  # a loss of the softmax of a single number, which is always 1
    "swapped",  # a loss with its target first and its prediction second
    "sigmoid-twice",  # binary cross entropy, which takes scores, of probabilities
    "target-range",  # a binary cross entropy with targets below 0 or above 1
    "view-order",  # a view that gives two dimensions each other's size does not swap them
    "flat-scores",  # a cross entropy of cosines that are multiplied by a temperature below 1
    "negated",  # updates make the probabilities of the targets smaller, because of the loss's sign
    "constant-term",  # a loss adds the value of another without its graph
    "attention-dimension",  # attention weights sum to 1 over the batch or the heads
    "batch-as-time",  # a recurrent layer without batch_first reads a batch of sequences as steps
    "same-target",  # a language model's targets are the tokens that it reads at the same positions
    "padding",  # a loss counts positions that an embedding with padding_idx read as padding
    "write",  # a saved value was changed in a way that no version counts
    "cut",  # an op of a tensor and of its detached copy
    "copy",  # torch.tensor() made a leaf of a tensor with a history
    "leaf",  # `.grad` was asked of a tensor that is not a leaf
    "tie",  # several elements are the largest or the smallest
    "kink",  # a function has no derivative at this value
    "cast",  # a gradient lost digits when it was cast
    "shape",  # a column against a row is spread to a matrix
    "rounded",  # a gradient is too small for float16
]
"""The kind of a problem that raised no error. Code that treats findings differently uses their kind, never a word of
their texts."""


class Code(TypedDict):
    """A position in the program's text; the first line is 1, the first column 0."""

    file: int
    """The index of the file in `program.files`."""
    line: int
    """The first line."""
    end: int
    """The last line."""
    col: int
    """In characters."""
    stop: int
    """The column after the last character."""


class Stats(TypedDict):
    """Statistics of all elements; null where the file's bytes are damaged, all but `size`."""

    min: Num | None
    """The smallest finite element, 0 if there is none."""
    max: Num | None
    """The largest finite element, 0 if there is none."""
    mean: Num | None
    """The mean of the finite elements, 0 if there are none."""
    norm: Num | None
    """The norm of all elements, as torch has it: nan or inf where one is."""
    nan: int | None
    """How many elements are nan."""
    inf: int | None
    """How many elements are infinite."""
    zeros: int | None
    """How many elements are zero; of truth values those that are False."""
    size: int
    """How many elements there are."""


class Value(TypedDict):
    """A value of a tensor: all elements where they are few, else samples."""

    shape: list[int]
    """The sizes of the dimensions."""
    dtype: str
    """PyTorch's name of it, without `torch.`."""
    data: list[Num] | None
    """All elements, row by row: of a scene up to 16, of details up to 4,096; null where there are more."""
    strip: list[Num] | None
    """At most 64 samples of more than 16 elements, if a card shows the value as a heat strip; else null."""
    stats: Stats
    damaged: NotRequired[Literal[True]]
    """Present if the file's bytes differ from those that were saved."""


class Formula(TypedDict):
    """The gradient of one input of an op, from the rule itself."""

    input: str
    """The name of the input in the rule."""
    text: str
    """The formula as plain text."""
    tex: str
    """The formula in TeX."""
    terms: dict[str, str]
    """The meaning of each name in the formula: an input, `result` or `result[1]`. U+0304 follows the name of a
    gradient; a tensor without a name has a letter that is unique in the program."""
    words: dict[str, str]
    """The meaning of each function, sign and further result."""
    calls: NotRequired[list[int]]
    """The backward calls that needed it, if not all calls that ran the rule did."""


class Chip(TypedDict):
    """The chip inside of an op: a saved tensor, or all of them."""

    name: str
    """The field of the node that holds it, or `saved` for all of them."""
    text: str
    """The text on it: `saved x`."""
    bytes: int
    """Memory that it keeps, in bytes."""


RowKey = Literal[
    "value",
    "grad",  # what has been added up in `.grad`
    "seed",  # the gradient that a backward call starts with
]
"""The content of a row of a card."""


class RowSize(TypedDict):
    """A row of a tensor's card, without its content."""

    key: RowKey
    label: str
    """The text over the row; the value's is not shown."""
    rows: int
    """Lines of cells, and `cols` cells in each: those of the matrix, but a row or a column of more than eight elements
    stands in two lines.  Both are 0 for a heat strip, of a tensor with more than 16 elements."""
    cols: int
    """Cells in a line; 0 for a heat strip."""


Tone = Literal["upstream", "local", "cotangent", "plain"]
"""The kind of the numbers of a line, which sets their colour."""


class Line(TypedDict):
    """A line of arithmetic."""

    label: str
    """The name of the numbers."""
    cells: list[str]
    """The numbers or terms as text."""
    total: str | None
    """The result of the cells, with its sign: `= 6`, or `≈ 0.3333` where the factors as written give another last
    digit."""
    tone: Tone
    cols: NotRequired[int]
    """Cells in a row, of a matrix."""
