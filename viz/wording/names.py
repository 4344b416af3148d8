"""The names of tensors, values and expressions in sentences."""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.trace.events import Input, OpCalled, Saved, Trace

from ..layout.cards import input_place
from ..reading import text
from ..reading.facts import Facts
from ..reading.labels import index_label, presentation, scaled_sign, shown_attrs, written_name

MOST_OPERANDS = 4
"""The most operands that are written out; of more, only the first and the last."""
SHORT = 28
"""The most characters of an expression that names a saved value."""
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def called(tensor: int | None, facts: Facts, otherwise: str = "") -> str:
    """The user's name of a tensor, or a description of it."""
    if tensor is None:
        return "a number"
    return facts.names.get(tensor) or otherwise or unnamed(tensor, facts)


def value(trace: Trace, index: int | None) -> str:
    return "nothing" if index is None else text.brief(trace.value(index))


def op_expression(event: OpCalled, facts: Facts, operand: Callable[[Input, Facts], str] | None = None) -> str:
    """The expression of an op, with names and small values: `x × 2`, `sum(z, dim=1)`, `a[0]`.

    `operand` writes one tensor; the default is `_operand`.
    """
    operand = operand or _operand
    parts = [operand(i, facts) for i in event.inputs if i.tensor is not None or i.scalar is not None]
    name, form = written_name(event), presentation(event)
    sign = form.sign
    if sign and len(parts) == 1:
        parts += [text.scalar(v) for k, v in event.attrs.items() if k == "exponent" and isinstance(v, (int, float))]
    if sign and len(parts) == 2:
        if form.operands == "reversed":
            parts.reverse()
        sign, factor = scaled_sign(event, sign)
        return f"{closed(parts[0])} {sign}{'=' if event.inplace is not None else ''} {factor}{closed(parts[1])}"
    if form.operands == "prefix" and len(parts) == 1:
        return f"{sign}{closed(parts[0])}"
    if form.indexing and parts:
        return f"{closed(parts[0])}{index_label(event)}"
    if name == "data" and parts:
        return f"{parts[0]}.data"
    if len(parts) > MOST_OPERANDS:
        parts[1:-1] = ["…"]
    if form.shows_shape and event.outputs:
        parts.append(text.shape(event.outputs[0].shape))
    else:
        parts += shown_attrs(event)
    return f"{name}({', '.join(parts)})"


def closed(operand: str) -> str:
    """The operand, in brackets if its sign or a word in it could be read together with the operator.

    >>> closed("-2"), closed("a × b"), closed("sum(z, dim=1)"), closed("[1 2]")
    ('(-2)', '(a × b)', 'sum(z, dim=1)', '[1 2]')
    """
    plain = operand
    while (inner := _BRACKETS.sub("", plain)) != plain:
        plain = inner
    return f"({operand})" if operand.startswith("-") or " " in plain else operand


def _operand(argument: Input, facts: Facts) -> str:
    """The name of a tensor, its value or a short expression for it, or the op that computed it; a number as it is."""
    by_op = _named(argument, facts) or _by_its_op(argument.tensor, facts)
    return by_op or unnamed(argument.tensor, facts, argument.version)


def _named(argument: Input, facts: Facts) -> str | None:
    """The name of a tensor, or its value if that is short; a number as it is."""
    if argument.tensor is None:
        return text.scalar(argument.scalar)
    name = facts.names.get(argument.tensor)
    fact = facts.tensors.get(argument.tensor)
    if name is None and fact is None and argument.tensor in facts.own.values:
        content = facts.trace.value(facts.own.values[argument.tensor])
        return text.brief(content) if text.size(content.shape) <= 4 else f"a {text.shape(content.shape)} tensor"
    if name is not None or fact is None:
        return name or "a tensor"
    version = facts.resolve(argument.tensor, argument.version)
    if text.size(fact.shape) <= 4 and version is not None:
        return value(facts.trace, fact.values[version])
    return None


def unnamed(tensor: int | None, facts: Facts, version: int | None = None) -> str:
    """A description of a tensor without a name, in a version or at the end: `the result of to(dtype=float32)`, or
    without an op, `a 2×3 tensor`."""
    fact = facts.tensors.get(tensor) if tensor is not None else None
    if fact is None:
        return "a tensor"
    own = None if tensor is None or version is None else facts.resolve(tensor, version)
    op = fact.producers.get(fact.last if own is None else own)
    if op is None:
        return f"a {text.shape(fact.shape)} tensor"
    event = facts.ops[op].event
    attrs = "" if presentation(event).shows_shape else ", ".join(shown_attrs(event))
    return f"the result of {written_name(event)}{f'({attrs})' if attrs else ''}"


def saved_name(saved: Saved, event: OpCalled, facts: Facts) -> str:
    """A saved value as the user knows it: its name, a number, a few elements, or else its role in the op, in the words
    of its card."""
    if saved.tensor is None:
        return text.scalar(saved.scalar)
    name = facts.names.get(saved.tensor)
    if saved.name.startswith("result") and saved.value is not None:
        content = facts.trace.value(saved.value)
        if content.dtype.startswith("int"):  # for max and the poolings: where the largest elements were
            return f"{'the index' if text.size(content.shape) == 1 else 'the indices'} {text.brief(content)}"
    if name is None and saved.value is not None and text.size(facts.trace.value(saved.value).shape) <= 4:
        return value(facts.trace, saved.value)
    if name is None and not saved.name.startswith("result"):
        name = _by_its_op(saved.tensor, facts)
    return name or ("its result" if saved.name.startswith("result") else f"its {input_place(event, saved.name)}")


def _by_its_op(tensor: int | None, facts: Facts) -> str | None:
    """The op that computed a tensor, as `expand(guess, 3×3)`, if that is short and the tensor was not written since."""
    fact = facts.tensors.get(tensor) if tensor is not None else None
    op = fact.producers.get(fact.first) if fact is not None and len(fact.values) == 1 else None
    return made_by(op, facts) if op is not None and len(facts.ops[op].event.outputs) == 1 else None


def made_by(op: int, facts: Facts) -> str | None:
    """The expression of an op, if it is short and names its inputs."""
    unknown = []

    def operand(argument: Input, facts: Facts) -> str:
        name = _named(argument, facts)
        if name is None and _is_result(argument.tensor, facts):
            unknown.append(argument)
        return name or unnamed(argument.tensor, facts, argument.version)

    expression = op_expression(facts.ops[op].event, facts, operand)
    return expression if len(expression) <= SHORT and not unknown else None


def _is_result(tensor: int | None, facts: Facts) -> bool:
    """Return whether an op wrote the value that a tensor has at the end."""
    fact = facts.tensors.get(tensor) if tensor is not None else None
    return fact is not None and fact.producers.get(fact.last) is not None
