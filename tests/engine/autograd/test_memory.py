"""Graphs die when nobody holds them, without the cyclic collector, and long ones without recursion."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine import autograd
from engine.tensor.node import Node


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Square(autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = x * x
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        x, _ = ctx.saved_tensors
        return 2 * x * grad


class Double(autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


def written(x: Any) -> Any:
    y = x * 1
    y[:2].mul_(3)
    y.exp_()
    return y


def twice(x: Any) -> Any:
    (first,) = autograd.grad((x.exp() * x).sum(), x, create_graph=True)
    return first


def hooked(x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.grad_fn.register_prehook(lambda g: None)
    y.grad_fn.register_hook(lambda a, b: None)
    return y.tanh()


def packed(x: Any) -> Any:
    with autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        return (x * x).exp()


def through_a_dirty_view(x: Any) -> Any:
    y = x * 1
    Double.apply(y[:2])
    return y


KINDS: dict[str, Any] = {
    "plain": lambda x: (x.exp() * x.sigmoid()).softmax(0),
    "several outputs": lambda x: engine.cat(x.unbind(0)[1].view(1).expand(3).split(1)) + x.max(0).values,
    "views": lambda x: x.view(3, 1).t()[0][1:].unsqueeze(0),
    "written": written,
    "double backward": twice,
    "hooks": hooked,
    "function": Square.apply,
    "function, twice": lambda x: autograd.grad(Square.apply(x).sum(), x, create_graph=True)[0],
    "function that writes": lambda x: Double.apply(x * 1),
    "function that writes a view": through_a_dirty_view,
    "packed": packed,
    "inference": lambda x: engine.inference_mode()(lambda: x * 2)(),
    "jacobian": lambda x: autograd.functional.jacobian(lambda t: t * t, x, create_graph=True),
}


def nodes() -> list[Any]:
    return [thing for thing in gc.get_objects() if issubclass(type(thing), Node)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run", [False, True])
def test_graph_dies_without_the_collector(kind: str, run: bool) -> None:
    before = {id(n) for n in nodes()}
    x = engine.tensor([0.5, 1.0, 2.0], requires_grad=True)
    y = KINDS[kind](x)
    seen = weakref.ref(y)
    if run and y.requires_grad:
        y.sum().backward()
    del y
    assert seen() is None
    assert [n.name() for n in nodes() if id(n) not in before] == []


DEEP: dict[str, Any] = {
    "ops": lambda y: y + 1,
    "functions": Double.apply,
    "several outputs": lambda y: y.unbind(0)[0].view(1),
}


def chain(step: Any, length: int) -> Any:
    y = engine.ones(1, requires_grad=True) * 1
    for _ in range(length):
        y = step(y)
    return y


@pytest.mark.parametrize("kind", DEEP)
def test_long_chain_runs_and_is_freed_without_recursion(kind: str) -> None:
    y = chain(DEEP[kind], 30_000)
    seen = weakref.ref(y.grad_fn)
    y.sum().backward()
    del y
    assert seen() is None


def test_long_chain_of_writes_runs_and_is_freed_without_recursion() -> None:
    y = engine.ones(2, requires_grad=True) * 1
    for _ in range(30_000):
        y[0].add_(1)
    seen = weakref.ref(y.grad_fn)
    y.sum().backward()
    del y
    assert seen() is None


def test_chain_of_100_000_ops_runs_and_is_freed_without_recursion() -> None:
    x = engine.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    middle = weakref.ref(y.grad_fn.next_functions[0][0])
    y.backward()
    assert x.grad.tolist() == [1]
    del y
    assert middle() is None
