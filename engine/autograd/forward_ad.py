"""Forward mode: tensors that carry a tangent, which ops push forward.  Source: torch.autograd.forward_ad.

The tangent of a result is found from the op's own rules by two backward passes: the gradient is linear in its weights,
and the gradient of that with respect to the weights is the Jacobian times the tangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..arrays import errors
from ..arrays.array import xp
from ..arrays.session import slot
from ..ops.inplace import copy, copy_slices, take_slice
from ..ops.op import Op
from ..tensor.dispatch import AFTER, apply
from ..tensor.grad_mode import enable_grad, mode
from ..tensor.inplace import BEFORE_WRITE, apply_inplace
from ..tensor.tensor import Tensor, tensor_of
from .application import PUSH
from .calls import grad
from .custom import CustomNode
from .function import Function

NO_LEVEL = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
TWICE = (
    "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported."
)


class UnpackedDualTensor(NamedTuple):
    """The result of `unpack_dual`; `tangent` is None if there is none.

    Source: torch.autograd.forward_ad.UnpackedDualTensor.

    >>> import engine as torch
    >>> with dual_level():
    ...     unpack_dual(torch.ones(1))
    UnpackedDualTensor(primal=tensor([1.]), tangent=None)
    """

    primal: Tensor
    tangent: Tensor | None


class dual_level:
    """Inside, tensors can carry tangents, which are dropped at the end of the block.

    Source: torch.autograd.forward_ad.dual_level.

    >>> import engine as torch
    >>> with dual_level():
    ...     x = make_dual(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 0.0]))
    ...     unpack_dual(x * x).tangent
    tensor([4., 0.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: object) -> None:
        exit_dual_level()


def enter_dual_level() -> int:
    """Begin a level; its number, 0.

    Source: torch.autograd.forward_ad.enter_dual_level.

    >>> enter_dual_level()
    0
    >>> exit_dual_level()
    """
    if mode.dual is not None:
        raise errors.runtime("Nested forward mode AD is not supported at the moment")
    mode.dual = object()
    slot.note(1)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: tangents are forgotten.

    Source: torch.autograd.forward_ad.exit_dual_level.

    >>> import engine as torch
    >>> _ = enter_dual_level()
    >>> x = make_dual(torch.ones(1), torch.ones(1))
    >>> exit_dual_level()
    >>> x
    tensor([1.])
    """
    if mode.dual is None:
        raise errors.runtime("Dual level must be a positive number.")
    if level not in (None, 0):
        raise errors.runtime(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    mode.dual = None
    slot.note(-1)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor of the same elements that carries `tangent`.

    Shapes: (*), (*) -> (*).  Raises RuntimeError outside of a level, or for a tangent of another shape.
    Source: torch.autograd.forward_ad.make_dual.

    >>> import engine as torch
    >>> with dual_level():
    ...     make_dual(torch.tensor([2.0]), torch.tensor([1.0])) ** 2
    tensor([4.], tangent=tensor([4.]))
    """
    if mode.dual is None:
        raise errors.runtime(NO_LEVEL)
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not value.is_floating_point():
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")
    if tangent_of(tensor) is not None:
        raise errors.runtime(TWICE)
    _need_size(tensor, tangent)
    _need_level(level, "_make_dual")
    dual: Tensor = tensor.view_as(tensor)
    dual._tangent = (mode.dual, tangent)
    view = dual._view
    if view is not None:
        view.base._dual = (mode.dual, copy_slices(_whole(view.base), tangent, view.path))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The elements without the tangent, and the tangent.

    Shapes: (*) -> (*), (*).  Source: torch.autograd.forward_ad.unpack_dual.

    >>> import engine as torch
    >>> with dual_level():
    ...     unpack_dual(make_dual(torch.tensor([2.0]), torch.tensor([1.0])) * 3).tangent
    tensor([3.])
    """
    if mode.dual is not None:
        _need_level(level, "_fw_primal")
    tangent = tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    level_before, mode.dual = mode.dual, None
    try:
        return UnpackedDualTensor(tensor.view_as(tensor), tangent)
    finally:
        mode.dual = level_before


def _need_level(level: int | None, function: str) -> None:
    """Raise torch's error for another level than 0, the only one."""
    if level not in (None, 0):
        raise errors.runtime(f"Invalid level given to {function}")


def tangent_of(tensor: Any) -> Tensor | None:
    """The tangent that a tensor carries in the level that runs."""
    entry = getattr(tensor, "_tangent", None)
    return entry[1] if entry is not None and entry[0] is mode.dual else None


def _places(args: Sequence[Any]) -> dict[tuple[int, int], Tensor]:
    """The tangents among arguments, by (argument, element of a list or -1)."""
    places = {}
    for place, value in enumerate(args):
        for nr, one in enumerate(value) if type(value) in (list, tuple) else ((-1, value),):
            if isinstance(one, Tensor) and (tangent := tangent_of(one)) is not None:
                places[place, nr] = tangent
    return places


def pushed(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor | None] | None:
    """The tangent of each output of an op; None where no argument carries one."""
    tangents = _places(args)
    if not tangents:
        return None
    level, mode.dual = mode.dual, None
    active, slot.active = slot.active, None
    graph = mode.enabled
    try:
        with enable_grad():
            arguments = [list(v) if type(v) in (list, tuple) and any(p == i for p, _ in tangents) else v
                     for i, v in enumerate(args)]  # fmt: skip
            points = []
            for place, nr in tangents:
                old: Any = arguments[place] if nr < 0 else arguments[place][nr]
                point = old.view_as(old) if graph and old.requires_grad else old.detach().requires_grad_()
                points.append(point)
                if nr < 0:
                    arguments[place] = point
                else:
                    arguments[place][nr] = point
            result = apply(op, tuple(arguments), kwargs)
            outputs = list(result) if isinstance(result, tuple) else [result]
            return [_pushed(out, points, list(tangents.values()), graph) for out in outputs]
    finally:
        mode.dual, slot.active = level, active


def _pushed(out: Tensor, points: list[Tensor], tangents: list[Tensor], graph: bool) -> Tensor | None:
    if not out.requires_grad:
        return None
    weights = tensor_of(xp.zeros_like(out._array), requires_grad=True)
    slopes = grad(out, points, weights, True, True, allow_unused=True)
    pairs = [(s, t) for s, t in zip(slopes, tangents, strict=True) if s is not None and s.requires_grad]
    tangent: Tensor | None = None
    if pairs:
        joined = graph and any(s.grad_fn is not None for s, _ in pairs)
        (tangent,) = grad([s for s, _ in pairs], weights, [t for _, t in pairs], joined, joined, allow_unused=True)
    if tangent is None:
        return tensor_of(xp.zeros_like(out._array))
    keeps = any(p.grad_fn is not None for p in points) or any(t.requires_grad for t in tangents)
    return tangent if keeps else tangent.detach()


def _after(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], results: Any) -> None:
    """Push the tangents of the arguments of an op to its results."""
    if mode.dual is None or not op.rules or (not isinstance(results, tuple) and any(results is a for a in args)):
        return
    result = pushed(op, args, kwargs)
    for out, tangent in zip(results if isinstance(results, tuple) else (results,), result or (), strict=False):
        if tangent is not None:
            out._tangent = (mode.dual, tangent)


