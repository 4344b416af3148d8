"""Custom Functions for tests, made of a forward and a backward for either library."""

from __future__ import annotations

from typing import Any


def made(library: Any, forward: Any, backward: Any = None, name: str = "F", **more: Any) -> Any:
    """A Function of that name."""
    members = {key: staticmethod(value) for key, value in more.items()} | {"forward": staticmethod(forward)}
    if backward is not None:
        members["backward"] = staticmethod(backward)
    return type(name, (library.autograd.Function,), members)


def leaf(library: Any, *values: float) -> Any:
    return library.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def grads(library: Any, function: Any, *more: Any) -> Any:
    x = leaf(library)
    return library.autograd.grad(function.apply(x, *more).sum(), x, allow_unused=True)


def after(seen: list[Any], what: Any, result: Any) -> Any:
    """`result`, once `what` is noted: more than one thing in a lambda."""
    seen.append(what)
    return result


def double(ctx: Any, x: Any) -> Any:
    return x * 2


def twice(ctx: Any, grad: Any) -> Any:
    return grad * 2


def square(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x * x


def of_square(ctx: Any, grad: Any) -> Any:
    return 2 * grad * ctx.saved_tensors[0]


def pair(ctx: Any, x: Any) -> Any:
    return x * 2, x * 3


def written(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    x.mul_(2)
    return x
