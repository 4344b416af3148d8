"""Checkpoints inside checkpoints, backward passes inside them, and what a rerun that differs is told."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import engine
from engine.utils.checkpoint import checkpoint, set_checkpoint_early_stop
from tests.parity.helpers.outcomes import first_sentences, outcome, texts

START = """
x = x.detach().double().requires_grad_()
from importlib import import_module
cp = import_module(torch.__name__ + ".utils.checkpoint")
def once(f):
    return lambda *a, **k: cp.checkpoint(f, *a, use_reentrant=False, **k)
calls = []
def f(t):
    calls.append("f")
    return t.sin().exp().sin()
def g(t):
    calls.append("g")
    return t.cos().sin().exp()
"""
VALUES = {
    "nested": "once(once(f))(x).sum().backward(); r = x.grad, calls",
    "two inside": "once(lambda t: once(g)(once(f)(t)))(x).sum().backward(); r = x.grad, calls",
    "to the end": """
        with cp.set_checkpoint_early_stop(False):
            y = once(lambda t: (calls.append(1), t.sin(), calls.append(2))[1])(x)
        y.sum().backward()
        r = x.grad, calls""",
    "ended early": """
        once(lambda t: (calls.append(1), t.sin(), calls.append(2))[1])(x).sum().backward()
        r = x.grad, calls""",
    "a backward inside": """
        def h(t):
            t = t.detach().requires_grad_()
            f(t).sum().backward()
            return t.grad * t
        y = once(lambda t: t * h(t))(x)
        y.sum().backward()
        r = x.grad""",
    "gradients inside": """
        def h(t):
            a, b = f(t), g(t)
            torch.autograd.grad(a.sum(), t); torch.autograd.grad(b.sum(), t)
            return t.sin()
        once(once(h))(x).sum().backward()
        r = x.grad""",
    "graph kept": """
        y = once(f)(x).sum()
        y.backward(retain_graph=True); y.backward()
        r = x.grad, calls""",
    "keyword arguments and others": """
        def h(a, k, *, scale, b):
            return a.sin() * k, scale * b.exp(), "third"
        a, b, third = once(once(h))(x, 2, scale=3.0, b=x)
        (a.sum() + b.sum()).backward()
        r = x.grad, third""",
    "contexts": """
        from contextlib import contextmanager
        @contextmanager
        def told(name):
            seen.append(name + " in"); yield; seen.append(name + " out")
        once(f)(x, context_fn=lambda: (told("first"), told("again"))).sum().backward()
        r = seen""",
    "without gradients": "with torch.no_grad():\n    r = once(f)(x), calls",
    "a saved tensor that needs no gradient is itself": """
        t = torch.ones(3)
        class Kept(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                ctx.save_for_backward(a, b)
                return a * b
            @staticmethod
            def backward(ctx, grad):
                a, b = ctx.saved_tensors
                seen.append(b is t)
                return grad * b, None
        once(lambda a: Kept.apply(a, t))(x).sum().backward()
        r = seen, x.grad""",
}
ERRORS = {
    "saves fewer": """
        def h(t):
            calls.append(1)
            return t.sin() if len(calls) > 1 else t.sin().exp()
        once(h)(x).sum().backward()""",
    "saves more": """
        def h(t):
            calls.append(1)
            return t.sin().exp() if len(calls) > 1 else t.sin()
        with cp.set_checkpoint_early_stop(False):
            y = once(h)(x)
        y.sum().backward()""",
    "saves other shapes": """
        def h(t):
            calls.append(1)
            return (t[:2] if len(calls) > 1 else t).sin().sum()
        once(h)(x).backward()""",
    "saved tensors read twice": """
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                ctx.save_for_backward(a)
                return a * 2
            @staticmethod
            def backward(ctx, grad):
                ctx.saved_tensors
                return grad * ctx.saved_tensors[0]
        once(Twice.apply)(x.clone()).sum().backward()""",
    "a check that is not there": "once(f)(x, determinism_check='strict')",
    "debug with contexts": """
        from contextlib import nullcontext
        once(f)(x, debug=True, context_fn=lambda: (nullcontext(), nullcontext()))""",
    "an argument written since": """
        t = x * 1
        y = once(f)(t)
        with torch.no_grad():
            t.mul_(2)
        y.sum().backward()""",
    "asked for a gradient": "torch.autograd.grad(cp.checkpoint(torch.exp, x, use_reentrant=True).sum(), (x,))",
    "backward to inputs": "cp.checkpoint(torch.exp, x, use_reentrant=True).sum().backward(inputs=(x,))",
    "overlapping backwards in a group": """
        y = once(lambda t: t.sin().exp())(x).sum()
        with cp.GraphExecGroup():
            y.backward(retain_graph=True)
            y.backward()""",
    "a group in a group": "with cp.GraphExecGroup():\n    with cp.GraphExecGroup():\n        pass",
}


def _texts(rows: dict[str, str]) -> list[Any]:
    return texts({name: START + textwrap.dedent(source) for name, source in rows.items()})


@pytest.mark.parity
@pytest.mark.parametrize("program", _texts(VALUES))
def test_checkpoint_computes_what_torchs_does(program: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    assert outcome(program, engine) == outcome(program, torch)


@pytest.mark.parity
@pytest.mark.parametrize("program", _texts(ERRORS))
def test_checkpoint_refuses_what_torchs_does(program: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (first_sentences(outcome(program, library)) for library in (engine, torch))
    assert ours == theirs
    assert ours[0].split(":")[0].endswith("Error")


def test_saved_places_die_with_the_graph() -> None:
    import gc
    import weakref

    x = engine.ones(2, requires_grad=True)
    with set_checkpoint_early_stop(True):
        y = checkpoint(lambda t: checkpoint(lambda s: s.sin().exp(), t, use_reentrant=False), x, use_reentrant=False)
    node = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        y.sum().backward()
        del y
        assert node() is None
    finally:
        gc.enable()
