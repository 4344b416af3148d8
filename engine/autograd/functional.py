"""Whole derivatives of functions.  Source: torch.autograd.functional.

A row of a Jacobian is one backward pass whose gradient is one-hot: `jacobian` runs them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..array import xp, zeros_at
from ..mode import enable_grad
from ..ops.shape import detach, reshape, stack, view
from ..slot import slot
from ..tensor import Tensor
from .calls import grad

Tensors = Tensor | Sequence[Tensor]


def _as_tuple(value: Any, what: str, function: str) -> tuple[tuple[Tensor, ...], bool]:
    """The tensors as a tuple, and whether they were given as one."""
    several = isinstance(value, (tuple, list))
    found = tuple(value) if several else (value,)
    for place, tensor in enumerate(found):
        if not isinstance(tensor, Tensor):
            if several:
                raise TypeError(
                    f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the value at "
                    f"index "
                    f"{place} has type {type(tensor)}."
                )
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the given {what} "
                f"has type "
                f"{type(tensor)}."
            )
    return found, several


def _leaves(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """The points at which to differentiate: leaves of their own, or with `create_graph` joined to the caller's "
    "graph."""
    made = []
    for tensor in inputs:
        if create_graph and tensor.requires_grad:
            made.append(view(tensor, tensor._array.shape))
        else:
            made.append(detach(tensor).clone().requires_grad_())
    return tuple(made)


def _one_hot(like: Tensor, place: int) -> Tensor:
    array = zeros_at(like._array, (like._array.size,))
    array[place] = 1
    made = Tensor(array.reshape(like._array.shape))
    if slot.active is not None:
        slot.active.see(made, "one_hot")
    return made


def _zeros(tensor: Tensor) -> Tensor:
    return Tensor(xp.zeros_like(tensor._array))


def _filled(found: Sequence[Tensor | None], points: Sequence[Tensor], strict: bool, function: str) -> list[Tensor]:
    """Gradients with zeros where a point was not used (an error where that is strictly forbidden)."""
    made = []
    for place, (gradient, point) in enumerate(zip(found, points, strict=True)):
        if gradient is None and strict:
            raise errors.runtime(
                f"Output 0 of the user-provided function is independent of input {place}. This is not allowed in "
                f"strict "
                f"mode when computing {function}."
            )
        made.append(_zeros(point) if gradient is None else gradient)
    return made


