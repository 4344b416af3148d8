"""What a rule computes, as a formula of one call: the rule run on symbols, written as text and as TeX.

For `z = 2 * x` the formula of `x` is `x̄ = z̄ ⊙ 2`: a bar stands for the gradient of a name, ⊙ for the product element by
element, juxtaposition for the product of matrices.  Where dimensions are summed or repeated, places are written as
indices: `x̄ᵢⱼ = z̄ᵢ`.  What has no closed form appears as a named function.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .op import CUSTOM, REGISTRY, Op
from .printer import NoIndices, Printer
from .styles import TEX, TEXT, Style
from .symbol import Sizes, Symbol, mentions, noted, simplified
from .trace import OpCalled, Scalar

Given = Sizes | Scalar | None
"""What an input was: the shape of a tensor, a number, or nothing."""

REPLACING = frozenset({None, "", "copy", "fill.Scalar", "fill.Tensor", "zero"})
"""Writes to a view whose effect on its base is the rule of `copy_slices`; of others their own rule is a part."""

_INDEXED = frozenset({
    "expand", "unsqueeze", "squeeze.dim", "sum.dim", "mean.dim", "sum_to_size", "sum", "mean", "reshape", "view",
})  # fmt: skip
"""Ops for which indices say more than a word."""


@dataclass(frozen=True, slots=True)
class Formula:
    """The gradient of one input: `text`, `tex` (for MathJax), and the expression behind them.

    `expression` is None where the rule cannot be run on symbols; the formula then only names a function.
    """

    input: str
    text: str
    tex: str
    expression: Symbol | None


def formulas(
    name: str,
    attrs: Mapping[str, Any],
    inputs: Mapping[str, Given],
    outputs: Sequence[Sizes],
    names: Mapping[str, str] | None = None,
) -> dict[str, Formula]:
    """The formula per differentiable tensor input of a call of the op `name`.

    `inputs` are the shapes (or numbers) by input name, `tensors[0]` and so on for a list; `outputs` the shapes of the
    results.  `names` are the user's names for inputs (by the same keys) and results (`result`, or `result[1]`).
    Never raises for an op of the registry: what cannot be said is said as a named function.

    >>> formulas("mul", {}, {"self": (3,), "other": 2}, [(3,)], {"self": "x", "result": "z"})["self"].text
    'x̄ = z̄ ⊙ 2'
    """
    op = REGISTRY.get(name, CUSTOM)
    call = _Call(op, attrs, inputs, outputs, names or {})
    found: dict[str, Formula] = {}
    for target, given in inputs.items():
        if target.partition("[")[0] in op.rules and isinstance(given, tuple):
            found[target] = call.formula(target, given)
    return found


def formulas_of(event: OpCalled, shapes: Mapping[int, Sizes], names: Mapping[int, str]) -> dict[str, Formula]:
    """The formulas of a recorded call; `shapes` and `names` by tensor id."""
    inputs: dict[str, Given] = {}
    told: dict[str, str] = {}
    for i in event.inputs:
        inputs[i.name] = i.scalar if i.tensor is None else shapes.get(i.tensor, ())
        if i.tensor is not None and i.tensor in names:
            told[i.name] = names[i.tensor]
    for nr, out in enumerate(event.outputs):
        if out.tensor in names and names[out.tensor] not in told.values():  # `h = h @ U`: two values need two letters
            told["result" if len(event.outputs) == 1 else f"result[{nr}]"] = names[out.tensor]
    return formulas(event.name, event.attrs, inputs, [out.shape for out in event.outputs], told)


class _Call:
    """One call of an op, with a symbol for everything that its rules may ask for."""

    def __init__(
        self, op: Op, attrs: Mapping[str, Any], inputs: Mapping[str, Given], outputs: Sequence[Sizes],
        names: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.op, self.inputs, self.outputs = op, inputs, outputs
        self.labels = _labels(inputs, outputs, names)
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
            self.values[name], self.values[f"{name}_sizes"] = self.given(name)

    def given(self, name: str) -> tuple[Any, Any]:
        """The symbol (number, list) and the sizes of an input."""
        if name not in self.op.lists:
            value = self.inputs.get(name)
            return (Symbol(name, value), value) if isinstance(value, tuple) else (value, ())
        keys = [k for k in self.inputs if k.startswith(f"{name}[")]
        parts = [self.inputs[k] for k in keys]
        symbols = [Symbol(k, v) if isinstance(v, tuple) else v for k, v in zip(keys, parts, strict=True)]
        return symbols, [v if isinstance(v, tuple) else () for v in parts]

    def formula(self, target: str, shape: Sizes) -> Formula:
        if self.values.get("writer") not in REPLACING:
            return self.named(target)
        try:
            found = simplified(self.run(target, shape))
        except Exception:  # noqa: BLE001 whatever a rule does with symbols: its name is what can be said
            return self.named(target)
        return Formula(target, self.written(target, shape, found, TEXT), self.written(target, shape, found, TEX), found)

    def run(self, target: str, shape: Sizes) -> Symbol:
        """The rule on symbols, and the sum over what broadcasting stretched, which the loop adds."""
        name, _, place = target.partition("[")
        rule = self.op.rules[name]
        found = rule(*[self.values[need] for need in inspect.signature(rule).parameters])
        if place:
            found = found[int(place.rstrip("]"))]
        if not isinstance(found, Symbol):
            raise TypeError(f"the rule of {self.op.name} gave {type(found).__name__} for symbols")
        if found.shape is not None and found.shape != shape:
            found = noted("sum_to_size", found, size=shape)
        return found

    def named(self, target: str) -> Formula:
        """A named function of what the rule reads."""
        rule = self.op.rules[target.partition("[")[0]]
        needs = [self.values[need] for need in inspect.signature(rule).parameters]
        read = [v for need in needs for v in (need if isinstance(need, list) else [need]) if isinstance(v, Symbol)]
        said = []
        for style in (TEXT, TEX):
            printer = Printer(style, self.labels)
            arguments = ", ".join(printer.leaf(v.name) for v in read)
            said.append(f"{printer.bar(target)} = {style.function(f'{self.op.name} backward')}({arguments})")
        return Formula(target, said[0], said[1], None)

    def written(self, target: str, shape: Sizes, found: Symbol, style: Style) -> str:
        """`x̄ = …`, with indices where they say more, and can."""
        printer = Printer(style, self.labels)
        if not _INDEXED.isdisjoint(mentions(found)) and shape:
            try:
                return printer.indexed(target, shape, found)
            except NoIndices:
                pass
        return f"{printer.bar(target)} = {printer.plain(found)}"


def _labels(
    inputs: Mapping[str, Given], outputs: Sequence[Sizes], names: Mapping[str, str]
) -> dict[str, tuple[str, bool]]:
    """What each symbol is called, and whether with a bar (gradients)."""
    labels = {key: (names.get(key, key), False) for key in inputs}
    for nr in range(len(outputs)):
        result = "result" if len(outputs) == 1 else f"result[{nr}]"
        grad = "grad" if len(outputs) == 1 else f"grad[{nr}]"
        labels[result] = (names.get(result, result), False)
        labels[grad] = (names.get(result, "g" if len(outputs) == 1 else f"g[{nr}]"), True)
    return labels
