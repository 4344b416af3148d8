"""The formula of one call of a rule: the rule run on symbols, written as text and as TeX.

For `z = 2 * x` the formula of `x` is `x̄ = z̄ ⊙ 2`: a bar stands for the gradient of a name, ⊙ for the product element by
element, juxtaposition for the product of matrices.  Where dimensions are summed or repeated, places are written as
indices: `x̄ᵢⱼ = z̄ᵢ`.  What has no closed form appears as a named function.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ops.notation.expression_text import NoIndices
from ..ops.notation.symbol import Symbol, wants_indices
from ..ops.op import CUSTOM, REGISTRY, Op
from ..ops.result_shapes import Sizes
from ..ops.shape import sum_to_size
from ..trace.events import OpCalled, Scalar
from .letters import lettered, result_key
from .printer import Printer
from .simplify import simplified
from .styles import TEX, TEXT, Style

Given = Sizes | Scalar | None
"""An input: the shape of a tensor, a number, or nothing."""

LONGEST = 260
"""Characters up to which a formula is written out; a longer one is named, as nobody reads it."""


@dataclass(frozen=True, slots=True)
class Formula:
    """The gradient of one input: `text`, `tex` (for MathJax), and the expression behind them.

    `expression` is None where the rule cannot be run on symbols; the formula then only names a function.  `terms` has
    what each name in it stands for, an input's key or that of a result, with a combining bar (U+0304) behind the name
    of a gradient; `words` what each function or sign does, and what a result is that the op is not called for.
    """

    input: str
    text: str
    tex: str
    expression: Symbol | None
    terms: Mapping[str, str]
    words: Mapping[str, str]


MOST = 64
"""The most formulas of one call: further inputs of a long list have none."""


def formulas(
    name: str,
    attrs: Mapping[str, Any],
    inputs: Mapping[str, Given],
    outputs: Sequence[Sizes],
    names: Mapping[str, str] | None = None,
    other_names: Collection[str] = (),
) -> dict[str, Formula]:
    """The formula per differentiable tensor input of a call of the op `name`, for the first `MOST` of them.

    `inputs` are the shapes (or numbers) by input name, `tensors[0]` and so on for a list; `outputs` the shapes of the
    results.  `names` are the user's names for inputs (by the same keys) and results (`result`, or `result[1]`); what
    has none gets a letter that is not one of `other_names`, of the program's tensors.
    Never raises for an op of the registry: what cannot be said is said as a named function.

    >>> formulas("mul", {}, {"self": (3,), "other": 2}, [(3,)], {"self": "x", "result": "z"})["self"].text
    'x̄ = z̄ ⊙ 2'
    """
    op = REGISTRY.get(name, CUSTOM)
    call = _Call(name, op, attrs, inputs, outputs, names or {}, other_names)
    result: dict[str, Formula] = {}
    for target, argument in inputs.items():
        if len(result) < MOST and target.partition("[")[0] in op.rules and isinstance(argument, tuple):
            result[target] = call.formula(target, argument)
    return result


def formulas_of(
    event: OpCalled, shapes: Mapping[int, Sizes], names: Mapping[int, str], other_names: Collection[str] = ()
) -> dict[str, Formula]:
    """The formulas of a recorded call; `shapes` and `names` by tensor id, `other_names` as in `formulas`."""
    inputs = {i.name: i.scalar if i.tensor is None else shapes.get(i.tensor, ()) for i in event.inputs}
    sizes = [out.shape for out in event.outputs]
    return formulas(event.name, event.attrs, inputs, sizes, called(event, names, other_names), other_names)


def called(event: OpCalled, names: Mapping[int, str], other_names: Collection[str] = ()) -> dict[str, str]:
    """The names of each tensor input and each result of a recorded call in its formulas, by key."""
    names_by_key = {i.name: names[i.tensor] for i in event.inputs if i.tensor is not None and i.tensor in names}
    for nr, out in enumerate(event.outputs):
        # `h = h @ U`: two values need two letters
        if out.tensor in names and names[out.tensor] not in names_by_key.values():
            names_by_key[result_key(nr, len(event.outputs))] = names[out.tensor]
    tensors = [i.name for i in event.inputs if i.tensor is not None]
    letters = REGISTRY.get(event.name, CUSTOM).presentation.letters
    return lettered(letters, tensors, len(event.outputs), names_by_key, other_names)


def is_whole(writer: str | None) -> bool:
    """Return whether the op's rule is all that a call's node computes. For a write to a view by the op `writer`, that
    is true only if the op replaces all elements."""
    return not writer or (writer in REGISTRY and REGISTRY[writer].traits.replaces)


class _Call:
    """One call of an op, with a symbol for everything that its rules may ask for."""

    def __init__(
        self, name: str, op: Op, attrs: Mapping[str, Any], inputs: Mapping[str, Given], outputs: Sequence[Sizes],
        names: Mapping[str, str], other_names: Collection[str],
    ) -> None:  # fmt: skip
        self.name, self.op, self.inputs, self.outputs = name, op, inputs, outputs
        tensors = [key for key, argument in inputs.items() if isinstance(argument, tuple)]
        self.labels = _labels(lettered(op.presentation.letters, tensors, len(outputs), names, other_names))
        several = len(outputs) > 1
        results = [Symbol(f"result[{i}]" if several else "result", tuple(s)) for i, s in enumerate(outputs)]
        grads = [Symbol(f"grad[{i}]" if several else "grad", tuple(s)) for i, s in enumerate(outputs)]
        carrying = op.traits.differentiable
        self.values: dict[str, Any] = {
            **{k: attrs.get(k, default) for k, default in op.statics.items()},
            "result": results[0] if results else None, "results": results,
            **{f"result{nr}": result for nr, result in enumerate(results)},
            "grad": grads[carrying[0] if carrying else 0] if grads else None, "grads": grads,
        }  # fmt: skip
        for name in op.inputs:
            self.values[name], self.values[f"{name}_sizes"] = self.symbol_of(name)
        self.cotangents: dict[str, Any] = {}
        """The results of the rules that were run."""

    def symbol_of(self, name: str) -> tuple[Any, Any]:
        """The symbol (number, list) and the sizes of an input."""
        if name not in self.op.lists:
            value = self.inputs.get(name)
            return (Symbol(name, value), value) if isinstance(value, tuple) else (value, ())
        keys = [k for k in self.inputs if k.startswith(f"{name}[")]
        parts = [self.inputs[k] for k in keys]
        symbols = [Symbol(k, v) if isinstance(v, tuple) else v for k, v in zip(keys, parts, strict=True)]
        return symbols, [v if isinstance(v, tuple) else () for v in parts]

    def formula(self, target: str, shape: Sizes) -> Formula:
        if not is_whole(self.values.get("writer")):
            return self.named(target)
        try:
            symbol = simplified(self.run(target, shape))
        except Exception:  # noqa: BLE001 whatever a rule does with symbols: its name is what can be said
            return self.named(target)
        texts = [self.equation(target, shape, symbol, style) for style in (TEXT, TEX)]
        if len(texts[0][1]) > LONGEST:
            return self.named(target, symbol)
        return self.formula_of(target, texts, symbol)

    def formula_of(self, target: str, texts: Sequence[tuple[Printer, str]], symbol: Symbol | None) -> Formula:
        """The formula in both styles, with what its names stand for."""
        (printer, text), (_, tex) = texts
        terms = {f"{self.labels[target][0]}\u0304": target}
        for name in printer.names:
            label, barred = self.labels[name]
            key = name.replace("grad", "result") if barred else name
            terms[f"{label}\u0304" if barred else label] = key
            if not barred and (says := self.role(key)):
                printer.explain(label, says)
        terms |= {TEXT.hat(self.labels[name][0]): name for name in printer.hatted}
        return Formula(target, text, tex, symbol, terms, printer.words)

    def role(self, key: str) -> str:
        """The meaning of a result that has no name of its own and is not the one that the op is called for."""
        nr = key.removeprefix("result[").removesuffix("]")
        roles = self.op.presentation.roles
        return roles[int(nr)] if nr.isdecimal() and int(nr) < len(roles) else ""

    def run(self, target: str, shape: Sizes) -> Symbol:
        """The rule on symbols, and the sum over what broadcasting stretched, which the loop adds."""
        name, _, place = target.partition("[")
        if name not in self.cotangents:  # the rule of a list gives those of all its inputs
            rule = self.op.rules[name]
            self.cotangents[name] = rule(*[self.values[need] for need in inspect.signature(rule).parameters])
        cotangent = self.cotangents[name]
        if place:
            cotangent = cotangent[int(place.rstrip("]"))]
        if not isinstance(cotangent, Symbol):
            raise TypeError(f"the rule of {self.op.name} gave {type(cotangent).__name__} for symbols")
        if cotangent.shape is not None and cotangent.shape != shape:
            cotangent = sum_to_size(cotangent, size=shape)
        return cotangent

    def named(self, target: str, symbol: Symbol | None = None) -> Formula:
        """A named function of what the rule reads."""
        rule = self.op.rules[target.partition("[")[0]]
        needs = [self.values[need] for need in inspect.signature(rule).parameters]
        symbols = [v for need in needs for v in (need if isinstance(need, list) else [need]) if isinstance(v, Symbol)]
        symbols = list({v.name: v for v in symbols}.values())
        why = "its formula depends on the values" if symbol is None else "written out it would be too long to be read"
        texts = []
        for style in (TEXT, TEX):
            printer = Printer(style, self.labels)
            arguments = ", ".join(printer.leaf(v.name) for v in symbols)
            name = f"{self.name} backward"
            texts.append((printer, f"{printer.bar(target)} = {style.function(name)}({arguments})"))
            printer.explain(style.function(name), f"what the rule of {self.name} computes: {why}")
        return self.formula_of(target, texts, symbol)

    def equation(self, target: str, shape: Sizes, symbol: Symbol, style: Style) -> tuple[Printer, str]:
        """`x̄ = …`, with indices where they say more, and can."""
        printer = Printer(style, self.labels)
        if wants_indices(symbol) and shape:
            try:
                return printer, printer.indexed(target, shape, symbol)
            except NoIndices:
                printer = Printer(style, self.labels)
        return printer, f"{printer.bar(target)} = {printer.plain(symbol)}"


def _labels(letters: Mapping[str, str]) -> dict[str, tuple[str, bool]]:
    """The name of each symbol, and whether it has a bar (gradients)."""
    labels = {key: (letter, False) for key, letter in letters.items()}
    results = {key: letter for key, letter in letters.items() if key.partition("[")[0] == "result"}
    return labels | {key.replace("result", "grad"): (letter, True) for key, letter in results.items()}
