"""The two ways to write a formula: as text, and as TeX that MathJax sets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .symbol import shown_number

CHOICE, COMPARISON, SUM, SERIES, PRODUCT, MATRIX, SCALED, POWER, ATOM = range(9)
"""How tightly an expression holds together, loosest first."""

Printed = tuple[str, int]

_BELOW = str.maketrans("ijklmnprs0123456789", "ᵢⱼₖₗₘₙₚᵣₛ₀₁₂₃₄₅₆₇₈₉")
_ABOVE = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")


@dataclass(frozen=True, slots=True)
class Style:
    """How the parts of a formula are written."""

    name: Callable[[str, bool], str]
    below: Callable[[str, str], str]
    power: Callable[[str, str], str]
    function: Callable[[str], str]
    fraction: Callable[[Printed, Printed], Printed]
    choice: Callable[[str, str, str], Printed]
    root: Callable[[str], str]
    brackets: Callable[[str], str]
    number: Callable[[float], str]
    times: str
    each: str
    scaled: str
    transposed: str
    series: str
    signs: Mapping[str, str]


def _text_name(name: str, barred: bool) -> str:
    if not barred:
        return name
    return f"{name}\u0304" if len(name) == 1 else "".join(f"{c}\u0305" for c in name)


_SPECIAL = {
    "\\": r"\backslash ", "{": r"\{", "}": r"\}", "$": r"\$", "#": r"\#", "%": r"\%", "&": r"\&", "_": r"\_",
    "~": r"\sim ", "^": r"\wedge ", "'": r"\text{'}", '"': r'\text{"}', " ": r"\ ",
}  # fmt: skip


def _tex_name(name: str, barred: bool) -> str:
    if len(name) == 1 and name.isalpha():
        return rf"\bar{{{name}}}" if barred else name
    if re.fullmatch(r"[A-Za-z][0-9]+", name):
        shown = f"{name[0]}_{{{name[1:]}}}"
    else:
        shown = rf"\mathrm{{{''.join(_SPECIAL.get(c, c) for c in name)}}}"
    return rf"\overline{{{shown}}}" if barred else f"{{{shown}}}"


def _text_power(base: str, exponent: str) -> str:
    raised = exponent.translate(_ABOVE)
    if re.fullmatch("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", raised):
        return base + raised
    return f"{base}^{exponent}" if re.fullmatch(r"[\w.]+", exponent) else f"{base}^({exponent})"


def _text_fraction(above: Printed, under: Printed) -> Printed:
    return f"{_held(above, PRODUCT)} / {_held(under, POWER)}", PRODUCT


def _held(printed: Printed, least: int) -> str:
    return printed[0] if printed[1] >= least else f"({printed[0]})"


def _tex_function(name: str) -> str:
    known = ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    if name in known:
        return f"\\{name}"
    return r"\sigma" if name == "sigmoid" else rf"\operatorname{{{''.join(_SPECIAL.get(c, c) for c in name)}}}"


def _constant(x: float, log: str, slope: str) -> str:
    """The constants of derivatives by their names; "" for other numbers."""
    if isinstance(x, float):
        if x in (math.log(2), math.log(10)):
            return f"{log}{2 if x < 1 else 10}"
        if x == 2 / math.sqrt(math.pi):
            return slope
    return ""


TEXT = Style(
    name=_text_name,
    below=lambda base, index: base + index.translate(_BELOW),
    power=_text_power,
    function=lambda name: "σ" if name == "sigmoid" else name.replace(" ", "_"),
    fraction=_text_fraction,
    choice=lambda test, then, other: (f"{then} where {test}, else {other}", CHOICE),
    root=lambda inner: f"√({inner})" if re.search(r"[^\w\u0300-\u036f]", inner) else f"√{inner}",
    brackets=lambda inner: f"({inner})",
    number=lambda x: _constant(x, "log ", "2/√π") or shown_number(x),
    times=" · ", each=" ⊙ ", scaled="·", transposed="ᵀ", series="Σ",
    signs={"lt": "<", "le": "≤", "gt": ">", "ge": "≥", "eq": "=", "ne": "≠", "logical_and": "and", "logical_or": "or"},
)  # fmt: skip
TEX = Style(
    name=_tex_name,
    below=lambda base, index: f"{base}_{{{index}}}",
    power=lambda base, exponent: f"{base}^{{{exponent}}}",
    function=_tex_function,
    fraction=lambda above, under: (rf"\frac{{{above[0]}}}{{{under[0]}}}", SCALED),
    choice=lambda test, then, other: (
        rf"\begin{{cases}}{then} & \text{{where }} {test} \\ {other} & \text{{else}}\end{{cases}}", ATOM,
    ),
    root=lambda inner: rf"\sqrt{{{inner}}}",
    brackets=lambda inner: rf"\left({inner}\right)",
    number=lambda x: _constant(x, r"\log ", r"\tfrac{2}{\sqrt{\pi}}")
    or shown_number(x).replace("∞", r"\infty").replace("nan", r"\mathrm{nan}").replace("−", "-"),
    times=r" \cdot ", each=r" \odot ", scaled=r"\,", transposed=r"^{\top}", series=r"\sum",
    signs={"lt": "<", "le": r"\le", "gt": ">", "ge": r"\ge", "eq": "=", "ne": r"\ne", "logical_and": r"\wedge",
           "logical_or": r"\vee"},
)  # fmt: skip
