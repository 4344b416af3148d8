"""Views that require grad because their base does, and other things that random programs told apart from torch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

ROWS = {
    "a view made without gradients gets none": """
with torch.no_grad():
    view = x.view(3)
y = view * 2 + x
y.sum().backward()
r = view.requires_grad, view.is_leaf, (view * 2).grad_fn.next_functions, y.grad_fn.next_functions, view.grad, x.grad
""",
    "one of several": """
with torch.no_grad():
    views = x.unbind(0)
(views[0] * x).sum().backward()
r = views[0].requires_grad, views[0].grad, x.grad
""",
    "as a root": "with torch.no_grad():\n    view = x.view(3)\nview.sum().backward()\nview.backward(torch.ones(3))",
    "asked for": """
with torch.no_grad():
    view = x.view(3)
r = torch.autograd.grad((view * x).sum(), [view, x], allow_unused=True)
torch.autograd.grad((view * x).sum(), [view])
""",
    "asked to require grad itself": """
with torch.no_grad():
    view = x.view(3)
view.requires_grad_()
(view * x).sum().backward()
r = view.grad, x.grad
""",
    "made before its base did": """
base = torch.tensor([1.0, 2.0])
view = base.view(2)
base.requires_grad_()
(view * base).sum().backward()
r = view.requires_grad, view.is_leaf, view.grad, base.grad, (view * 1).grad_fn.next_functions
base.requires_grad_(False)
r = *r, view.requires_grad
""",
    "a view of a leaf that was written": """
view = x.view(3)
with torch.no_grad():
    x.mul_(2)
(view * view).sum().backward()
r = view.grad_fn, view.grad_fn.next_functions, x.grad
""",
    "transposed in place without gradients": """
y = x.view(1, 3).tanh()
with torch.no_grad():
    y.t_().t_()
r = y.is_leaf, y.grad_fn, y
""",
    "names of copies": "y = x * 1\ny.copy_(x)\nr = y.grad_fn.name(), type(y.grad_fn).__name__",
    "a saved output of a Function was written": """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
y = Twice.apply(x)
z = y * y
with torch.no_grad():
    y.add_(1)
z.sum().backward()
""",
    "a saved value that was transposed": """
y = x.view(1, 3) * 1
z = y * y
y.t_().t_()
z.sum().backward()
""",
    "hooks of a root that leads to nothing asked for": """
w = torch.ones(3, requires_grad=True)
y = x * 1
y.register_hook(lambda g: seen.append(g))
y.grad_fn.register_prehook(lambda g: seen.append("not run"))
r = torch.autograd.grad([y, w * 2], [w], [torch.ones(3), torch.ones(3)], retain_graph=True), seen
r = torch.autograd.grad(y, [w], torch.ones(3), allow_unused=True, retain_graph=True), *r
x.register_hook(lambda g: seen.append("not reached"))
r = torch.autograd.grad((y * w).sum(), [w]), *r
""",
    "several tensors, one without gradient": """
torch.autograd.graph.register_multi_grad_hook((x, torch.ones(1)), lambda g: None)
""",
    "several leaves that are asked for": """
torch.autograd.graph.register_multi_grad_hook((x,), lambda g: seen.append(g))
torch.autograd.grad((x * 2).sum(), [x])
""",
}


@pytest.mark.parametrize("program", texts(ROWS))
def test_such_programs_do_as_in_torch(program: Any) -> None:
    same(program)


OF_BEFORE = """
y = x * 1
y.add_(1)
{}
y.sum().backward()
"""
MOVED = """
y = {} * 2
y.register_hook(seen.append)
x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
x.requires_grad_(False)
{}
y.sum().backward()
r = x.grad, seen
"""
LATER = {
    **{
        line: OF_BEFORE.format(line)
        for line in (
            "y.mul_(y)", "y.mul_(y[:])", "y.mul_(y.detach())", "y.div_(y)", "y.pow_(y)", "y.addcmul_(y, y)",
            "y.add_(y)", "y.pow_(2)", "y[:2].mul_(y[:2])", "y.mul_(x)",
        )
    },
    "a leaf that requires no gradient any more": MOVED.format("x", ""),
    "a leaf that was detached": MOVED.format("x", "x.detach_()"),
    "a leaf that is none any more": MOVED.format("x", "x.mul_(torch.ones(3, requires_grad=True))"),
}  # fmt: skip


@pytest.mark.parametrize("program", texts(LATER))
def test_what_was_written_or_turned_since_is_as_in_torch(program: Any) -> None:
    same(program)