def _before_write(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute the new tangent of a tensor before a write, and return a function that sets it afterwards."""
    if mode.dual is None:
        return None
    result = pushed(op, args, kwargs)
    if result is None:
        return None

    def set_tangent(target: Tensor) -> None:
        tangent = result[0] if result[0] is not None else tensor_of(xp.zeros_like(target._array))
        _carry(target, tangent)
        view = target._view
        base, path = (target, ()) if view is None else (view.base, view.path)
        if path:
            tangent = copy_slices(_whole(base), tangent, path)
        if _hidden(base) is not None:
            base._dual = (mode.dual, tangent)
        else:
            _carry(base, tangent)
        _share(base, target, tangent)

    return set_tangent


def _carry(target: Tensor, tangent: Tensor) -> None:
    """Give a written tensor its tangent: into the one that it has, as that is written too."""
    earlier = tangent_of(target)
    if earlier is not None and earlier is not tangent:
        level, mode.dual = mode.dual, None
        active, slot.active = slot.active, None
        try:
            tangent = apply_inplace(copy.op, (earlier, tangent), {})
        finally:
            mode.dual, slot.active = level, active
    target._tangent = (mode.dual, tangent)


def _hidden(base: Tensor) -> Tensor | None:
    """The tangent of all of a storage of which a dual number was made: that is a view, and the base carries none."""
    entry = base._dual
    return entry[1] if entry is not None and entry[0] is mode.dual else None


def _whole(base: Tensor) -> Tensor:
    """The tangent of all of a storage, zeros where there is none yet."""
    tangent = _hidden(base)
    if tangent is None:
        tangent = tangent_of(base)
    return tensor_of(xp.zeros_like(base._array)) if tangent is None else tangent


def _share(base: Tensor, target: Tensor, tangent: Tensor) -> None:
    """Give each view of a storage that was written its part of the tangent."""
    hidden = _hidden(base) is not None
    for reference in base._storage.views or () if base._shared is not None else ():
        part = reference()
        if part is None or part is target or part._view is None or part._view.base is not base:
            continue
        if not hidden or tangent_of(part) is not None:
            _carry(part, take_slice(tangent, part._view.path))


def _push_function(
    cls: type[Function], node: CustomNode, args: tuple[Any, ...], outputs: list[Any], dirty: Any
) -> None:
    """The tangents of a custom Function's outputs, by its `jvp`; `dirty` are the inputs that forward wrote."""
    if mode.dual is None or not _places(args):
        return
    moves = []
    for value in args:
        tangent = tangent_of(value)
        if tangent is None and isinstance(value, Tensor) and node.materialize and value._array.dtype.kind == "f":
            tangent = tensor_of(xp.zeros_like(value._array))
        moves.append(tangent)
    if not node.saved_entries:
        node.keep(node.user_node().saved_for_forward)
    versions = [None if g is None else g._storage.version for g in moves]
    result = cls.jvp(node.user_node(), *moves)
    results = result if isinstance(result, tuple) else (result,)
    for nr, tangent in enumerate(results):
        if tangent is not None and not isinstance(tangent, Tensor):
            raise errors.runtime(f"expected Variable or None (got {type(tangent).__name__}) for grad output {nr}.")
    if len(results) != len(outputs):
        raise errors.runtime(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(results)})"
        )
    places = {id(value): place for place, value in enumerate(args) if isinstance(value, Tensor)}
    dirty_ids = {id(value) for value in dirty}
    for out, tangent in zip(outputs, results, strict=True):
        if not isinstance(out, Tensor):
            continue
        if id(out) in dirty_ids and tangent_of(out) is not None:
            place = places[id(out)]
            _need_written(tangent, moves[place], versions[place])
        elif id(out) not in dirty_ids:
            _need_view(out, tangent, args)
        if tangent is not None:
            _need_size(out, tangent)
            out._tangent = (mode.dual, tangent)


