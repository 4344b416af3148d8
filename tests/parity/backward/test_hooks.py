"""Hooks of every kind: their order, what they may return, what recordings and replays make of them."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from engine.replay.program import Edits
from engine.replay.replay import replay
from engine.trace.events import CodeEntered, HookRan, Trace
from tests.parity.helpers.outcomes import both, same, texts, values

ROWS = {
    "order at a node": """
y = x * 1
y.register_hook(lambda g: seen.append(("tensor", g)))
y.retain_grad()
y.register_hook(lambda g: g * 10)
y.grad_fn.register_prehook(lambda g: seen.append(("pre", g)))
y.grad_fn.register_hook(lambda a, b: seen.append(("post", a, b)))
y.sum().backward()
r = seen, y.grad, x.grad
""",
    "order at a leaf": """
y = x * 1
end = y.grad_fn.next_functions[0][0]
x.register_hook(lambda g: seen.append(("tensor", g)))
end.register_prehook(lambda g: seen.append(("pre", g)))
end.register_hook(lambda a, b: seen.append(("post", a, b, x.grad)))
x.register_post_accumulate_grad_hook(lambda p: seen.append(("accumulated", p.grad)))
y.sum().backward()
r = seen
""",
    "prehook replaces": """
y = x * x
y.grad_fn.register_prehook(lambda g: (g[0] * 3,))
y.sum().backward()
r = x.grad
""",
    "post hook replaces": """
y = x * x
y.grad_fn.register_hook(lambda a, b: (a[0] * 3, None))
y.sum().backward()
r = x.grad
""",
    "hook stays with the history of before a write": """
y = x * 1
y.retain_grad()
y.register_hook(lambda g: seen.append(("before", g)))
y.mul_(2)
y.register_hook(lambda g: seen.append(("after", g)))
y.sum().backward()
r = seen, y.grad
""",
    "hook on a view that is written": """
y = x * 1
v = y[:2]
v.register_hook(lambda g: seen.append(("before", g)))
v.mul_(3)
v.register_hook(lambda g: seen.append(("after", g)))
v.retain_grad()
(v * v).sum().backward()
r = seen, v.grad, x.grad
""",
    "hooks remove themselves": """
y = x * 1
with y.register_hook(lambda g: g * 5) as handle:
    y.sum().backward(retain_graph=True)
y.sum().backward()
r = x.grad
""",
    "several outputs": """
a, b, c = (x * 1).unbind(0)
a.register_hook(lambda g: seen.append(("a", g)))
b.grad_fn.register_prehook(lambda g: seen.append(("pre", g)))
(a * b).backward()
r = seen, x.grad
""",
    "returns a number": "y = x * 1\ny.register_hook(lambda g: 3)\ny.sum().backward()",
    "returns another shape": "y = x * 1\ny.register_hook(lambda g: g[:2])\ny.sum().backward()",
    "returns another dtype": "y = x * 1\ny.register_hook(lambda g: g.double())\ny.sum().backward()",
    "prehook returns too many": "y = x * 1\ny.grad_fn.register_prehook(lambda g: (g[0], g[0]))\ny.sum().backward()",
    "prehook returns no tuple": "y = x * 1\ny.grad_fn.register_prehook(lambda g: g[0])\ny.sum().backward()",
    "post hook returns too few": "y = x * x\ny.grad_fn.register_hook(lambda a, b: (a[0],))\ny.sum().backward()",
    "post hook returns no tuple": "y = x * x\ny.grad_fn.register_hook(lambda a, b: a[0])\ny.sum().backward()",
    "writes its gradient": "y = x * 1\ny.register_hook(lambda g: g.mul_(2) and None)\ny.sum().backward()",
    "on a tensor without grad": "torch.ones(1).register_hook(print)",
    "after accumulation, on no leaf": "(x * 1).register_post_accumulate_grad_hook(print)",
    "after accumulation, the leaf is updated": """
def step(p):
    with torch.no_grad():
        p.sub_(p.grad, alpha=0.1)
    p.grad = None
x.register_post_accumulate_grad_hook(step)
(x * x).sum().backward()
(x * x).sum().backward()
r = x, x.grad
""",
    "several tensors, all": """
a, b, c = x * 1, x * 2, x * 3
torch.autograd.graph.register_multi_grad_hook((a, b, c), lambda g: seen.append(g))
(a + b).sum().backward(retain_graph=True)
(a + b + c).sum().backward()
r = seen
""",
    "several tensors, any": """
a, b, c = x * 1, x * 2, x * 3
h = torch.autograd.graph.register_multi_grad_hook((a, b, c), lambda g: seen.append(g), mode="any")
(a + b).sum().backward(retain_graph=True)
h.remove()
(a + b + c).sum().backward()
r = seen
""",
    "several tensors, some": 'torch.autograd.graph.register_multi_grad_hook((x,), print, mode="some")',
    "backward within a hook": """
w = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
def again(g):
    seen.append(("in", g))
    (w * w).sum().backward()
    seen.append(("out", w.grad))
y = x * 2
y.register_hook(again)
x.register_hook(lambda g: seen.append(("x", g)))
y.sum().backward()
r = seen, x.grad, torch.is_grad_enabled()
""",
    "grad mode within hooks": """
