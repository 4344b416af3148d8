"""The user's hooks on tensors and nodes: their order, their results, and their events in a recording.

The ops in a hook are recorded like the rest of the program, between CodeEntered and CodeLeft; HookRan records its
result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..arrays import errors
from ..arrays.array import dtype_of
from ..arrays.session import slot
from ..tensor.tensor import Tensor, tensor_of


def as_tensor(gradient: Any, passed: Mapping[int, Tensor]) -> Tensor:
    """The Tensor of a gradient's array; if the user passed this array, the user's own Tensor."""
    users_tensor = passed.get(id(gradient))
    return tensor_of(gradient) if users_tensor is None else users_tensor


class Hooks:
    """Runs hooks on gradients, which are Tensors if `graph` is true, else arrays; `passed` has the Tensors that the
    user passed, by the id of their array."""

    def __init__(self, graph: bool, passed: Mapping[int, Tensor] = MappingProxyType({})) -> None:
        self.graph = graph
        self.passed = passed

    def tensor(self, gradient: Any) -> Any:
        """A gradient as the user's hook sees it."""
        return gradient if gradient is None or self.graph else as_tensor(gradient, self.passed)

    def inner(self, gradient: Any) -> Any:
        """The result of a hook in the loop's form: an array, or a Tensor with a graph."""
        return gradient if gradient is None or self.graph else gradient._array

    def raw(self, gradient: Any) -> Any:
        """The array of a gradient."""
        return gradient._array if self.graph and gradient is not None else gradient

    def of_tensor(
        self, hooks: dict[int, Any], gradient: Any, tensor: Tensor | None, node: Any = None, nr: int = 0
    ) -> Any:
        """The gradient after the hooks of one tensor: output `nr` of `node`, or a leaf."""
        for hook in tuple(hooks.values()):
            result = run_hook(hook, "tensor", (self.tensor(gradient),), tensor=tensor, node=node, nr=nr)
            if result is None:
                continue
            self.check(hook, result, gradient)
            after = self.inner(result)
            if slot.active is not None and tensor is not None:
                slot.active.hook(tensor, None, "tensor", 0, self.raw(gradient), self.raw(after))
            gradient = after
        return gradient

    def before(self, hooks: dict[int, Any], grads: Sequence[Any], node: Any, leaf: Any = None) -> list[Any]:
        """The upstream gradients after the hooks that run before a node; `leaf` is the tensor that it accumulates
        into."""
        current = list(grads)
        for hook in tuple(hooks.values()):
            arguments = (tuple(self.tensor(g) for g in current),)
            result = run_hook(hook, "before", arguments, tensor=leaf, node=None if leaf is not None else node)
            if result is not None:
                current = self.new_gradients(hook, result, current, node, "before", leaf)
        return current

    def after(
        self, hooks: dict[int, Any], cotangents: Sequence[Any], upstream: Sequence[Any], node: Any, leaf: Any = None
    ) -> list[Any]:
        """The cotangents after the hooks that run after a node; `leaf` is the tensor that it accumulated into."""
        current = list(cotangents)
        arguments = tuple(self.tensor(g) for g in upstream)
        for hook in tuple(hooks.values()):
            passed = (tuple(self.tensor(c) for c in current), arguments)
            result = run_hook(hook, "after", passed, tensor=leaf, node=None if leaf is not None else node)
            if result is not None:
                current = self.new_gradients(hook, result, current, node, "after", None)
        return current

    def new_gradients(self, hook: Any, result: Any, current: list[Any], node: Any, place: str, leaf: Any) -> list[Any]:
        """The gradients that a hook of a node returned instead of those it received."""
        if not isinstance(result, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
        if len(result) != len(current):
            raise errors.runtime(
                f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(result)}, but expected "
                f"{len(current)})"
            )
        values = []
        for nr, (new, old) in enumerate(zip(result, current, strict=True)):
            if new is not None:
                self.check(hook, new, old)
            inner = self.inner(new)
            values.append(inner)
            if slot.active is not None and inner is not old:
                slot.active.hook(leaf, None if leaf is not None else node, place, nr, self.raw(old), self.raw(inner))
        return values

    def check(self, hook: Any, result: Any, gradient: Any) -> None:
        """Raise torch's error if the result of a hook does not fit as a gradient here."""
        if not isinstance(result, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
        if gradient is None:
            raise errors.runtime("can't replace a None gradient with a non-None value")
        have, want = result._array, self.raw(gradient)
        if have.dtype != want.dtype:
            raise errors.runtime(
                f"hook '{_name(hook)}' has changed the type of value (was torch.{dtype_of(want).legacy} got "
                f"torch.{dtype_of(have).legacy})"
            )
        if have.shape != want.shape:
            raise errors.runtime(f"hook '{_name(hook)}' has changed the size of value")


def run_accumulation_hooks(tensor: Tensor) -> None:
    """Run the hooks that follow the accumulation in a leaf; their ops are part of the program."""
    for hook in tuple((tensor._post_hooks or {}).values()):
        result = run_hook(hook, "accumulated", (tensor,), tensor=tensor)
        if result is not None and result is not tensor:
            Hooks(True).check(hook, result, tensor)
            raise errors.runtime("Tensor post accumulate grad hooks should return None.", tensors=(tensor,))


def run_hook(hook: Callable[..., Any], place: str, arguments: tuple[Any, ...], **where: Any) -> Any:
    """The result of a hook, whose ops are recorded between CodeEntered and CodeLeft."""
    active = slot.active
    if active is None:
        return hook(*arguments)
    parts = [part if isinstance(part, tuple) else (part,) for part in arguments]
    flat = [one for part in parts for one in part]
    active.enter_code(place, flat, split=len(parts[0]) if len(parts) > 1 else 0, **where)
    results: Sequence[Any] | None = None
    completed = False
    try:
        result = hook(*arguments)
        results = None if result is None else result if isinstance(result, tuple) else (result,)
        completed = all(one is None or isinstance(one, Tensor) for one in results or ())
        return result
    finally:
        active.leave_code(results if completed else None, completed)


def _name(hook: Any) -> str:
    return str(getattr(hook, "__name__", "<unknown>"))
