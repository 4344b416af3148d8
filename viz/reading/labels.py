"""The label of an op: how a person would write it, with its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from engine.arrays.element_types import name_of
from engine.ops.op import CUSTOM, REGISTRY
from engine.ops.presentation import NOTHING_KNOWN, Presentation
from engine.trace.events import BackwardStarted, ErrorRaised, OpCalled, Trace
from engine.trace.messages import gradients_passed

from . import text

INNER = frozenset({"function", "not_seen", "path", "tensors", "writer"})
"""Static arguments that come from the engine or from the recorder, not from the user."""
_OPERANDS = frozenset({"exponent", "other"})
_DEFAULTS: Mapping[str, Any] = {
    "keepdim": False, "dim": None, "dtype": None, "correction": 1, "alpha": 1, "diagonal": 0,
    "memory_format": "preserve", "beta": 1, "groups": 1, "reduction": "mean", "ignore_index": -100, "eps": 1e-5,
    "padding_idx": -1, "ceil_mode": False, "ord": 2, "stride": 1, "padding": 0, "dilation": 1, "output_padding": 0,
}  # fmt: skip
"""Defaults of static arguments; for a list, of each of its numbers."""
RECTIFIERS = frozenset({"relu", "relu6"})
_ALWAYS = frozenset({"normalized_shape", "upscale_in_train"})
"""Static arguments that the shapes already show."""
_INNER_NAMES = re.compile(r"^(?:native_|_unsafe_|_safe_|_scaled_(?=dot)|_)?(.+?)(?:_forward|_with_indices|_alias)?$")


def presentation(event: OpCalled) -> Presentation:
    """The presentation of the op of a call."""
    if "writer" in event.attrs:  # the effect of a write to a view on its base
        return NOTHING_KNOWN
    return REGISTRY.get(event.name, CUSTOM).presentation


def label(event: OpCalled) -> str:
    """The text on the pill of an op.

    A binary operator with a number shows the number on the side where it was written: `× 2`, `2 ÷`.
    """
    name, form = written_name(event), presentation(event)
    if form.indexing:
        return index_label(event)
    sign = form.sign
    numbers = [(i, argument.scalar) for i, argument in enumerate(event.inputs) if argument.tensor is None]
    if not numbers:  # a number that is not an input: the exponent of `x ** 2`
        numbers = [(1, v) for key, v in event.attrs.items() if key in _OPERANDS and isinstance(v, (bool, int, float))]
    if sign:
        sign, factor = scaled_sign(event, sign)
        if name.endswith("_"):
            sign += "="
        if factor:
            return f"{sign} {factor.rstrip()}"
        constants = [(i, n) for i, n in numbers if n is not None][:1]
        for position, value in constants:
            constant = text.scalar(value)
            first = position == (1 if form.operands == "reversed" else 0)  # rsub(x, 1) is 1 - x
            return f"{constant} {sign}" if first and form.operands != "commuting" else f"{sign} {constant}"
        return sign
    words = [name]
    if form.shows_shape and event.outputs:
        words.append(text.shape(event.outputs[0].shape))
        return " ".join(words)
    positions = [(i, n) for i, n in numbers if i < len(event.inputs)]
    words += [text.scalar(n) for _, n in positions if n is not None]
    words += shown_attrs(event)
    return text.one_line(" ".join(words), 28)


def scaled_sign(event: OpCalled, sign: str) -> tuple[str, str]:
    """The operator and the number before its second operand: `−` and `0.1 × ` for `add(w, g, alpha=-0.1)`."""
    alpha = event.attrs.get("alpha", 1)
    if not isinstance(alpha, (int, float)) or alpha == 1:
        return sign, ""
    if alpha < 0 and sign in ("+", "−"):
        sign, alpha = "−" if sign == "+" else "+", -alpha
    return sign, "" if alpha == 1 else f"{text.scalar(alpha)} × "


def shown_attrs(event: OpCalled) -> list[str]:
    """The informative static arguments, as written: `dim=1`."""
    attrs = {key: value for key, value in event.attrs.items() if key not in INNER and shows(key, value)}
    if "kernel_size" in attrs:  # for pooling: windows are side by side by default
        attrs |= {"stride": event.attrs.get("stride")}
        if attrs["stride"] == attrs["kernel_size"]:
            del attrs["stride"]
    return [f"{key}={_plain(value)}" for key, value in attrs.items()]


def written_name(event: OpCalled) -> str:
    """The op's name as the user knows it: `sum` for the engine's `sum.dim`, `zero_` for a write in place, `conv2d` for
    `convolution` over two dimensions, `layer_norm` for `native_layer_norm`."""
    if "writer" in event.attrs:  # the effect of a write to a view on its base
        return "CopySlices"
    name = str(event.attrs.get("function", ""))
    if not name:
        called = presentation(event).called
        name = _plain_name(event.name) if called is None else called(event.attrs, len(event.outputs[0].shape))
    return name + "_" if event.inplace is not None and not name.endswith("_") else name


@lru_cache(maxsize=4096)
def _plain_name(name: str) -> str:
    """The name of an op without its library, its overload and what only PyTorch's own ops have around it."""
    return _INNER_NAMES.sub(r"\1", name.rpartition("::")[2].partition(".")[0])


