"""A formula written place by place, read as a program: at every place it gives what the rule gives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from engine.formula.formula import _Call
from engine.formula.printer import Printer
from engine.formula.styles import Style
from engine.ops.notation.expression_text import ATOM, SUM, NoIndices
from engine.ops.notation.symbol import Symbol, mentions, noted, wants_indices
from engine.ops.op import REGISTRY
from tests.batches import batches
from tests.engine.formula.evaluation import evaluate
from tests.engine.formula.test_formula import OPS, by_rule, calls, described, given, some

CODE = Style(
    name=lambda name, barred: f"{'d' if barred else 'v'}_{name}",
    hat=lambda shown: f"hat_{shown}",
    below=lambda base, places: f"at({base}, {', '.join(places)})",
    under=lambda base, index: base,
    power=lambda base, exponent: f"(({base}) ** ({exponent}))",
    function=lambda name: f"f_{name}",
    fraction=lambda above, under: (f"(({above[0]}) / ({under[0]}))", ATOM),
    choice=lambda test, then, other: (f"(({then}) if ({test}) else ({other}))", ATOM),
    root=lambda inner: f"math.sqrt({inner})",
    brackets=lambda inner: f"({inner})",
    number=lambda x: (f"({float(x)!r})" if math.isfinite(x) else f"float('{x}')", ATOM),
    indicator=lambda test: f"(1 if {test} else 0)",
    floor=lambda inner: f"math.floor({inner})",
    magnitude=lambda inner: f"abs({inner})",
    share=lambda count: f"(1/{count}) *",
    minus="-", times=" * ", each=" * ", scaled="*", transposed=".T", series="sum", product="math.prod", inverse="",
    also=" and ",
    gap=" ", in_choice=SUM,
    signs={"<": "<", "≤": "<=", ">": ">", "≥": ">=", "=": "==", "≠": "!=", "and": "and", "or": "or", "∈": "in"},
)  # fmt: skip


class Program(Printer):
    """Writes the sums as loops."""

    def summed(self, letters: Sequence[str], body: str, condition: str = "", sign: str = "") -> str:
        loops = " ".join(f"for {letter} in range({self.ranges[letter]})" for letter in letters)
        test = f" if {letters[-1]} {condition}" if condition else ""
        return f"{sign or self.style.series}([{body} {loops}{test}])"


def at(array: np.ndarray, *places: int) -> Any:
    """The number at a place without the dimensions of size 1; past an edge 0."""
    flat = array.reshape([n for n in array.shape if n != 1])
    return flat[places] if all(0 <= i < n for i, n in zip(places, flat.shape, strict=True)) else 0.0


FUNCTIONS: dict[str, Any] = {
    "math": math, "at": at, "f_sign": np.sign, "f_exp": math.exp, "f_log": math.log, "f_isnan": math.isnan,
    "f_exp2": np.exp2, "f_log1p": math.log1p, "f_xlogy": lambda x, y: x and x * math.log(y), "f_trunc": math.trunc,
    "f_floor": math.floor, "f_σ": lambda x: 1 / (1 + math.exp(-x)), "f_tanh": math.tanh,
}  # fmt: skip


def normalised(x: Any, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values under a hat in an expression, by the symbol's name."""
    if isinstance(x, Symbol) and x.op is not None:
        if x.op.name in ("normalized", "normalized_backward"):
            item, mean, rstd = x.inputs[-3:]
            if isinstance(mean, Symbol):
                yield item.name, (evaluate(item, values) - evaluate(mean, values)) * evaluate(rstd, values)
        for item in x.inputs:
            yield from normalised(item, values)


def computed(printer: Program, shape: tuple[int, ...], x: Symbol, values: dict[str, Any]) -> np.ndarray:
    """The value of the written formula at each position."""
    places = printer.fresh(shape)
    code = compile(printer.show(x, places)[0], "formula", "eval")
    known = dict(FUNCTIONS)
    for name, (label, barred) in printer.labels.items():
        if name in values:
            known[CODE.name(label, barred)] = np.asarray(values[name])
    for name, unit in normalised(x, values):
        known[CODE.hat(CODE.name(printer.labels[name][0], False))] = unit
    letters = [p for p in places if p is not None]
    found = [
        eval(code, known | dict(zip(letters, where, strict=True)))  # noqa: S307 the code is the printer's own
        for where in itertools.product(*(range(n) for n in shape if n != 1))
    ]
    return np.asarray(found, dtype="float64").reshape(shape)


def check(name: str) -> set[str]:
    """The ops that were written place by place in the formulas of one op."""
    seen: set[str] = set()
    for args, attrs in calls(name):
        found, values, results = described(name, args, attrs)
        inputs = {k: v.shape if isinstance(v, np.ndarray) else v for k, v in given(name, args).items()}
        call = _Call(name, REGISTRY[name], attrs, inputs, [r.shape for r in results], {}, ())
        for target, said in found.items():
            shape = values[target].shape
            if said.expression is None or not shape or not wants_indices(said.expression):
                continue
            try:
                made = computed(Program(CODE, call.labels), shape, said.expression, values)
            except NoIndices:
                continue
            expected = np.broadcast_to(by_rule(name, target, args, attrs, values, results), shape)
            assert np.allclose(made, expected, rtol=1e-9, atol=1e-12, equal_nan=True), said.text
            seen |= {op.name for op in mentions(said.expression)}
    return seen


