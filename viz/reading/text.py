"""Numbers, vectors and shapes as short text, and how wide a text will be: what labels, sentences and flows share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from engine.trace.events import Scalar, Value

SMALL = 16
"""The number of elements up to which a tensor is drawn cell by cell and written out in sentences."""

DAMAGED = "numbers missing"
"""The text instead of the numbers of a value whose bytes in the file are not those that were saved."""

DIGITS = 4
"""The number of significant digits that a number is written with; one more where that is all of it."""

PLAIN = (1e-3, 1e6)
"""From the first to below the second, a number is written without a power of ten."""

EXACT = 1.2e-7
"""The relative distance up to which a number counts as one of five digits: the precision of float32."""

NOISE = 1e-12
"""The share of the summands by which a sum of float64 numbers may be off."""

_WIDTHS = {"label": 7.6, "sub": 6.5, "mono": 7.8}
_NARROW = frozenset("iljtfrI.,:;|!'()[] ")


def number(value: Any) -> str:
    """A number with at most four significant digits, or five if it has no more; the browser's `num` does the same.

    >>> number(2.0), number(1 / 3), number(-float("inf")), number(True), number(277.75), number(0.00099999998)
    ('2', '0.3333', '-inf', 'True', '277.75', '0.001')
    """
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    value = float(value)
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    least, most = PLAIN
    if value == int(value) and abs(value) < most:
        return str(int(value))
    decimal = float(f"{value:.{_digits(value)}g}")
    if abs(decimal) >= least and abs(value) < most:
        return f"{decimal:.8f}".rstrip("0").rstrip(".")
    mantissa, exponent = f"{decimal:.4e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def rough(value: float, digits: int = 1) -> str:
    """A number of which only the size matters, such as a difference.

    >>> rough(3.4567e-7), rough(3.4567e-7, 2), rough(float("inf"))
    ('3e-7', '3.5e-7', 'inf')
    """
    return number(float(f"{value:.{digits - 1}e}"))


def _digits(value: float) -> int:
    """One more than `DIGITS` if the number has no more, or if `DIGITS` would end in a zero and one more is all that
    float32 knows of it.

    A number of float32 is near one of five digits by chance in one case of a hundred.

    >>> _digits(7.512098789215088), _digits(277.75), _digits(float(np.float32(3.3003)))
    (4, 5, 5)
    """
    longer = float(f"{value:.{DIGITS + 1}g}")
    if longer == value:
        return DIGITS + 1
    is_known = abs(longer - value) <= EXACT * abs(value)  # hardly ever, so the others are hardly ever needed
    ends_in_zero = is_known and float(f"{value:.{DIGITS}g}") == float(f"{value:.{DIGITS - 1}g}")
    return DIGITS + 1 if ends_in_zero else DIGITS


def result(terms: Iterable[Sequence[float]], value: float) -> str:
    """The value of a sum of products after a sign: `=` if a calculator gets it from the numbers as they are written,
    `≈` if it differs in the last written digit; the browser's `result` does the same.

    >>> result([(2.0, 3.0)], 6.0), result([(1 / 3, 3.0)], 1.0)
    ('= 6', '≈ 1')
    """
    numeral = number(value)
    with np.errstate(all="ignore"):
        products = [np.prod([np.float64(number(factor)) for factor in term]) for term in terms]
        left, right = float(np.sum(products)), float(numeral)
        size = float(np.sum(np.abs(products)))
    if not (math.isfinite(left) and math.isfinite(right)):
        return f"{'=' if left == right or (left != left and right != right) else '≈'} {numeral}"
    mantissa = numeral.lstrip("-").split("e")[0].replace(".", "").lstrip("0")
    digits = max(DIGITS, len(mantissa))
    least = min(abs(left), abs(right))
    half = 0.5 * 10.0 ** (math.floor(math.log10(least)) - digits + 1) if least else 0.0
    return f"{'=' if abs(left - right) <= half + NOISE * size else '≈'} {numeral}"


def scalar(value: Scalar | None) -> str:
    """A Python number as the user would write it.

    >>> scalar(2), scalar(0.5), scalar(None)
    ('2', '0.5', 'None')
    """
    return str(value) if isinstance(value, bool) or value is None else number(value)


def listing(array: np.ndarray) -> str:
    """All elements in brackets, row by row.

    >>> listing(np.array([[1.0, 2.0], [3.0, 4.0]])), listing(np.array(5.0))
    ('[[1 2] [3 4]]', '5')
    """
    if array.ndim == 0:
        return number(array[()])
    if array.ndim == 1:
        return "[" + " ".join(number(v) for v in array) + "]"
    return "[" + " ".join(listing(row) for row in array) + "]"


def flat(values: Iterable[Any]) -> str:
    """Elements in one pair of brackets whatever their shape: `[2 0 0 0]`."""
    return "[" + " ".join([number(v) for v in values]) + "]"


def shape(sizes: Sequence[int]) -> str:
    """A shape in the form of a card.

    >>> shape((1, 4)), shape(()), shape((3,))
    ('1×4', 'scalar', '3')
    """
    return "×".join(str(n) for n in sizes) if sizes else "scalar"


def size(sizes: Sequence[int]) -> int:
    return math.prod(sizes)


def brief(value: Value) -> str:
    """A value in few characters: the number, a short vector, or shape and norm (of truth values how many are True).

    Rows of one (1×4) are written flat and dimensions of one before a matrix are left out: that is how they are drawn.
    """
    if value.damaged:
        return f"{shape(value.shape)}, {DAMAGED}" if value.shape else DAMAGED  # the shape may be lost too
    array = value.array_up_to(SMALL)
    if array is not None:
        content = _few(array.tobytes(), array.dtype, array.shape)
        if content is not None:
            return content
    if value.dtype == "bool":
        return f"{shape(value.shape)}, {truths(value)}"
    return f"{shape(value.shape)}, norm {number(norm(value.stats))}"


@lru_cache(maxsize=1 << 16)
def _few(raw: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> str | None:
    """The elements of a small array as `brief` writes them; None for those of which it writes shape and norm.

    One value is in the sentences of several steps, and in a long loop many values are equal.
    """
    array = np.frombuffer(raw, dtype).reshape(shape)
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    if array.size == 1:
        return number(array.reshape(-1)[0])
    if array.size == max(array.shape) and (array.ndim < 2 or array.shape[-1] == array.size):
        return flat(array.reshape(-1))
    if array.size <= 9 or array.shape == (array.size, 1):
        return listing(array)
    return None


def elements(array: np.ndarray) -> str:
    """All elements of a small array, shape and norm of a larger one.

    >>> elements(np.array([1.0, 2.0])), elements(np.ones((5, 5)))
    ('[1 2]', '5×5, norm 5')
    """
    if array.size <= SMALL:
        return listing(array)
    return f"{shape(array.shape)}, norm {number(float(np.linalg.norm(array.reshape(-1))))}"


def truths(value: Value) -> str:
    """The number of elements that are True: truth values have no informative norm or range."""
    every = size(value.shape)
    return f"{every - int(value.stats['zeros'])} of {every} True"


def norm(stats: Mapping[str, Any]) -> float:
    """The norm of all elements, as torch has it: the statistics of a value have that of its finite ones.

    >>> norm({"norm": 3.0, "nan": 0, "inf": 0}), norm({"norm": 3.0, "nan": 0, "inf": 1})
    (3.0, inf)
    """
    return math.nan if stats["nan"] else math.inf if stats["inf"] else float(stats["norm"])


def count(n: int, noun: str) -> str:
    """`1 op`, `2 ops`.

    >>> count(1, "op"), count(2, "op")
    ('1 op', '2 ops')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def join(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def one_line(source: str, limit: int) -> str:
    """Source text with its white space collapsed, cut where it is long.

    >>> one_line("z.backward([[1, 0]],\\n           retain_graph=True)", 60)
    'z.backward([[1, 0]], retain_graph=True)'
    """
    text = " ".join(source.split())
    for bracket in "([{":
        text = text.replace(bracket + " ", bracket)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def width(text: str, kind: str = "label") -> float:
    """Estimated width in px of a text in the fonts of the graph: label 13 px semi-bold, sub 12 px, mono 13 px."""
    unit = _WIDTHS[kind]
    if kind == "mono":
        return unit * len(text)
    return unit * sum(0.55 if c in _NARROW else 1.35 if c in "mwMW×@=" else 1.0 for c in text)
