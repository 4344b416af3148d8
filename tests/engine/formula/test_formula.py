"""Every rule has a formula, and a formula computes what its rule computes."""

from __future__ import annotations

import functools
import inspect
import math
import re
import unicodedata
from typing import Any

import numpy as np
import pytest

import engine
from engine.formula.formula import MOST, Formula, formulas, formulas_of
from engine.formula.printer import Printer
from engine.formula.simplify import simplified
from engine.formula.styles import TEX, TEXT
from engine.ops.notation.symbol import Symbol, ValueNeeded, noted, shown_number
from engine.ops.op import REGISTRY, call_kernel
from engine.trace.events import LeafCreated, OpCalled
from tests.batches import batches
from tests.lines import lines_of
from tests.samples import SAMPLES

from .evaluation import evaluate

RNG = np.random.default_rng(7)


def some(*shape: int) -> np.ndarray:
    """Positive numbers apart from each other, below 1: inside the domain of every function here."""
    size = int(np.prod(shape))
    return (RNG.permutation(size).reshape(shape) + 1) / (size + 2)


X, Y, ROW, MASK = some(2, 3), some(2, 3), some(3), np.array([[True, False, True], [False, True, False]])
INDEX = np.array([[0, 1, 0]])
PATH = (("select", {"dim": 0, "index": 1}, None),)
CALLS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "where": [((MASK, X, Y), {}), ((MASK, ROW, 2.0), {})],
    "masked_fill": [((X, MASK), {"value": 3.0})],
    "clamp": [((X,), {"min": 0.2, "max": 0.6}), ((X,), {"min": None, "max": 0.5}), ((X,), {"min": 0.5, "max": None})],
    "clamp_min": [((X,), {"min": 0.5})], "clamp_max": [((X,), {"max": 0.5})],
    "clamp.Tensor": [((X, some(2, 3) / 2, some(2, 3)), {}), ((X, None, Y), {}), ((X, Y, None), {})],
    "add": [((X, Y), {}), ((X, ROW), {}), ((X, 2), {}), ((some(2, 1), ROW), {})],
    "sub": [((X, Y), {}), ((X, ROW), {}), ((ROW, X), {}), ((1.5, X), {})],
    "mul": [((X, Y), {}), ((X, ROW), {}), ((X, 2), {}), ((some(2, 1), ROW), {}), ((X, -1), {}), ((X, 1), {})],
    "div": [((X, Y), {}), ((X, ROW), {}), ((X, 2), {}), ((3, X), {})],
    "rsub": [((X, 2), {})],
    "add.alpha": [((X, Y), {"alpha": 2})], "sub.alpha": [((X, ROW), {"alpha": 0.5})],
    "div.mode": [((X, Y), {"rounding_mode": "floor"})],
    "pow.Tensor_Scalar": [((X,), {"exponent": e}) for e in (0, 1, 2, 3, -1, 0.5)],
    "pow.Scalar": [((X,), {"self": 2.0}), ((X,), {"self": 0})],
    "pow.Tensor_Tensor": [((X, Y), {}), ((some(2, 1), ROW), {})],
    "acosh": [((X + 1,), {})],
    "to.device": [((X,), {"device": "cpu", "source": "cpu"})], "to": [((X,), {"dtype": np.dtype("float64")})],
    "sum_to_size": [((X,), {"size": (1, 3)}), ((X,), {"size": ()})],
    "expand": [((ROW,), {"size": (2, 3)}), ((np.array(2.0),), {"size": (2,)})],
    "unsqueeze": [((X,), {"dim": 1})], "squeeze": [((some(2, 1, 3),), {})],
    "squeeze.dim": [((some(2, 1),), {"dim": 1}), ((X,), {"dim": 1})], "squeeze.row": [((some(1, 3),), {"dim": 0})],
    "squeeze.dims": [((some(1, 3, 1),), {"dim": (0, 2)})],
    **{name: [((X,), {"size": (3, 2)}), ((X,), {"size": (1, 2, 3)})]
       for name in ("view", "_reshape_alias", "_unsafe_view", "reshape")},
    "transpose": [((X,), {"dim0": 0, "dim1": 1}), ((some(2, 3, 2),), {"dim0": 0, "dim1": 2})],
    "permute": [((some(2, 3, 4),), {"dims": (2, 0, 1)})],
    "tril": [((X,), {"diagonal": 0})], "triu": [((X,), {"diagonal": 0})],
    "flip": [((X,), {"dims": (0,)})], "zero_of": [((X,), {"size": (2,)})],
    "cat": [(([X, Y, some(1, 3)],), {"dim": 0}), (([np.zeros(0), ROW],), {"dim": 0})],
    "stack": [(([X, Y],), {"dim": 1})],
    "unbind": [((X,), {"dim": 0})], "select": [((X,), {"dim": 1, "index": 2})],
    "select_backward": [((ROW,), {"sizes": (2, 3), "dim": 0, "index": 1})],
    "slice": [((X,), {"dim": 1, "start": 0, "end": 3, "step": 2})],
    "slice_backward": [((some(2, 2),), {"sizes": (2, 3), "dim": 1, "start": 1, "end": 3, "step": 1})],
    "index": [((X, [np.array([0, 1, 1])]), {}), ((X, [None, np.array([2])]), {})],
    "index_backward": [((some(3, 3), [np.array([0, 1, 1])]), {"sizes": (2, 3)})],
    "index_cleared": [((X, [np.array([1])]), {})],
    "index_put": [((X, ROW, [np.array([1])]), {"accumulate": a}) for a in (False, True)],
    "index_select": [((X, np.array([1, 1])), {"dim": 0})],
    "index_sum": [((X, np.array([1, 1])), {"dim": 0, "sizes": (2, 3)})],
    "take_slice": [((X,), {"path": PATH})], "spread_slice": [((ROW,), {"path": PATH, "sizes": (2, 3)})],
    "as_strided.path": [((X,), {"path": PATH})], "zero_slice": [((X,), {"path": PATH})],
    "copy_slices": [((X, ROW), {"path": PATH})],
    "fill.Scalar": [((X,), {"value": 2})], "fill.Tensor": [((X, np.array(2.0)), {})],
    "copy": [((X, Y), {}), ((X, ROW), {})],
    "normal": [((X, Y), {})], "uniform": [((X, Y), {})],
    "mm": [((X, some(3, 4)), {})], "bmm": [((some(2, 3, 4), some(2, 4, 2)), {})],
    "mv": [((X, ROW), {})], "dot": [((ROW, some(3)), {})],
    **{name: [((X,), {"dim": 1, "keepdim": False}), ((X,), {"dim": (0, 1), "keepdim": True})]
       for name in ("sum.dim", "mean.dim", "amax", "amin", "logsumexp")},
    "cumsum": [((X,), {"dim": 1})],
    **{name: [((X,), {"dim": d, "correction": 1, "keepdim": False}) for d in (None, 1)] for name in ("var", "std")},
    "off_diagonal": [((some(2, 2),), {"dim": 0, "value": 1.0})], "prod_of_others": [((X,), {"dim": 1})],
    "prod.dim_int": [((X,), {"dim": 1, "keepdim": False})],
    "gather": [((X, INDEX), {"dim": 0})], "scatter_sum": [((some(1, 3), INDEX), {"dim": 0, "sizes": (2, 3)})],
    "max.dim": [((X,), {"dim": 1, "keepdim": False})], "min.dim": [((X,), {"dim": 0, "keepdim": True})],
    "softmax": [((X,), {"dim": 1})], "log_softmax": [((X,), {"dim": 0})],
    "linalg_vector_norm": [((X,), {"ord": o, "dim": d, "keepdim": False})
                           for o in (0, 1, 1.5, 2, 3, float("inf")) for d in (None, 1)],
}  # fmt: skip
"""How ops are called here where their sample rows would not do: on every branch of a rule, inside the domain."""
WITHOUT_CLOSED_FORM = {row.op for row in SAMPLES if row.opaque} | {"floor_divide", "remainder.Scalar_Tensor"}
"""Ops whose rule does not run on symbols; the row has the reason."""