y = x * x
y.register_hook(lambda g: seen.append((torch.is_grad_enabled(), g.requires_grad)))
torch.autograd.grad(y.sum(), x, retain_graph=True)
torch.autograd.grad(y.sum(), x, create_graph=True)
r = seen
""",
    "of a captured tensor": """
y = x * 2
y.register_hook(lambda g: g * 7)
x.register_hook(lambda g: g * 3)
r = torch.autograd.grad((y * y).sum(), [y, x])
""",
    "of a node where the pass ends": """
y = x * torch.ones(3, requires_grad=True)
y.grad_fn.register_hook(lambda a, g: seen.append((a, g)))
(y * 2).sum().backward(inputs=[y])
r = seen
""",
    "of an input that requires none": """
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a
y = Product.apply(x, torch.full((3,), 3.0))
y.grad_fn.register_hook(lambda a, b: seen.append((a, b)))
y.sum().backward()
class Times(torch.nn.Module):
    def forward(self, a, b):
        return a * b
m = Times()
m.register_full_backward_hook(lambda _, a, b: seen.append((a, b)))
m(x, torch.full((3,), 3.0)).sum().backward()
r = seen, x.grad
""",
    "in torch's order, leaves between other nodes": """
def noting(name):
    return lambda *given: seen.append((name, *given))
w = torch.ones(3, requires_grad=True)
a = x * w
c = a * 2 + w
for name, t in (("a", a), ("c", c), ("x", x), ("w", w)):
    t.register_hook(noting(name))
    if t.is_leaf:
        t.register_post_accumulate_grad_hook(noting(name + " accumulated"))
for node in (a.grad_fn, c.grad_fn, *(end for end, _ in a.grad_fn.next_functions)):
    node.register_prehook(noting("before"))
    node.register_hook(noting("after"))
c.sum().backward(retain_graph=True)
c.sum().backward(inputs=[w], retain_graph=True)
r = seen, torch.autograd.grad(c.sum(), [x, a], create_graph=True)
""",
}


@pytest.mark.parametrize("program", texts(ROWS))
def test_hooks_do_as_in_torch(program: Any) -> None:
    same(program)


RECORDED = {
    "tensor": "y.register_hook(lambda g: g * 10)",
    "before a node": "y.grad_fn.register_prehook(lambda g: (g[0] * 10,))",
    "after a node": "y.grad_fn.register_hook(lambda a, b: (a[0] * 10, None))",
    "before a leaf": "y.grad_fn.next_functions[0][0].register_prehook(lambda g: (g[0] * 10,))",
    "after accumulation": """
def step(p):
    with torch.no_grad():
        p.sub_(p.grad, alpha=0.5)
    p.grad = None
x.register_post_accumulate_grad_hook(step)
""",
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_hooks_do_is_recorded_and_done_again(name: str) -> None:
    def run(values: str) -> Trace:
        made = f"x = torch.tensor({values}, requires_grad=True)\ny = x * x\n"
        with engine.record() as trace:
            program = f"{made}{RECORDED[name]}\ny.sum().backward()\n(x * 3).sum()"
            exec(compile(program, "<program>", "exec"), {"torch": engine})
        return trace

    trace = run("[1.0, 2.0]")
    again = replay(trace)
    assert any(isinstance(e, HookRan) for e in trace.events) == (name != "after accumulation")
    assert sum(isinstance(e, CodeEntered) for e in trace.events) == 1
    assert list(again.events) == list(trace.events) and again.meta["doubt"] is None
    for ours, theirs in zip(again.values, trace.values, strict=True):
        assert ours.array is not None and theirs.array is not None and ours.array.tolist() == theirs.array.tolist()
    edited, fresh = replay(trace, Edits(leaves={0: [3.0, 2.0]})), run("[3.0, 2.0]")
    assert edited.meta["doubt"] is None and list(edited.events) == list(fresh.events)
    kept = [[None if v.array is None else v.array.tolist() for v in t.values] for t in (edited, fresh)]
    assert kept[0] == kept[1]


def test_hooks_see_and_replace_the_gradient() -> None:
    for library in both():
        seen: list[Any] = []
        x = library.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        handle = x.register_hook(lambda g, seen=seen: seen.append(("x", values(g))))
        y.register_hook(lambda g, seen=seen: seen.append(("y", values(g))) or g * 10)
        y.retain_grad()
        x.register_post_accumulate_grad_hook(lambda t, seen=seen: seen.append(("after", values(t.grad))))
        y.sum().backward()
        assert seen == [("y", [1, 1]), ("x", [20, 20]), ("after", [20, 20])]
        assert values(y.grad) == [10, 10]
        handle.remove()
        (x * 1).sum().backward()
        assert [s[0] for s in seen[3:]] == ["after"]


def test_gradient_of_a_non_leaf_warns_and_is_none() -> None:
    for library in both():
        y = library.ones(1, requires_grad=True) * 2
        y.backward()
        with pytest.warns(
            UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"
        ):
            assert y.grad is None
        z = library.ones(1, requires_grad=True) * 2
        z.retain_grad()
        z.backward(retain_graph=True)
        z.backward()
        assert values(z.grad) == [2]