def _need_written(tangent: Tensor | None, earlier: Tensor | None, version: int | None) -> None:
    """Raise torch's error where forward wrote an input, and jvp did not write its tangent and return it."""
    if tangent is None or tangent._storage.version == version:
        raise errors.runtime(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
            "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
        )
    if tangent is not earlier:
        raise errors.runtime(
            "An inplace custom Function is not returning the forward mode gradients as-is. If the forward is modifying "
            "an input inplace, then the jvp function must modify the gradient inplace and return it as-is."
        )


def _need_view(out: Tensor, tangent: Tensor | None, args: Sequence[Any]) -> None:
    """Raise torch's error where forward returned a view of an input, and jvp no view of the tangent of that."""
    inputs = [a for a in args if isinstance(a, Tensor) and tangent_of(a) is not None]
    seen = next((a for a in inputs if a is out), None)
    if seen is None and out._view is not None:
        seen = next((a for a in inputs if _base(a) is _base(out)), None)
    if seen is None or tangent is None:
        return
    if tangent._view is None:
        raise errors.runtime(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
        )
    whole = tangent_of(seen)
    if whole is not None and _base(tangent) is not _base(whole):
        raise errors.runtime(
            "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
        )


def _base(tensor: Tensor) -> Tensor:
    return tensor if tensor._view is None else tensor._view.base


def _need_size(tensor: Tensor, tangent: Tensor) -> None:
    if tensor.shape != tangent.shape:
        raise errors.runtime(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )


AFTER.append(_after)
BEFORE_WRITE.append(_before_write)
PUSH.append(_push_function)
