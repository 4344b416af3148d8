"""Undefined gradients: where none comes, nodes and leaves are visited all the same, and their hooks are given None."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from engine.replay.replay import replay
from engine.trace.events import CodeEntered, VjpRun
from tests.parity.helpers.outcomes import program, same

NOTED = """
def noting(name):
    return lambda *given: seen.append((name, *given))
class Cut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        return None
def replaced(*given):
    seen.append(given)
    return ones if isinstance(given[0], torch.Tensor) or given[0] is None else (ones,)
ones = torch.ones(3)
"""
EVERYWHERE = """
y = x * 1
y.register_hook(noting("tensor"))
y.grad_fn.register_prehook(noting("before"))
y.grad_fn.register_hook(noting("after"))
y.retain_grad()
x.register_hook(noting("leaf"))
x.register_post_accumulate_grad_hook(noting("accumulated"))
end = y.grad_fn.next_functions[0][0]
end.register_prehook(noting("before the leaf"))
end.register_hook(noting("after the leaf"))
"""
ROWS = {
    "everywhere": EVERYWHERE + "Cut.apply(y).sum().backward()\nr = seen, y.grad, x.grad",
    "everywhere, with a graph": EVERYWHERE
    + "r = torch.autograd.grad(Cut.apply(y).sum(), x, create_graph=True, allow_unused=True), seen",
    "everywhere, at a leaf that has a gradient": EVERYWHERE + "x.grad = torch.ones(3)\nCut.apply(y).sum().backward()\n"
    "r = seen, y.grad, x.grad",
    "asked for": EVERYWHERE + "r = torch.autograd.grad(Cut.apply(y).sum(), y, allow_unused=True), seen",
    "asked for, and refused": "y = x * 1\ntorch.autograd.grad(Cut.apply(y).sum(), y)",
    "one of several outputs": """
a, b, c = (x * 1).unbind(0)
a.register_hook(noting("a"))
c.retain_grad()
a.grad_fn.register_prehook(noting("before"))
a.grad_fn.register_hook(noting("after"))
b.backward()
r = seen, c.grad, x.grad
""",
    "outputs that carry no gradient are none": """
found = (x * 1).max(0)[0], (x * 1).sort()[0][:1], torch.nn.functional.layer_norm(x, (3,))
for y in found[0], found[1].grad_fn.next_functions[0][0], found[2]:
    node = getattr(y, "grad_fn", y)
    node.register_prehook(lambda g: seen.append(len(g)))
    node.register_hook(lambda a, g: seen.append((len(a), len(g))))
sum(y.sum() for y in found).backward()
r = seen
""",
    "a hook makes it": """
y = x * 1
y.register_hook(noting("tensor"))
z = y * 2
z.grad_fn.register_prehook(lambda g: (None,))
z.grad_fn.register_prehook(noting("before"))
z.grad_fn.register_hook(noting("after"))
z.sum().backward()
r = seen, x.grad
""",
    "a hook makes it afterwards": """
y = x * 1
y.register_hook(noting("tensor"))
z = y * 2
z.grad_fn.register_hook(lambda a, g: (None, None))
z.sum().backward()
r = seen, x.grad
""",
    "no hook of a tensor replaces it": "y = x * 1\ny.register_hook(replaced)\nCut.apply(y).sum().backward()",
    "no hook of a leaf replaces it": "x.register_hook(replaced)\nCut.apply(x).sum().backward()",
    "no hook before a node replaces it": """
y = x * 1
y.grad_fn.register_prehook(replaced)
Cut.apply(y).sum().backward()
""",
    "no hook after a node replaces it": "y = Cut.apply(x)\ny.grad_fn.register_hook(replaced)\ny.sum().backward()",
    "several tensors": """
y, w = x * 1, torch.ones(3, requires_grad=True)
torch.autograd.graph.register_multi_grad_hook((y, w), noting("all"))
torch.autograd.graph.register_multi_grad_hook((y, w), noting("any"), mode="any")
(Cut.apply(y) * w).sum().backward()
r = seen
""",
    "what was saved is freed": "y = x * x\nCut.apply(y).sum().backward()\ny.sum().backward()",
    "what was saved is kept": """
y = x * x
Cut.apply(y).sum().backward(retain_graph=True)
y.sum().backward()
r = x.grad
""",
    "what was saved was written": "y = x * 1\nz = y * y\ny.add_(1)\nCut.apply(z).sum().backward()",
    "in a write to a view": """
y = x * 1
y[:2] = Cut.apply(x[:2])
y.grad_fn.register_hook(noting("after"))
Cut.apply(y).sum().backward()
r = seen, x.grad
""",
    "while anomalies are looked for": """
y = x * 1
y.grad_fn.register_hook(noting("after"))
with torch.autograd.detect_anomaly():
    Cut.apply(y).sum().backward()
r = seen
""",
}


@pytest.mark.parametrize("name", ROWS)
def test_an_undefined_gradient_is_seen_as_in_torch(name: str) -> None:
    same(program(NOTED + ROWS[name]))


def test_visits_without_a_gradient_are_recorded_and_done_again() -> None:
    with engine.record() as trace:
        program(NOTED + EVERYWHERE + "y = y * y\nCut.apply(y).sum().backward()")(engine)
    runs = [event for event in trace.events if isinstance(event, VjpRun)]
    assert [event.upstream[0] is None for event in runs] == [False, False, True, True]
    assert [event.freed for event in runs] == [False, False, True, True]
    assert [e.given for e in trace.events if isinstance(e, CodeEntered) and e.place == "tensor"] == [(None,), (None,)]
    again: Any = replay(trace)
    assert list(again.events) == list(trace.events) and again.meta["doubt"] is None
