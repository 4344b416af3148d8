"""The description of an op besides its rules: the shape of its result, and how people read it.

    sqrt = op("sqrt", xp.sqrt, FLOAT, elementwise(notation=signs.root), self=lambda grad, result: grad / (2 * result))

Every part has a default: an op without a presentation is a function of its inputs, called by its name, and of the shape
of its result nothing is said.  Cards, sentences, formulas and the checks of a trace file look here; none of them has a
table of ops of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .notation.expression_text import Places, Printed
from .result_shapes import Attrs, ResultShape, broadcast

NonFinite = Literal["", "logarithm", "root", "power", "division", "overflow", "deviation", "row", "ends"]
Operands = Literal["infix", "commuting", "reversed", "prefix"]
"""Where a sign stands: between two operands, of which a number comes second in any case ("commuting"), which change
places ("reversed"), or before the only one."""
Writer = Callable[[Any, Any, Sequence[Places | None]], Printed]
"""From (printer, expression, indices of each input; None for whole tensors) to the text."""
IndexForm = Callable[[Any, Any, Places], Printed]
"""From (printer, expression, indices of an element) to the text of that element; raises NoIndices if it is long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How an op is shown.

    ================ ==================================================================================================
    **result**
    `shape`          its shape, from the static arguments and the shapes of the inputs
    `elementwise`    each element of it depends on the same element of every (broadcast) input, and on no other
    `rearranges`     it has all numbers of its only tensor, each once, in another shape or order
    `random`         it is drawn, so that small steps of the inputs say nothing
    `chooses`        it has some of the input's numbers and discards the others
    `jumps`          it is constant between jumps, so its derivative is 0
    `masks`          it has -inf where a mask says so
    `nonfinite`      why it, or its derivative, may be inf or nan for finite inputs: the pole of a "logarithm", "root",
                     "power" or "division", an "overflow", the "deviation" of a single value,
                     a "row" of minus infinities, or an input at the "ends" of the interval from -1 to 1
    `largest`        the largest input that does not overflow, from the largest number of the dtype
    **program**      on cards and in sentences
    `sign`           the operator, and how it stands to its `operands`
    `indexing`       it is written `x[...]`
    `called`         the function, from the static arguments and the rank of the result, where its name is another
    `shows_shape`    the shape of the result is shown instead of the arguments
    **formula**
    `name`           the function, where the op's own name says less
    `word`           what that function does, in words; "" where its name is enough
    `notation`       how it is written where it has a sign of its own
    `indexed`        how one element of the result is written
    `plain`          it is as readable without indices
    `letters`        one letter for each of several results
    `roles`          what each result is; "" for the one that the op is called for
    ================ ==================================================================================================
    """

    shape: ResultShape | None = None
    elementwise: bool = False
    rearranges: bool = False
    random: bool = False
    chooses: bool = False
    jumps: bool = False
    masks: bool = False
    nonfinite: NonFinite = ""
    largest: Callable[[float], float] | None = None
    sign: str = ""
    operands: Operands = "infix"
    indexing: bool = False
    called: Callable[[Attrs, int], str] | None = None
    shows_shape: bool = False
    name: str = ""
    word: str | None = None
    notation: Writer | None = None
    indexed: IndexForm | None = None
    plain: bool = False
    letters: str = ""
    roles: tuple[str, ...] = ()


NOTHING_KNOWN = Presentation()
elementwise = functools.partial(Presentation, elementwise=True, shape=broadcast)
"""The presentation of an op that works element by element."""

REARRANGED = Presentation(rearranges=True)
"""For views and copies, which are called by their names."""
RANDOM = Presentation(random=True)
"""For random draws."""
PICKED = Presentation(letters="yk", roles=("", "the result indices: where along the dimension each value was found"))
"""For ops that return values along a dimension, and their positions."""
PICKED_IN_WINDOWS = Presentation(
    letters="yk", roles=("", "the position of each window's largest, counted row by row in its plane")
)
"""The same of poolings."""

ADDED_AT = "each number is added at the position in its index, positions without an index get 0"
BACK_IN_PLACE = "the upstream gradient at the position that was read, 0 elsewhere"
DIAGONAL = "a diagonal: taken out of a matrix, or set into one that is 0 elsewhere"
"""Words that functions of several files share."""
