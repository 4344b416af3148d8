"""The user's hooks on tensors and nodes: in which order they run, what they may return, what a recording says of them.

What a hook computes is its own affair; what it changed is recorded (HookRan), and what a hook that runs after the
accumulation in a leaf did is recorded like the rest of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import errors
from .array import dtype_of
from .gathered import secure
from .slot import slot
from .tensor import Tensor


class Hooks:
    """Runs hooks on gradients, which are Tensors with `graph`, else arrays; `arrived` is what waits in the loop
    meanwhile."""

    def __init__(self, graph: bool, arrived: dict[Any, Any]) -> None:
        self.graph = graph
        self.arrived = arrived

    def shown(self, gradient: Any) -> Any:
        """A gradient as the user's hook sees it."""
        return gradient if gradient is None or self.graph else Tensor(gradient)

    def inner(self, gradient: Any) -> Any:
        """What a hook returned as the loop carries it."""
        return gradient if gradient is None or self.graph else gradient._array

    def raw(self, gradient: Any) -> Any:
        """The array of a gradient."""
        return gradient._array if self.graph and gradient is not None else gradient

    def quietly(self, hook: Callable[..., Any], *given: Any) -> Any:
        """What a hook returns; what it computes is not recorded."""
        secure(self.arrived)
        active, slot.active = slot.active, None
        try:
            return hook(*given)
        finally:
            slot.active = active

    def of_tensor(self, hooks: dict[int, Any], gradient: Any, tensor: Tensor | None) -> Any:
        """The gradient after the hooks of one tensor."""
        for hook in tuple(hooks.values()):
            found = self.quietly(hook, self.shown(gradient))
            if found is None:
                continue
            self.check(hook, found, gradient)
            after = self.inner(found)
            if slot.active is not None and tensor is not None:
                slot.active.hook(tensor, None, "tensor", 0, self.raw(gradient), self.raw(after))
            gradient = after
        return gradient

    def before(self, hooks: dict[int, Any], grads: Sequence[Any], node: Any, leaf: Any = None) -> list[Any]:
        """The upstream gradients after the hooks that run before a node; `leaf` is the one that it accumulates in."""
        current = list(grads)
        for hook in tuple(hooks.values()):
            found = self.quietly(hook, tuple(self.shown(g) for g in current))
            if found is not None:
                current = self.taken(hook, found, current, node, "before", leaf)
        return current

    def after(self, hooks: dict[int, Any], cotangents: Sequence[Any], upstream: Sequence[Any], node: Any) -> list[Any]:
        """The cotangents after the hooks that run after a node."""
        current = list(cotangents)
        given = tuple(self.shown(g) for g in upstream)
        for hook in tuple(hooks.values()):
            found = self.quietly(hook, tuple(self.shown(c) for c in current), given)
            if found is not None:
                current = self.taken(hook, found, current, node, "after", None)
        return current

    def taken(self, hook: Any, found: Any, current: list[Any], node: Any, place: str, leaf: Any) -> list[Any]:
        """What a hook of a node returned instead of the gradients that it was given."""
        if not isinstance(found, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type(found).__name__}'")
        if len(found) != len(current):
            raise errors.runtime(
                f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(found)}, but expected "
                f"{len(current)})"
            )
        made = []
        for nr, (new, old) in enumerate(zip(found, current, strict=True)):
            if new is not None and old is not None:
                self.check(hook, new, old)
            inner = self.inner(new)
            made.append(inner)
            if slot.active is not None and inner is not old:
                slot.active.hook(leaf, None if leaf is not None else node, place, nr, self.raw(old), self.raw(inner))
        return made

    def check(self, hook: Any, found: Any, gradient: Any) -> None:
        """Raise torch's error where a hook returned something that is no gradient of this place."""
        if not isinstance(found, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")
        have, want = found._array, self.raw(gradient)
        if have.dtype != want.dtype:
            raise errors.runtime(
                f"hook '{_name(hook)}' has changed the type of value (was torch.{dtype_of(want).legacy} got "
                f"torch.{dtype_of(have).legacy})"
            )
        if have.shape != want.shape:
            raise errors.runtime(f"hook '{_name(hook)}' has changed the size of value")


def accumulated(tensor: Tensor) -> None:
    """Run the hooks that follow the accumulation in a leaf; what they do is part of the program."""
    for hook in tuple((tensor._post_hooks or {}).values()):
        if slot.active is not None:
            slot.active.hook(tensor, None, "accumulated", 0, None, None)
        found = hook(tensor)
        if found is not None and found is not tensor:
            Hooks(graph=True).check(hook, found, tensor)
            raise errors.runtime("Tensor post accumulate grad hooks should return None.", tensors=(tensor,))


def _name(hook: Any) -> str:
    return str(getattr(hook, "__name__", "<unknown>"))
