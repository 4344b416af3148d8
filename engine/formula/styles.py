"""The two ways to write a formula: as text, and as TeX that MathJax sets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..ops.notation.expression_text import ATOM, CHOICE, POWER, PRODUCT, SCALED, SUM, Printed
from ..ops.notation.symbol import shown_number

_BELOW = str.maketrans("ijklmnprs0123456789", "ᵢⱼₖₗₘₙₚᵣₛ₀₁₂₃₄₅₆₇₈₉")
_ABOVE = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")


@dataclass(frozen=True, slots=True)
class Style:
    """How the parts of a formula are written."""

    name: Callable[[str, bool], str]
    hat: Callable[[str], str]
    below: Callable[[str, Sequence[str]], str]
    under: Callable[[str, str], str]
    power: Callable[[str, str], str]
    function: Callable[[str], str]
    fraction: Callable[[Printed, Printed], Printed]
    choice: Callable[[str, str, str], Printed]
    root: Callable[[str], str]
    brackets: Callable[[str], str]
    number: Callable[[float], Printed]
    indicator: Callable[[str], str]
    floor: Callable[[str], str]
    magnitude: Callable[[str], str]
    share: Callable[[int], str]
    minus: str
    times: str
    each: str
    scaled: str
    transposed: str
    series: str
    product: str
    inverse: str
    also: str
    gap: str
    in_choice: int
    signs: Mapping[str, str]


def _text_name(name: str, barred: bool) -> str:
    if not barred:
        return name
    return f"{name}\u0304" if len(name) == 1 else "".join(f"{c}\u0305" for c in name)


def _text_below(base: str, places: Sequence[str]) -> str:
    """`xᵢⱼ`; as in Python, `x[i, j−1]`, where a place is more than a letter."""
    if all(len(place) == 1 for place in places):
        return base + "".join(places).translate(_BELOW)
    return f"{base}[{', '.join(places)}]"


def _tex_below(base: str, places: Sequence[str]) -> str:
    between = "" if all(len(place) == 1 for place in places) else r",\,"
    return f"{base}_{{{between.join(places)}}}"


_SPECIAL = {
    "\\": r"\backslash ", "{": r"\{", "}": r"\}", "$": r"\$", "#": r"\#", "%": r"\%", "&": r"\&", "_": r"\_",
    "~": r"\sim ", "^": r"\wedge ", "'": r"\text{'}", '"': r'\text{"}', " ": r"\ ",
    ".": "{.}",  # a letter of a name: TeX sets a gap behind a dot that is punctuation
}  # fmt: skip


_GREEK = {"μ": r"\mu", "ρ": r"\rho", "λ": r"\lambda", "σ": r"\sigma"}


def _tex_name(name: str, barred: bool) -> str:
    if len(name) == 1 and name.isalpha():
        text = _GREEK.get(name, name)
        return rf"\bar{{{text}}}" if barred else text if text == name else f"{{{text}}}"
    if re.fullmatch(r"[A-Za-z][0-9]+", name):
        text = f"{name[0]}_{{{name[1:]}}}"
    else:
        text = rf"\mathrm{{{''.join(_SPECIAL.get(c, c) for c in name)}}}"
    return rf"\overline{{{text}}}" if barred else f"{{{text}}}"


def _text_power(base: str, exponent: str) -> str:
    raised = exponent.translate(_ABOVE)
    if re.fullmatch("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", raised):
        return base + raised
    return f"{base}^{exponent}" if re.fullmatch(r"[\w.]+", exponent) else f"{base}^({exponent})"


def _text_fraction(above: Printed, under: Printed) -> Printed:
    return f"{_part(above, PRODUCT)} / {_part(under, POWER)}", PRODUCT


def _part(printed: Printed, least: int) -> str:
    return printed[0] if printed[1] >= least else f"({printed[0]})"


def _tex_function(name: str) -> str:
    tex_functions = ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    if name in tex_functions:
        return f"\\{name}"
    if name in _GREEK:
        return _GREEK[name]
    plain = name.removesuffix("ᵀ")
    operator = rf"\operatorname{{{''.join(_SPECIAL.get(c, c) for c in plain)}}}"
    return operator if plain == name else rf"{operator}^{{\top}}"


def _constant(x: float, log: str, slope: str) -> str:
    """The constants of derivatives by their names; "" for other numbers."""
    if isinstance(x, float):
        if x in (math.log(2), math.log(10)):
            return f"{log}{2 if x < 1 else 10}"
        if x == 2 / math.sqrt(math.pi):
            return slope
    return ""


LARGEST = 1000
"""Up to here a number is looked for as a fraction, or as a root, of whole numbers."""


def exact(x: float) -> tuple[int, int, bool] | None:
    """A number that six digits do not give, as a fraction: above, below, and whether of their roots; None otherwise.

    >>> exact(2 / 9), exact(-2 / 3), exact(math.sqrt(2)), exact(1 / math.sqrt(8)), exact(0.1), exact(math.pi)
    ((2, 9, False), (-2, 3, False), (2, 1, True), (1, 8, True), None, None)
    """
    if not isinstance(x, float) or not math.isfinite(x) or float(f"{x:.6g}") == x:
        return None
    near = Fraction(x).limit_denominator(LARGEST)
    if near and abs(near.numerator) <= LARGEST and near.numerator / near.denominator == x:
        return near.numerator, near.denominator, False
    whole, part = round(x * x), round(1 / (x * x)) if abs(x) > 1e-2 else 0
    if x > 0 and 0 < whole <= LARGEST and math.sqrt(whole) == x:
        return whole, 1, True
    if x > 0 and 0 < part <= LARGEST and 1 / math.sqrt(part) == x:
        return 1, part, True
    return None


def _text_number(x: float) -> Printed:
    named = _constant(x, "log ", "2/√π")
    if named:
        return named, ATOM
    if (fraction := exact(x)) is None:
        return shown_number(x), ATOM if x >= 0 or x != x else SUM
    above, below, rooted = fraction
    parts = [f"√{n}" if rooted and n > 1 else str(n) for n in (above, below)]
    text = parts[0] if below == 1 else "/".join(parts)
    return text.replace("-", "−"), SUM if x < 0 else ATOM if below == 1 else PRODUCT


def _tex_decimal(text: str) -> Printed:
    if text.isalpha():  # nan, True
        return rf"\mathrm{{{text}}}", ATOM
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return text.replace("∞", r"\infty"), SUM if text.startswith("-") else ATOM
    power = f"10^{{{int(exponent)}}}"
    if mantissa.lstrip("-") == "1":
        return mantissa.replace("1", power), SUM if mantissa == "-1" else POWER
    return rf"{mantissa} \cdot {power}", SUM if mantissa.startswith("-") else PRODUCT


def _tex_number(x: float) -> Printed:
    named = _constant(x, r"\log ", r"\tfrac{2}{\sqrt{\pi}}")
    if named:
        return named, ATOM
    if (fraction := exact(x)) is None:
        return _tex_decimal(shown_number(x).replace("−", "-"))
    above, below, rooted = fraction
    parts = [rf"\sqrt{{{n}}}" if rooted and n > 1 else str(n) for n in (abs(above), below)]
    text = parts[0] if below == 1 else rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    return (f"-{text}", SUM) if x < 0 else (text, ATOM if below == 1 else SCALED)


TEXT = Style(
    name=_text_name,
    hat=lambda name: "".join(f"{c}\u0302" for c in name),
    below=_text_below, under=lambda base, index: base + index.replace(" ", "").translate(_BELOW),
    power=_text_power,
    function=lambda name: name.replace(" ", "_"),
    fraction=_text_fraction,
    choice=lambda test, then, other: (f"{then} where {test}, else {other}", CHOICE),
    root=lambda inner: f"√({inner})" if re.search(r"[^\w\u0300-\u036f]", inner) else f"√{inner}",
    brackets=lambda inner: f"({inner})",
    number=_text_number, indicator=lambda test: f"1[{test}]", floor=lambda inner: f"⌊{inner}⌋",
    magnitude=lambda inner: f"|{inner}|", share=lambda count: f"(1/{count})",
    minus="−", times=" · ", each=" ⊙ ", scaled="·", transposed="ᵀ", series="Σ", product="Π", inverse="⁻¹", also=", ",
    gap=" ", in_choice=SUM,
    signs={sign: sign for sign in ("<", "≤", ">", "≥", "=", "≠", "and", "or", "∈")},
)  # fmt: skip
TEX = Style(
    name=_tex_name,
    hat=lambda name: rf"\hat{{{name}}}" if len(name) == 1 else rf"\widehat{{{name}}}",
    below=_tex_below, under=lambda base, index: f"{base}_{{{index}}}",
    power=lambda base, exponent: f"{base}^{{{exponent}}}",
    function=_tex_function,
    fraction=lambda above, under: (rf"\frac{{{above[0]}}}{{{under[0]}}}", SCALED),
    choice=lambda test, then, other: (
        rf"\begin{{cases}}{then} & \text{{where }} {test} \\ {other} & \text{{else}}\end{{cases}}", ATOM,
    ),
    root=lambda inner: rf"\sqrt{{{inner}}}",
    brackets=lambda inner: rf"\left({inner}\right)",
    number=_tex_number, indicator=lambda test: rf"\mathbf{{1}}[{test}]",
    floor=lambda inner: rf"\lfloor {inner} \rfloor",
    magnitude=lambda inner: rf"\left|{inner}\right|", share=lambda count: rf"\frac{{1}}{{{count}}}",
    minus="-", times=r" \cdot ", each=r" \odot ", scaled=r"\,", transposed=r"^{\top}", series=r"\sum",
    product=r"\prod", inverse="^{-1}", also=r",\ ", gap=r"\,", in_choice=CHOICE,
    signs={"<": "<", "≤": r"\le", ">": ">", "≥": r"\ge", "=": "=", "≠": r"\ne", "and": r"\wedge", "or": r"\vee",
           "∈": r"\in"},
)  # fmt: skip
