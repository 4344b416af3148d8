"""Derivatives by the rules held against derivatives by small steps.  Source: torch.autograd.gradcheck."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..array import xp
from ..mode import enable_grad, no_grad
from ..slot import slot
from ..tensor import Tensor, escape
from .calls import grad


class GradcheckError(RuntimeError):
    """The two do not agree."""


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _checked(outputs: Any) -> list[Tensor]:
    return [o for o in _listed(outputs) if isinstance(o, Tensor) and o.is_floating_point()]


def numerical_jacobian(function: Callable[..., Any], inputs: Sequence[Any], place: int, eps: float) -> list[Any]:
    """(f(x + eps) - f(x - eps)) / 2 eps, one row per element of input `place`; one matrix per output."""
    target: Tensor = inputs[place]
    rows: list[list[Any]] = []
    with no_grad():
        for element in range(target._array.size):
            sides = [_shifted(function, inputs, place, element, by) for by in (eps, -eps)]
            rows.append([((a - b) / (2 * eps)).reshape(-1) for a, b in zip(*sides, strict=True)])
    if not rows:
        return [xp.zeros((0, o._array.size)) for o in _checked(function(*inputs))]
    return [xp.stack([row[i] for row in rows]) for i in range(len(rows[0]))]


def _shifted(function: Callable[..., Any], inputs: Sequence[Any], place: int, element: int, by: float) -> list[Any]:
    """The outputs where one element of one input is moved.  The move is an op, so that a recording tells of it."""
    target: Tensor = inputs[place]
    move = xp.zeros(target._array.shape, dtype=target._array.dtype)
    move.reshape(-1)[element] = by
    found = _checked(function(*inputs[:place], target + Tensor(move), *inputs[place + 1 :]))
    for output in found:
        escape(output, "gradcheck")  # what comes of it is compared outside of the graph
    return [output._array.copy() for output in found]


def analytical_jacobian(output: Tensor, target: Tensor) -> Any:
    """The same matrix (input elements by output elements), one backward pass per column."""
    matrix = xp.zeros((target._array.size, output._array.size), dtype=target._array.dtype)
    if not output.requires_grad:
        return matrix
    for element in range(output._array.size):
        weights = xp.zeros(output._array.shape, dtype=output._array.dtype)
        weights.reshape(-1)[element] = 1
        (found,) = grad(output, target, Tensor(weights), retain_graph=True, allow_unused=True)
        if found is not None:
            escape(found, "gradcheck")
            matrix[:, element] = found._array.reshape(-1)
    return matrix


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True, fast_mode: bool = False,
) -> bool:  # fmt: skip
    """Whether the rules give the derivatives that small steps give, for inputs of float64 that require grad.

    Raises GradcheckError (unless `raise_exception` is False), with both Jacobians.

    >>> import engine as torch
    >>> gradcheck(lambda x: x * x, torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True))
    True
    """
    given = _listed(inputs)
    targets = [i for i, value in enumerate(given) if isinstance(value, Tensor) and value.requires_grad]
    if not targets:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for place in targets:
        if given[place].dtype.name != "float64":
            told = (
                f"Input #{place} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or complex. "
            )
            warnings.warn(told, stacklevel=2)
            if slot.active is not None:
                slot.active.event("warning", "UserWarning", told)
    outputs = _checked(func(*given))
    for column, place in enumerate(targets):
        numerical = numerical_jacobian(func, given, place, eps)
        for number, output in enumerate(outputs):
            analytical = analytical_jacobian(output, given[place])
            if not xp.allclose(analytical, numerical[number], rtol=rtol, atol=atol):
                if not raise_exception:
                    return False
                wrong = GradcheckError(
                    f"Jacobian mismatch for output {number} with respect to input {column},\n"
                    f"numerical:{Tensor(numerical[number])}\nanalytical:{Tensor(analytical)}\n"
                )
                raise errors.explained(wrong, tensors=(output, given[place]))
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, raise_exception: bool = True, **_: Any,
) -> bool:  # fmt: skip
    """gradcheck of the gradients: whether the rules' own derivatives are right.

    >>> import engine as torch
    >>> gradgradcheck(lambda x: x * x * x, torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True))
    True
    """
    given = _listed(inputs)
    targets = [value for value in given if isinstance(value, Tensor) and value.requires_grad]
    outputs = [o for o in _checked(func(*given)) if o.requires_grad]
    if grad_outputs is None:
        draws = xp.random.default_rng(0)
        weights = [Tensor(draws.standard_normal(o._array.shape), requires_grad=True) for o in outputs]
    else:
        weights = list(_listed(grad_outputs))

    def slopes(*values: Any) -> tuple[Tensor, ...]:
        points, seeds = values[: len(given)], values[len(given) :]
        kept = [value for value, old in zip(points, given, strict=True) if any(old is t for t in targets)]
        kept = [k if k.requires_grad else k.requires_grad_() for k in kept]
        made = [o for o in _checked(func(*points)) if o.requires_grad]
        found = grad(made, kept, list(seeds), create_graph=True, allow_unused=True)
        return tuple(f for f in found if f is not None)

    return gradcheck(
        enable_grad(slopes), (*given, *weights), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception
    )