OPS = sorted(name for name, op in REGISTRY.items() if op.rules and not name.startswith("_doc"))


def calls(name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    op = REGISTRY[name]
    found = CALLS.get(name) or [(row.inputs, dict(row.statics)) for row in SAMPLES if row.op == name]
    defaults = {k: v for k, v in op.statics.items() if v is not inspect.Parameter.empty}
    return [(args, {**defaults, **attrs}) for args, attrs in found]


def given(name: str, args: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments by the names that a trace has for them."""
    found: dict[str, Any] = {}
    for key, value in zip(REGISTRY[name].inputs, args, strict=True):
        if key in REGISTRY[name].lists:
            found.update({f"{key}[{i}]": part for i, part in enumerate(value)})
        else:
            found[key] = value
    return found


def described(
    name: str, args: tuple[Any, ...], attrs: dict[str, Any], names: dict[str, str] | None = None
) -> tuple[Any, Any, Any]:
    """The formulas of a call, its results, and the values of all names."""
    op = REGISTRY[name]
    made = call_kernel(op, args, attrs)
    results = [np.asarray(r) for r in (made if isinstance(made, tuple) else (made,))]
    inputs = {k: v.shape if isinstance(v, np.ndarray) else v for k, v in given(name, args).items()}
    found = formulas(name, attrs, inputs, [r.shape for r in results], names)
    values = dict(given(name, args))
    for i, r in enumerate(results):
        mark = f"[{i}]" if len(results) > 1 else ""
        values[f"result{mark}"], values[f"grad{mark}"] = r, np.asarray(some(*r.shape)) if r.shape else np.array(0.7)
    return found, values, results


def by_rule(
    name: str, target: str, args: tuple[Any, ...], attrs: dict[str, Any], values: dict[str, Any], results: Any
) -> Any:
    """The rule run on arrays, and the sum over broadcast dimensions."""
    op = REGISTRY[name]
    shapes = {n: [getattr(v, "shape", ()) for v in a] if n in op.lists else getattr(a, "shape", ())
              for n, a in zip(op.inputs, args, strict=True)}  # fmt: skip
    known: dict[str, Any] = {
        **attrs, **dict(zip(op.inputs, args, strict=True)), **{f"{n}_sizes": s for n, s in shapes.items()},
        "result": results[0], "results": results, "grad": values.get("grad", values.get("grad[0]")),
        **{f"result{nr}": result for nr, result in enumerate(results)},
        "grads": [values[k] for k in sorted(values) if k.startswith("grad[")],
    }  # fmt: skip
    key, _, place = target.partition("[")
    rule = op.rules[key]
    made = rule(*[known[n] for n in inspect.signature(rule).parameters])
    made = made[int(place[:-1])] if place else made
    return engine.ops.shape.sum_to_size(np.asarray(made), values[target].shape)


@batches("name", OPS)
def test_every_rule_has_a_formula_that_computes_the_same(name: str) -> None:
    for args, attrs in calls(name):
        found, values, results = described(name, args, attrs)
        arrays = [k for k, v in given(name, args).items() if isinstance(v, np.ndarray)]
        wanted = {k for k in arrays if k.partition("[")[0] in REGISTRY[name].rules}
        assert set(found) == wanted and wanted
        for target, said in found.items():
            assert said.text and said.tex and " = " in said.text
            if said.expression is None:
                assert name in WITHOUT_CLOSED_FORM, said.text
                assert "backward" in said.text
                continue
            expected = by_rule(name, target, args, attrs, values, results)
            computed = evaluate(said.expression, values)
            assert np.allclose(computed, expected, rtol=1e-10, atol=1e-12, equal_nan=True), said.text


def test_ops_without_a_closed_form_are_no_more_than_listed() -> None:
    for name in WITHOUT_CLOSED_FORM:
        args, attrs = calls(name)[0]
        assert all(f.expression is None for f in formulas(
            name, attrs, {k: v.shape for k, v in given(name, args).items()}, [args[0].shape]
        ).values())  # fmt: skip


COMMANDS = set(
    re.findall(
        r"\\([a-zA-Z]+)",
        r"""
    \bar \overline \mathrm \operatorname \left \right \frac \tfrac \sqrt \sum \odot \cdot \times \begin \end \text \exp
    \log \sin \cos \tan \sinh \cosh \tanh \sigma \le \ge \ne \wedge \vee \top \infty \ldots \pi \sim \backslash
    \mathbf \hat \widehat \mu \rho \lambda \prod \in \lfloor \rfloor""",
    )
)


@batches("name", OPS)
def test_tex_is_balanced_ascii_and_of_commands_that_mathjax_has(name: str) -> None:
    names = {"self": "w_1", "result": "h[t]", "other": "p['a b']", "grad": "x", "mat2": "100%"}
    for args, attrs in calls(name):
        for said in described(name, args, attrs, names)[0].values():
            bare = re.sub(r"\\[{}$#%&_ ]", "", said.tex)
            assert bare.count("{") == bare.count("}") and bare.count(r"\left") == bare.count(r"\right")
            assert bare.count(r"\begin") == bare.count(r"\end") and not re.search(r"[$#%~]", bare)
            assert set(re.findall(r"\\([a-zA-Z]+)", said.tex)) <= COMMANDS and said.tex.isascii(), said.tex
            assert not re.search(r"_\{[^{}]*\}_", said.tex), "a double subscript is an error in TeX"


@pytest.mark.parametrize(
    ("name", "attrs", "inputs", "names", "text", "tex"),
    [
        ("mul", {}, {"self": (1, 4), "other": 2}, "x:self", "x̄ = z̄ ⊙ 2", r"\bar{x} = \bar{z} \odot 2"),
        ("mul", {}, {"self": (), "other": ()}, "x:self y:other", "x̄ = z̄ · y", r"\bar{x} = \bar{z} \cdot y"),
        ("mm", {}, {"self": (2, 3), "mat2": (3, 4)}, "x:self w:mat2", "x̄ = z̄ wᵀ", r"\bar{x} = \bar{z}\,w^{\top}"),
        ("add", {}, {"self": (4,), "other": (2, 4)}, "b:self", "b̄ᵢ = Σⱼ z̄ⱼᵢ", r"\bar{b}_{i} = \sum_{j} \bar{z}_{ji}"),
        ("sub", {}, {"self": 0, "other": (4,)}, "x:other", "x̄ = −z̄", r"\bar{x} = -\bar{z}"),
        ("tanh", {}, {"self": (3,)}, "x:self", "x̄ = z̄ ⊙ (1 − z²)", r"\bar{x} = \bar{z} \odot \left(1 - z^{2}\right)"),
        ("div", {}, {"self": 1, "other": (3,)}, "x:other", "x̄ = −z̄ ⊙ (1 / x²)",
         r"\bar{x} = -\bar{z} \odot \frac{1}{x^{2}}"),
        ("sum", {}, {"self": (2, 3)}, "x:self", "x̄ᵢⱼ = z̄", r"\bar{x}_{ij} = \bar{z}"),
        ("relu", {}, {"self": (3,)}, "x:self", "x̄ = 0 where z ≤ 0, else z̄",
         r"\bar{x} = \begin{cases}0 & \text{where } z \le 0 \\ \bar{z} & \text{else}\end{cases}"),
        ("sqrt", {}, {"self": (3,)}, "x:self", "x̄ = z̄ / (2·z)", r"\bar{x} = \frac{\bar{z}}{2\,z}"),
        ("pow.Tensor_Scalar", {"exponent": 3}, {"self": (3,)}, "x:self", "x̄ = z̄ ⊙ 3·x²",
         r"\bar{x} = \bar{z} \odot 3\,x^{2}"),
        ("softmax", {"dim": 1}, {"self": (2, 3)}, "x:self", "x̄ᵢⱼ = zᵢⱼ · (z̄ᵢⱼ − Σₖ z̄ᵢₖ · zᵢₖ)",
         r"\bar{x}_{ij} = z_{ij} \cdot \left(\bar{z}_{ij} - \sum_{k} \bar{z}_{ik} \cdot z_{ik}\right)"),
        ("exp2", {}, {"self": (3,)}, "x:self", "x̄ = z̄ ⊙ z ⊙ log 2", r"\bar{x} = \bar{z} \odot z \odot \log 2"),
        ("t", {}, {"self": (3, 2)}, "x:self", "x̄ = z̄ᵀ", r"\bar{x} = \bar{z}^{\top}"),
        ("select", {"dim": 0, "index": 1}, {"self": (3, 2)}, "x:self", "x̄ᵢⱼ = z̄ⱼ where i = 1, else 0",
         r"\bar{x}_{ij} = \begin{cases}\bar{z}_{j} & \text{where } i = 1 \\ 0 & \text{else}\end{cases}"),
        ("slice", {"dim": 1, "start": 1, "end": 3, "step": 1}, {"self": (2, 3)}, "x:self",
         "x̄ᵢⱼ = z̄[i, j−1] where j ≥ 1, else 0",
         r"\bar{x}_{ij} = \begin{cases}\bar{z}_{i,\,j-1} & \text{where } j \ge 1 \\ 0 & \text{else}\end{cases}"),
        ("amax", {"dim": 1}, {"self": (2, 3)}, "x:self", "x̄ᵢⱼ = z̄ᵢ · (1[xᵢⱼ = zᵢ] / (Σₖ 1[xᵢₖ = zᵢ]))",
         r"\bar{x}_{ij} = \bar{z}_{i} \cdot \frac{\mathbf{1}[x_{ij} = z_{i}]}{\sum_{k} \mathbf{1}[x_{ik} = z_{i}]}"),
        ("cumsum", {"dim": 0}, {"self": (3,)}, "x:self", "x̄ᵢ = Σⱼ≥ᵢ z̄ⱼ", r"\bar{x}_{i} = \sum_{j\ge i} \bar{z}_{j}"),
    ],
)  # fmt: skip
def test_formula_reads_as_mathematics(name: str, attrs: Any, inputs: Any, names: str, text: str, tex: str) -> None:
    told = {key: label for label, _, key in (pair.partition(":") for pair in names.split())} | {"result": "z"}
    args = tuple(np.ones(v) if isinstance(v, tuple) else v for v in inputs.values())
    shape = np.shape(call_kernel(REGISTRY[name], args, {**REGISTRY[name].statics, **attrs}))
    found = formulas(name, attrs, inputs, [shape], told)
    said = found[next(k for k in told if k in found)]
    assert (said.text, said.tex) == (text, tex)


WRITTEN = frozenset({"where", "else", "and", "or", "nan", "", *"ijklmnprsΣΠπ"})
"""Words of formulas that are no names: of choices, and the letters of indices."""


def unexplained(said: Formula) -> set[str]:
    """The names in a formula that stand neither for a tensor of the call nor for a function with a sentence."""
    plain = re.sub("[\u0302\u0304\u0305]", "", unicodedata.normalize("NFD", said.text))
    found = set(re.findall(r"(?<![\w=])[^\W\d][\w.]*ᵀ?(?![\w=])", plain.translate(UNDER)))
    told = {*(name.rstrip("\u0302\u0304") for name in said.terms), *said.words, *WRITTEN, *PLAIN}
    return {name for name in found if name not in told and name.removesuffix("ᵀ") not in told}


UNDER = str.maketrans(dict.fromkeys("ᵢⱼₖₗₘₙₚᵣₛ₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", " "))
PLAIN = {op.function for op in REGISTRY.values() if op.presentation.word == ""}


@batches("name", OPS)
def test_every_name_in_a_formula_is_a_tensor_of_the_call_or_has_a_sentence(name: str) -> None:
    for args, attrs in calls(name):
        for said in described(name, args, attrs)[0].values():
            assert not unexplained(said), said.text
            assert all(said.words.values()), said.words
            inputs = {key for key, value in given(name, args).items() if isinstance(value, np.ndarray)}
            assert {key for key in said.terms.values() if key.partition("[")[0] != "result"} <= inputs
            assert not re.search(r"\b(self|other|result|grad)\b", said.text), said.text


def test_a_tensor_without_a_name_has_a_letter_that_nothing_else_has() -> None:
    shapes: dict[str, Any] = {"self": (3,), "other": (3,)}
    assert formulas("mul", {}, shapes, [(3,)])["self"].text == "u\u0304 = y\u0304 ⊙ v"
    said = formulas("mul", {}, shapes, [(3,)], {"other": "b"}, other_names=("b", "u", "y"))["self"]
    assert said.text == "v\u0304 = z\u0304 ⊙ b" and said.terms == {"v\u0304": "self", "z\u0304": "result", "b": "other"}
    twice = formulas("mul", {}, shapes, [(3,)], {"self": "u"})["self"]
    assert twice.terms == {"u\u0304": "self", "y\u0304": "result", "v": "other"}
    index = formulas("sum", {}, {"self": (3,)}, [()], {"self": "i", "result": "z"})["self"]
    assert index.text == "i\u0304ⱼ = z\u0304"  # an index is not called as a tensor is


def test_an_index_is_no_name_that_stands_in_the_name_of_a_tensor() -> None:
    said = formulas("add", {}, {"self": (3, 3), "other": (3,)}, [(3, 3)], {"other": "rows[i]", "result": "z"})["other"]
    assert said.text.endswith(" = Σₖ z\u0304ₖⱼ") and "ᵢ" not in said.text


def test_a_dot_in_a_name_is_no_punctuation() -> None:
    said = formulas("exp", {}, {"self": (3,)}, [(3,)], {"self": "net[2].weight", "result": "z"})["self"]
    assert r"\overline{\mathrm{net[2]{.}weight}}" in said.tex and "net[2].weight" not in said.tex


def test_a_formula_that_nobody_would_read_is_named_instead() -> None:
    args, attrs = calls("_linalg_svd")[0]
    said = described("_linalg_svd", args, attrs)[0]["A"]
    assert said.expression is not None and said.text.startswith("A\u0304 = _linalg_svd_backward(U\u0304, ")
    assert said.words["_linalg_svd_backward"].endswith("written out it would be too long to be read")
    assert said.words["V"] == "the third result, Vh: the transposed V"


def test_formulas_of_a_recorded_call_use_the_users_names() -> None:
    with engine.record() as trace:
        x: Any = engine.tensor([[1.0, 2, 3, 4]], requires_grad=True)
        z: Any = 2 * x
        assert z.requires_grad
    leaf, op = trace.events
    assert isinstance(leaf, LeafCreated) and isinstance(op, OpCalled)
    assert formulas_of(op, {0: (1, 4)}, trace.names)["self"].text == "x̄ = z̄ ⊙ 2"


def test_rule_that_looks_at_values_gets_a_named_function(monkeypatch: pytest.MonkeyPatch) -> None:
    for rule in (lambda grad: 1 if grad else 0, lambda grad: 3, lambda grad: grad.shape[7], lambda grad: [*grad]):
        monkeypatch.setattr(REGISTRY["exp"], "rules", {"self": rule})
        said = formulas("exp", {}, {"self": (3,)}, [(3,)], {"self": "x", "result": "z"})["self"]
        assert said.expression is None and said.text == "x̄ = exp_backward(z̄)"
        assert said.tex == r"\bar{x} = \operatorname{exp\ backward}(\bar{z})"


def test_symbols_refuse_to_be_decided() -> None:
    x = Symbol("x", (2,))
    for ask in (bool, list, lambda s: 1 if s else 0):
        with pytest.raises(ValueNeeded):
            ask(x)


def test_simplification_strikes_out_the_obvious() -> None:
    x, y = Symbol("x", (2,)), Symbol("y", (2,))

    def read(expression: Any) -> str:
        return Printer(TEXT, {}).plain(simplified(expression))

    assert [read(e) for e in (x * 1, 1 * x, x + 0, 0 + x, x - 0, -1 * -x, x / 1, x**1)] == ["x"] * 8
    assert [read(e) for e in (0 - x, x * -1, -1 * x, x / -1)] == ["−x"] * 4
    assert [read(e) for e in (x + (-y), x - (-y), -x * -y)] == ["x − y", "x + y", "x ⊙ y"]
    assert [read(e) for e in (x * x, x / y / y)] == ["x²", "x / y²"]
    assert read(x - y - (x - y)) == "x − y − (x − y)" and read(-(x - y)) == "−(x − y)"
    assert read((x + y) * x) == "(x + y) ⊙ x" and read(x / (y * x)) == "x / (y ⊙ x)"
    assert read((x * y) ** 2) == "(x ⊙ y)²"
    assert read(Symbol("x", ()) * Symbol("w", (2,))) == "x ⊙ w" and read(noted("zero", x)) == "0"


def test_numbers_are_shown_short() -> None:
    assert [shown_number(v) for v in (2, 2.0, -0.5, 1e-9, 1 / 3, float("nan"), True)] == [
        "2", "2", "−0.5", "1e−09", "0.333333", "nan", "True",
    ]  # fmt: skip
    assert TEX.number(float("-inf"))[0] == r"-\infty"


@pytest.mark.parametrize(
    ("number", "text", "tex"),
    [
        (2 / 9, "(2/9)", r"\frac{2}{9}"),
        (-2 / 3, "(2/3)", r"\frac{2}{3}"),
        (math.sqrt(2), "√2", r"\sqrt{2}"),
        (1 / math.sqrt(8), "(1/√8)", r"\frac{1}{\sqrt{8}}"),
        (0.1, "0.1", "0.1"),
        (0.123456, "0.123456", "0.123456"),
        (math.pi, "3.14159", "3.14159"),
        (1 / 2048, "0.000488281", "0.000488281"),
        (1e-5, "1e−05", "10^{-5}"),
        (2.5e20, "2.5e+20", r"\left(2.5 \cdot 10^{20}\right)"),
        (True, "True", r"\mathrm{True}"),
    ],
)
def test_a_number_that_six_digits_do_not_give_is_the_fraction_or_root_that_it_is(
    number: float, text: str, tex: str
) -> None:
    said = formulas("mul", {}, {"self": (3,), "other": number}, [(3,)], {"self": "x", "result": "y"})["self"]
    minus = ("−", "-") if number < 0 else ("", "")
    assert said.text == f"x\u0304 = {minus[0]}y\u0304 ⊙ {text}"
    assert said.tex == rf"\bar{{x}} = {minus[1]}\bar{{y}} \odot {tex}"


@pytest.mark.parametrize(
    ("shape", "says"), [((1, 3), True), ((3, 1), True), ((3,), False), ((3, 3), False), ((1,), False)]
)
def test_a_dimension_of_size_one_without_an_index_is_told(shape: tuple[int, ...], says: bool) -> None:
    said = formulas("add", {}, {"self": (3, 3), "other": shape}, [(3, 3)], {"other": "b"})["other"]
    assert (said.words.get("i, j, …") == "positions along the dimensions; one of size 1 has none") is says, said.text


def test_more_dimensions_than_letters_fall_back_to_words() -> None:
    shape = (2,) * 12
    said = formulas("sum", {}, {"self": shape}, [()], {"self": "x", "result": "z"})["self"]
    assert said.text == "x̄ = expand(z̄)" and said.expression is not None


def test_formulas_of_a_long_list_take_their_time_once() -> None:
    """The rule of a list is run once for all of its inputs, and no more formulas are told than one reads."""

    def told(length: int) -> dict[str, Formula]:
        return formulas("stack", {"dim": 0}, {f"tensors[{nr}]": () for nr in range(length)}, [(length,)])

    assert len(told(200)) == MOST
    few, many = (lines_of(functools.partial(told, length)) for length in (200, 400))
    assert many < 2.2 * few
