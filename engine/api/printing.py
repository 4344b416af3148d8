"""How a tensor is printed: as torch prints it, character for character.

Numbers of one tensor share a format: whole numbers without decimals (`1.`), else four; scientific where they are very
large, very small or far apart.  Past 1000 elements the middle of every dimension is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..arrays import array as arrays
from ..arrays.array import bool_, dtype_of, int64, to_numpy, xp
from ..tensor.escapes import escape
from ..tensor.grad_mode import mode
from ..tensor.tensor import Tensor


@dataclass
class Options:
    """The options of torch.set_printoptions."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


options = Options()


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Change how tensors are printed.

    Source: torch.set_printoptions.

    >>> import engine as torch
    >>> torch.set_printoptions(precision=2)
    >>> torch.tensor([1.23456])
    tensor([1.23])
    >>> torch.set_printoptions(profile="default")
    """
    profiles = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}
    if profile is not None:
        options.precision, options.threshold, options.edgeitems, options.linewidth = profiles[profile]
    stated = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in stated.items():
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode


Format = Callable[[Any], str]


def _plan(data: Any) -> tuple[Format, int]:
    """How one of the numbers that are shown is written, and the width that all of them get."""
    if data.dtype.kind != "f":
        return str, max([1, *(len(str(v)) for v in data.tolist())])
    counted = data[xp.isfinite(data) & (data != 0)].astype("float64")  # nan, inf and 0 ask for no room of their own
    if not counted.size:
        return _whole, 1
    sizes = abs(counted)
    low, high = float(sizes.min()), float(sizes.max())
    scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
    if options.sci_mode is not None:
        scientific = options.sci_mode
    write: Format
    if scientific:
        write = f"{{:.{options.precision}e}}".format
    elif bool((counted == xp.ceil(counted)).all()):
        write = _whole
    else:
        write = f"{{:.{options.precision}f}}".format
    return write, max(len(write(v)) for v in counted.tolist())


def _whole(value: float) -> str:
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


def _edges(data: Any) -> Any:
    """The elements that a summary shows, flat."""
    for axis, n in enumerate(data.shape):
        if n > 2 * options.edgeitems:
            edge_indices = [*range(options.edgeitems), *range(n - options.edgeitems, n)]
            data = data.take(edge_indices, axis=axis)
    return data.reshape(-1)


class _Writer:
    """Lays out nested brackets, in lines of at most `options.linewidth`."""

    def __init__(self, data: Any) -> None:
        self.summarised = data.size > options.threshold
        self.write, self.width = _plan(_edges(data) if self.summarised else data.reshape(-1))

    def number(self, value: Any) -> str:
        return self.write(value).rjust(self.width)

    def text(self, data: Any, indent: int) -> str:
        """The elements of `data`, whose first bracket stands at column `indent`."""
        if not data.ndim:
            return self.number(data.item())
        cut = self.summarised and len(data) > 2 * options.edgeitems
        if data.ndim == 1:
            return self.row(data, indent, cut)
        ends = [data[: options.edgeitems], data[-options.edgeitems :]] if cut else [data]
        parts = [[self.text(inner, indent + 1) for inner in end] for end in ends]
        rows = [*parts[0], "...", *parts[1]] if cut else parts[0]
        rest: int = data.ndim - 1
        return "[" + ("," + "\n" * rest + " " * (indent + 1)).join(rows) + "]"

    def row(self, data: Any, indent: int, cut: bool) -> str:
        ends = [data[: options.edgeitems], data[-options.edgeitems :]] if cut else [data]
        parts = [[self.number(v) for v in end.tolist()] for end in ends]
        words = [*parts[0], " ...", *parts[1]] if cut else parts[0]
        per_line = max(1, (options.linewidth - indent) // (self.width + 2))
        lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def tensor_text(self: Tensor, prefix: str = "tensor(") -> str:
    """The tensor as torch prints it.

    >>> import engine as torch
    >>> torch.tensor([[1.5, 2], [1e-9, 3]])
    tensor([[1.5000e+00, 2.0000e+00],
            [1.0000e-09, 3.0000e+00]])
    """
    escape(self, "repr")
    data = to_numpy(self._array)
    if data.dtype.name == "float16":
        data = data.astype("float32")
    body = _Writer(data).text(data, len(prefix)) if data.size else "[]"
    return _joined(prefix + body, _facts(self), len(prefix))


def _facts(self: Tensor) -> list[str]:
    """List the facts printed after the elements: device, size, dtype and history, if they are not the usual ones."""
    facts = []
    if self.device.type != "cpu":
        facts.append(f"device='{self.device}'")
    which = dtype_of(self._array)
    if not self._array.size:
        if self._array.ndim != 1:
            facts.append(f"size={tuple(self._array.shape)}")
        expected = which is arrays.default_dtype
    else:
        expected = which in (arrays.default_dtype, int64, bool_)
    if not expected:
        facts.append(f"dtype={which}")
    try:
        node = self.grad_fn
    except RuntimeError:  # a view made under no_grad, of which the base was written since
        node = None
        facts.append("grad_fn=<Invalid>")
    if node is not None:
        facts.append(f"grad_fn=<{node.name().rsplit('::', 1)[-1]}>")
    elif "grad_fn=<Invalid>" in facts:
        pass
    elif self.requires_grad:
        facts.append("requires_grad=True")
    if self._tangent is not None and self._tangent[0] is mode.dual:
        facts.append(f"tangent={self._tangent[1]}")
    return facts


def _joined(text: str, facts: list[str], indent: int) -> str:
    """The elements and what is said after them; a fact that would pass the line's end starts a new one."""
    column = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if column + len(fact) + 2 > options.linewidth:
            text += ",\n" + " " * indent + fact
            column = indent + len(fact)
        else:
            text += ", " + fact
            column += len(fact) + 2
    return text + ")"