def jacobian(
    func: Callable[..., Any], inputs: Tensors, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """All first derivatives of `func`: entry [i..., j...] is d output[i...] / d input[j...].

    A tensor of shape (*output, *input); for several outputs or inputs a (nested) tuple.  One backward pass per element
    of the output.  Raises TypeError where `func` returns something else than tensors.

    >>> import engine as torch
    >>> jacobian(lambda x: x * x, torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    given, several_inputs = _as_tuple(inputs, "inputs", "jacobian")
    with enable_grad():
        points = _leaves(given, create_graph)
        outputs, several_outputs = _as_tuple(func(*points), "outputs of the user-provided function", "jacobian")
        table = []
        for output in outputs:
            rows: list[list[Tensor]] = [[] for _ in points]
            for place in range(output._array.size):
                found: Any = (None,) * len(points)
                if output.requires_grad:
                    found = grad(
                        output,
                        points,
                        _one_hot(output, place),
                        retain_graph=True,
                        create_graph=create_graph,
                        allow_unused=True,
                    )
                for row, gradient in zip(rows, _filled(found, points, strict, "the Jacobian"), strict=True):
                    row.append(gradient)
            table.append(tuple(_joined(row, output, point) for row, point in zip(rows, points, strict=True)))
    shown = [row if several_inputs else row[0] for row in table]
    return tuple(shown) if several_outputs else shown[0]


def _joined(rows: list[Tensor], output: Tensor, point: Tensor) -> Tensor:
    shape = (*output._array.shape, *point._array.shape)
    if not rows:
        return Tensor(zeros_at(point._array, shape))
    return reshape(stack(rows), shape)  # type: ignore[no-any-return]


def _scalar(func: Callable[..., Any], points: tuple[Tensor, ...], function: str) -> Tensor:
    made, several = _as_tuple(func(*points), "outputs of the user-provided function", function)
    if several:
        raise errors.runtime(f"The function given to {function} should return a single Tensor")
    if made[0]._array.size != 1:
        raise errors.runtime(f"The Tensor returned by the function given to {function} should contain a single element")
    return reshape(made[0], ()) if made[0]._array.ndim else made[0]


def hessian(
    func: Callable[..., Any], inputs: Tensors, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """All second derivatives of a function that returns one element.

    >>> import engine as torch
    >>> hessian(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    _, several = _as_tuple(inputs, "inputs", "hessian")

    def slopes(*points: Tensor) -> tuple[Tensor, ...]:
        value = _scalar(func, points, "hessian")
        found: Any = (None,) * len(points)
        if value.requires_grad:
            found = grad(value, points, create_graph=True, allow_unused=True)
        return tuple(_filled(found, points, strict, "the Hessian"))

    listed = inputs if several else (inputs,)
    table = jacobian(slopes, listed, create_graph=create_graph)  # type: ignore[arg-type]
    return table if several else table[0][0]


def _weights(v: Any, like: tuple[Tensor, ...], function: str) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) == 1 and like[0]._array.size == 1:
            return (Tensor(xp.ones_like(like[0]._array)),)
        side = "inputs" if function == "jvp" else "outputs"
        raise errors.runtime(
            f"The vector v can only be None if the user-provided function {side} a single Tensor with a single element."
        )
    found, _ = _as_tuple(v, "v", function)
    if len(found) != len(like):
        raise errors.runtime(f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}.")
    for place, (a, b) in enumerate(zip(found, like, strict=True)):
        if a._array.shape != b._array.shape:
            prefix = f"Entry {place} in " if len(like) > 1 else ""
            raise errors.runtime(f"{prefix}v has invalid size: should be {b.shape} but got {a.shape}.")
    return found


def _released(tensors: Sequence[Tensor], several: bool, create_graph: bool) -> Any:
    made = tuple(t if create_graph else detach(t) for t in tensors)
    return made if several else made[0]


def vjp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(outputs, v times the Jacobian): what `backward(v)` gives.

    >>> import engine as torch
    >>> vjp(lambda x: x * x, torch.tensor([1.0, 3.0]), torch.tensor([0.0, 1.0]))[1]
    tensor([0., 6.])
    """
    given, several_inputs = _as_tuple(inputs, "inputs", "vjp")
    with enable_grad():
        points = _leaves(given, create_graph)
        outputs, several_outputs = _as_tuple(func(*points), "outputs of the user-provided function", "vjp")
        weights = _weights(v, outputs, "vjp")
        found = grad(outputs, points, weights, create_graph=create_graph, allow_unused=True)
        filled = _filled(found, points, strict, "the vjp")
    return _released(outputs, several_outputs, create_graph), _released(filled, several_inputs, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(outputs, the Jacobian times v), by two backward passes: the vjp is linear in its weights.

    >>> import engine as torch
    >>> jvp(lambda x: x * x, torch.tensor([1.0, 3.0]), torch.tensor([0.0, 1.0]))[1]
    tensor([0., 6.])
    """
    given, _ = _as_tuple(inputs, "inputs", "jvp")
    with enable_grad():
        points = _leaves(given, create_graph)
        directions = _weights(v, points, "jvp")
        outputs, several_outputs = _as_tuple(func(*points), "outputs of the user-provided function", "jvp")
        dummies = tuple(Tensor(xp.zeros_like(o._array), requires_grad=True) for o in outputs)
        found = grad(outputs, points, dummies, create_graph=True, allow_unused=True)
        filled = _filled(found, points, strict, "the jvp")
        used = [(f, d) for f, d in zip(filled, directions, strict=True) if f.requires_grad]
        pushed: Any = (None,) * len(dummies)
        if used:
            pushed = grad(
                [f for f, _ in used], dummies, [d for _, d in used], create_graph=create_graph, allow_unused=True
            )
        result = _filled(pushed, outputs, False, "the jvp")
    return _released(outputs, several_outputs, create_graph), _released(result, several_outputs, create_graph)


def vhp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(output, v times the Hessian) of a function that returns one element."""
    given, several = _as_tuple(inputs, "inputs", "vhp")
    with enable_grad():
        points = _leaves(given, create_graph)
        weights = _weights(v, points, "vhp")
        value = _scalar(func, points, "vhp")
        slopes = _filled(grad(value, points, create_graph=True, allow_unused=True), points, strict, "the vhp")
        used = [(s, w) for s, w in zip(slopes, weights, strict=True) if s.requires_grad]
        found: Any = (None,) * len(points)
        if used:
            found = grad(
                [s for s, _ in used], points, [w for _, w in used], create_graph=create_graph, allow_unused=True
            )
        filled = _filled(found, points, strict, "the vhp")
    return _released([value], False, create_graph), _released(filled, several, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> Any:
    """(output, the Hessian times v): the Hessian is symmetric, so this is vhp."""
    return vhp(func, inputs, v, create_graph, strict)