def is_rectifier(event: OpCalled) -> bool:
    """Return whether an op is 0, and flat, where its input is not positive."""
    return written_name(event).rstrip("_") in RECTIFIERS


def written_call(call: BackwardStarted, trace: Trace, name: Callable[[int], str | None]) -> str:
    """`y.backward([1 0], retain_graph=True)`: a call that was added or changed in the app, in Python's form."""
    if not call.roots:
        return f"{call.function}()"
    roots = [name(root.tensor) or "tensor" for root in call.roots]
    inputs = None if call.inputs is None else "[" + ", ".join(name(t) or "tensor" for t in call.inputs) + "]"
    each = ["None" if root.implicit else text.brief(trace.value(root.gradient)) for root in call.roots]
    passed = [] if all(root.implicit for root in call.roots) else each[: _count_passed(call, trace)]
    arguments = [f"[{', '.join(passed)}]"] if len(roots) > 1 and passed else passed
    arguments += [f"{flag}=True" for flag in ("retain_graph", "create_graph") if getattr(call, flag)]
    if call.function == "grad":
        return f"grad({', '.join([_several(roots), inputs or '[]', *arguments])})"
    arguments += [f"inputs={inputs}"] if inputs is not None else []
    if len(roots) > 1:
        return f"backward({', '.join([_several(roots), *arguments])})"
    return f"{roots[0]}.backward({', '.join(arguments)})"


def _count_passed(call: BackwardStarted, trace: Trace) -> int | None:
    """How many gradients were passed, if that was refused because there are more roots; None: as many as roots."""
    after = trace.events[call.index + 1] if call.index + 1 < len(trace.events) else None
    return gradients_passed(after) if isinstance(after, ErrorRaised) else None


def _several(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def shows(key: str, value: Any) -> bool:
    """Return whether a static argument differs from its default."""
    if value is None or value is False or (isinstance(value, (tuple, list)) and not value):
        return False
    if key in _ALWAYS or key not in _DEFAULTS:
        return key not in _ALWAYS
    default = _DEFAULTS[key]
    if default is None:  # to numpy, float64 is equal to None
        return True
    return any(one != default for one in (value if isinstance(value, (tuple, list)) else (value,)))


def index_label(event: OpCalled) -> str:
    """`[0, 1:3]`, as it was written."""
    dim = event.attrs.get("dim")
    if isinstance(dim, int):
        has_index = "index" in event.attrs
        before = ":, " * (dim if dim >= 0 else len(event.outputs[0].shape) + has_index + dim)
        start, end, step = (event.attrs.get(key) for key in ("start", "end", "step"))
        return f"[{before}{_plain(event.attrs.get('index')) if has_index else _piece(slice(start or None, end, step))}]"
    for key in ("index", "indices", "key", "item"):
        if key in event.attrs:
            value = event.attrs[key]
            parts = value if isinstance(value, (tuple, list)) else (value,)
            return text.one_line("[" + ", ".join(_piece(p) for p in parts) + "]", 28)
    return written_name(event)


def _piece(value: Any) -> str:
    if isinstance(value, slice):
        bounds = ["" if v is None else str(v) for v in (value.start, value.stop)]
        return ":".join([*bounds, str(value.step)] if value.step not in (None, 1) else bounds)
    if isinstance(value, Mapping) and "slice" in value:
        return _piece(slice(*value["slice"]))
    if value is Ellipsis:
        return "…"
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        if len(value) == 1 or (value and all(type(v) is int and v == value[0] > 0 for v in value)):
            return _plain(value[0])
        return "(" + ", ".join(_plain(v) for v in value) + ")"
    if isinstance(value, float):
        return text.number(value)
    if isinstance(value, np.dtype):  # it also has a shape, that of its elements
        return name_of(value)
    if hasattr(value, "shape"):
        return text.shape(value.shape)
    return str(value)


def node_name(event: OpCalled) -> str:
    """PyTorch's name of the node, or of the op if nothing is recorded for backward."""
    if event.node is not None:
        return event.node.name
    name = written_name(event)
    return name if name.endswith("_") and name != label(event) else "no gradient"
