"""The result of a writer of formulas, and the words of the signs that several of them use."""

from __future__ import annotations

from collections.abc import Sequence

CHOICE, COMPARISON, SUM, SERIES, PRODUCT, MATRIX, SCALED, POWER, ATOM = range(9)
"""How tightly an expression holds together, loosest first."""

Printed = tuple[str, int]
"""An expression and how tightly it holds together."""

Places = Sequence[str | None]
"""An index per dimension: a letter, number or sum of these; None where the dimension has size 1."""

ONE_PLACE = "positions along the dimensions; one of size 1 has none"
INDICATOR = "1 where the condition in the brackets holds, else 0"
INSIDE = "indices past an edge read 0, the padding"
ROUNDED_DOWN = "rounded down to a whole number"
MEMBER = "whether it is one of the numbers of the index"


class NoIndices(Exception):
    """An expression that cannot be written place by place."""