@batches("name", OPS)
def test_a_formula_place_by_place_is_what_the_rule_gives(name: str) -> None:
    check(name)


X, Y, Z = Symbol("x", (4, 6)), Symbol("y", (6, 4)), Symbol("z", (2, 3))
ROW, INDEX, PAIRS = Symbol("row", (4,)), Symbol("index", (3,)), Symbol("pairs", (4, 2))
FLAT: dict[str, Any] = {"padding": (0, 0), "ceil_mode": False, "count_include_pad": True}
EXPRESSIONS = [
    noted("avg_pool_backward", Z, sizes=(4, 6), kernel_size=(2, 2), stride=(2, 2), divisor_override=None, **FLAT),
    noted("avg_pool_backward", Z, sizes=(4, 3), kernel_size=(2, 1), stride=(2, 1), divisor_override=5, **FLAT),
    noted("clone", X, memory_format=None), noted("sum", X), noted("mean", X),
    noted("diagonal", X, offset=0, dim1=0, dim2=1), noted("diagonal", X, offset=1, dim1=0, dim2=1),
    noted("diagonal", X, offset=-2, dim1=0, dim2=1), noted("mm", X, Y), noted("mv", Y, ROW), noted("t", X),
    noted("bmm", Symbol("cube", (2, 3, 4)), Symbol("box", (2, 4, 3))),
    noted("matmul_pairs", Symbol("cube", (2, 3, 4)), Symbol("box", (2, 4, 3))),
    noted("transpose", X, dim0=0, dim1=1), noted("select", X, dim=1, index=-2), noted("view", X, size=(4, 1, 6)),
    noted("slice", X, dim=1, start=1, end=6, step=2), noted("cumsum", X, dim=1), noted("flip", X, dims=(0, 1)),
    noted("slice_backward", ROW, sizes=(6,), dim=0, start=1, end=5, step=1),
    noted("slice_backward", ROW, sizes=(6,), dim=0, start=2, end=6, step=1),
    noted("slice_backward", ROW, sizes=(6,), dim=0, start=0, end=4, step=1),
    noted("diagonal_backward", ROW, sizes=(6, 5), offset=-2, dim1=0, dim2=1),
    noted("index_select", X, INDEX, dim=1), noted("index_fill", X, INDEX, dim=1, value=3),
    noted("index_cleared", X, [None, INDEX]),
    noted("index_backward", Symbol("picked", (3,)), [INDEX, INDEX], sizes=(4, 4)),
    noted("gather", X, PAIRS, dim=1), noted("scatter_sum", Symbol("few", (4, 2)), PAIRS, dim=1, sizes=(4, 6)),
    noted("embedding_dense_backward", Symbol("two", (3, 2)), INDEX, rows=4, padding_idx=-1, scale_grad_by_freq=False),
    noted("tril", X, diagonal=-1), noted("triu", X, diagonal=1), noted("prod_of_others", X, dim=0),
    noted("even_share", Symbol("ties", (2, 3)), Symbol("best", (2, 1)), dim=1), noted("permute", X, dims=(1, 0)),
]  # fmt: skip
WHOLE = {"index": np.array([0, 3, 3]), "pairs": np.array([[0, 5], [1, 1], [2, 4], [3, 0]]),
         "ties": np.array([[1.0, 3, 3], [2, 1, 0]]), "best": np.array([[3.0], [2]])}  # fmt: skip


def names_in(x: Any) -> Iterator[Symbol]:
    for item in x if isinstance(x, (list, tuple)) else [x]:
        if isinstance(item, (list, tuple)):
            yield from names_in(item)
        elif isinstance(item, Symbol):
            yield from [item] if item.op is None else names_in(item.inputs)


@pytest.mark.parametrize("x", EXPRESSIONS, ids=repr)
def test_an_expression_place_by_place_is_what_its_kernel_gives(x: Symbol) -> None:
    values = {one.name: WHOLE.get(one.name, some(*(one.shape or ()))) for one in names_in(x)}
    expected = np.asarray(evaluate(x, values))
    printer = Program(CODE, {name: (name, False) for name in values})
    assert x.shape == expected.shape
    assert np.allclose(computed(printer, expected.shape, x, values), expected)


def test_every_way_to_write_places_was_tried() -> None:
    seen = set().union(*(check(name) for name in OPS), *({op.name for op in mentions(x)} for x in EXPRESSIONS))
    assert {name for name, op in REGISTRY.items() if op.presentation.indexed is not None} - seen == {
        "dot"
    }  # a number has no places
