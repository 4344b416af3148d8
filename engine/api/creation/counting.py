"""Tensors of generated numbers: ranges, unit matrices, triangle indices, powers."""

from __future__ import annotations

import math
from typing import Any

from ...arrays import array as arrays
from ...arrays import errors
from ...arrays.array import as_numpy_dtype, int64, xp
from ...arrays.session import warn
from ...tensor.escapes import escape
from ...tensor.tensor import Tensor
from ..calls.check import LETTERS, combination
from ..calls.examples import with_example
from ..calls.out import takes_out
from .creation import new_leaf
from .fills import floating

__all__ = [
    "arange",
    "eye",
    "linspace",
    "logspace",
    "range",
    "scalar_tensor",
    "tril_indices",
    "triu_indices",
]


def _plain(number: Any) -> Any:
    """A Python number; that of a tensor without dimensions leaves for Python."""
    if isinstance(number, Tensor):
        escape(number, "item")
        return number._array.item()
    return number


# -- evenly apart -------------------------------------------------------------------------------------------------


@takes_out
def arange(
    start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, **_: Any,
) -> Tensor:  # fmt: skip
    """start, start + step, ... up to but without `end`.

    Shapes: numbers -> (N).  Raises RuntimeError where `step` is 0, or leads away from `end`.  Source: torch.arange.

    >>> arange(3)
    tensor([0, 1, 2])
    """
    start, end, step = _plain(start), _plain(end), _plain(step)
    if end is None:
        start, end = 0, start
    if _integral(dtype):
        start, end, step = int(start), int(end), int(step)
        if not step:
            raise ValueError("step must be nonzero")
    _check_steps(start, end, step)
    whole = all(isinstance(n, int) for n in (start, end, step))
    numpy_dtype = as_numpy_dtype(dtype) or (int64.numpy if whole else arrays.default_dtype.numpy)
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    data = (xp.arange(count, dtype="int64" if whole else "float64") * step + start).astype(numpy_dtype)
    return new_leaf(data, "arange", requires_grad, device)


def _integral(dtype: Any) -> bool:
    """Return whether a dtype was passed that has only whole numbers: torch then reads the arguments as those."""
    which = as_numpy_dtype(dtype)
    return which is not None and which.kind in "iu"


def _ends(function: str, start: Any, end: Any, steps: Any, dtype: Any) -> tuple[Any, Any]:
    """The two ends of what is evenly spaced, checked."""
    if type(steps) not in (int, Tensor):
        raise combination(function, start, end, steps)
    ranks = [
        f"{name} with {value.dim()} dimension(s)"
        for name, value in (("start", start), ("end", end))
        if isinstance(value, Tensor) and value.dim()
    ]
    if ranks:
        raise errors.runtime(
            f"{function} only supports 0-dimensional start and end tensors, but got {' and '.join(ranks)}."
        )
    if steps < 0:
        raise errors.runtime("number of steps must be non-negative")
    first, last = _plain(start), _plain(end)
    return (int(first), int(last)) if _integral(dtype) else (first, last)


def _check_steps(start: Any, end: Any, step: Any) -> None:
    if not step:
        raise errors.runtime("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise errors.runtime(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise errors.runtime("upper bound and lower bound inconsistent with step sign")


@takes_out
def range(
    start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, **_: Any,
) -> Tensor:  # fmt: skip
    """start, start + step, ... up to and with `end`: deprecated in torch, which recommends arange.

    Shapes: numbers -> (N).  Raises RuntimeError where `step` is 0, or leads away from `end`.  Source: torch.range.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.range(0, 1, 0.5)
    tensor([0.0000, 0.5000, 1.0000])
    """
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    start, end, step = _plain(start), _plain(end), _plain(step)
    if end is None:
        start, end = 0, start
    _check_steps(start, end, step)
    count = int((end - start) / step + 1)
    data = xp.arange(count, dtype="float64") * step + start
    return new_leaf(data.astype(floating(dtype)), "range", requires_grad, device)


@takes_out
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """`steps` numbers from `start` to `end`, evenly apart.

    Shapes: numbers -> (steps).  Raises RuntimeError for negative `steps`.  Source: torch.linspace.

    >>> import engine as torch
    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    data = xp.linspace(*_ends("linspace", start, end, steps, dtype), steps)
    return new_leaf(data.astype(floating(dtype)), "linspace", requires_grad, device)


@takes_out
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, **_: Any,
) -> Tensor:  # fmt: skip
    """`base` to the power of `steps` numbers from `start` to `end`, evenly apart.

    Shapes: numbers -> (steps).  Raises RuntimeError for negative `steps`.  Source: torch.logspace.

    >>> import engine as torch
    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    data = float(base) ** xp.linspace(*_ends("logspace", start, end, steps, dtype), steps)
    return new_leaf(data.astype(floating(dtype)), "logspace", requires_grad, device)


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """A number as a 0-d tensor, of the default floating dtype if none is given.

    Shapes: a number -> ().  Source: torch.scalar_tensor.

    >>> import engine as torch
    >>> torch.scalar_tensor(2)
    tensor(2.)
    """
    return new_leaf(xp.asarray(_plain(s), dtype=floating(dtype)), "scalar_tensor", requires_grad, device)


# -- matrices -----------------------------------------------------------------------------------------------------


@takes_out
def eye(
    n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Ones on the diagonal of an n x m matrix.

    Shapes: numbers -> (n, m).  Raises RuntimeError for a negative size.  Source: torch.eye.

    >>> import engine as torch
    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    for name, size in (("n", n), ("m", 0 if m is None else m)):
        if size < 0:
            raise errors.runtime(f"{name} must be greater or equal to 0, got {size}")
    return new_leaf(xp.eye(n, m, dtype=floating(dtype)), "eye", requires_grad, device)


def _triangle(name: str, triangle_of: Any) -> Any:
    def function(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
        for what, size in (("row", row), ("col", col)):
            if size < 0:
                raise errors.runtime(f"{what} must be non-negative, got{size}")
        numpy_dtype = as_numpy_dtype(dtype) or int64.numpy
        if numpy_dtype.kind == "f":
            raise NotImplementedError(f"\"{name}\" not implemented for '{LETTERS[arrays.BY_NUMPY[numpy_dtype].name]}'")
        places = xp.stack(triangle_of(xp.ones((row, col), dtype=bool), offset).nonzero())
        return new_leaf(places.astype(numpy_dtype), name, where=device)

    function.__name__ = function.__qualname__ = name
    text = "Shapes: numbers -> (2, K) of K places.  Raises RuntimeError for a negative size."
    doc = f"Row and column indices of the elements that torch.{name[:4]} keeps of a row x col matrix."
    function.__doc__ = with_example(doc, name, shapes=text)
    return function


tril_indices = _triangle("tril_indices", xp.tril)
triu_indices = _triangle("triu_indices", xp.triu)

METHODS: tuple[str, ...] = ()
"""None of these is a method of Tensor."""
