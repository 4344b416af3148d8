"""The description of an op besides its rules: the shape of its result, and how people read it.

    sqrt = op("sqrt", xp.sqrt, FLOAT, elementwise(written=signs.root), self=lambda grad, result: grad / (2 * result))

Every part has a default: an op without a presentation is a function of its inputs, called by its name, and of the shape
of its result nothing is said.  Cards, sentences, formulas and the checks of a trace file look here; none of them has a
table of ops of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .notation.printed import Places, Printed
from .result_shapes import Attrs, ResultShape, broadcast

NonFinite = Literal["", "logarithm", "root", "power", "division", "overflow", "deviation"]
Operands = Literal["infix", "commuting", "reversed", "prefix"]
"""Where a sign stands: between two operands, of which a number comes second in any case ("commuting"), which change
places ("reversed"), or before the only one."""
Writer = Callable[[Any, Any, Sequence[Places | None]], Printed]
"""Of (printer, expression, indices of each input; None: of whole tensors), what is written."""
IndexForm = Callable[[Any, Any, Places], Printed]
"""Of (printer, expression, indices of the place asked for), what stands there; raises NoIndices where that is long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How an op is shown.

    ================ ==================================================================================================
    `nonfinite`      how it comes from finite numbers to others, or its slope does: the pole of a "logarithm", "root",
                     "power" or "division", an "overflow", the "deviation" of one value
    `largest`        of an op that overflows: the largest input that it takes, from the largest number of a dtype
    `random`         its result was drawn: small steps of its inputs say nothing
    `chooses`        it passes on some of its numbers and throws the others away
    `masks`          it writes -inf where a mask says so
    `sign`           the operator that a program writes it with, and how it stands to its `operands`
    `indexing`       a program writes it as `x[…]`
    `called`         the function in a program, from static arguments and the result's rank, where the name differs
    `shows_shape`    what is to be seen of a call is the shape of its result, not its arguments
    `shape`          the shape of the result, from the static arguments and the shapes of the inputs
    `elementwise`    one place of every (broadcast) input makes one place of the result
    `name`           the function in formulas, where the op's own name says less
    `word`           what that function does, in words; "" where the name says it to everyone
    `written`        how a formula writes it where it has a sign of its own
    `indexed`        how a formula writes one place of its result
    `plain`          whether it reads as well without indices
    `letters`        the letters of its results in formulas, where it has several
    `roles`          what each of its results is, "" of the one that it is called for
    ================ ==================================================================================================
    """

    nonfinite: NonFinite = ""
    largest: Callable[[float], float] | None = None
    random: bool = False
    chooses: bool = False
    masks: bool = False
    sign: str = ""
    operands: Operands = "infix"
    indexing: bool = False
    called: Callable[[Attrs, int], str] | None = None
    shows_shape: bool = False
    shape: ResultShape | None = None
    elementwise: bool = False
    name: str = ""
    word: str | None = None
    written: Writer | None = None
    indexed: IndexForm | None = None
    plain: bool = False
    letters: str = ""
    roles: tuple[str, ...] = ()


NOTHING_KNOWN = Presentation()
elementwise = functools.partial(Presentation, elementwise=True, shape=broadcast)
"""The presentation of an op that works element by element."""

DRAWN = Presentation(random=True)
"""Of random draws."""
PICKED = Presentation(letters="yk", roles=("", "the result indices: where along the dimension each value was found"))
"""Of ops that give values along a dimension, and where they were found."""
PICKED_IN_WINDOWS = Presentation(
    letters="yk", roles=("", "where each window's largest was found, its plane counted through row by row")
)
"""The same of poolings."""

ADDED_AT = "each number is added at the place that its index says, places that no index says get 0"
PLACED = "the upstream gradient at the place that was read, 0 elsewhere"
DIAGONAL = "a diagonal: taken out of a matrix, or set into one that is 0 elsewhere"
"""Words that functions of several files share."""
