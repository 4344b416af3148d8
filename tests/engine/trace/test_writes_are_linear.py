"""The work of recording a write does not grow with the events before it; it is counted in lines that run.

Each program writes once a round, and is run for two numbers of rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from tests.lines import lines_of

FEW, MANY = 15, 60

WRITES = {
    "in place": ("x = torch.ones(4)", "x.add_(1)"),
    "in place, with a gradient": ("x = torch.ones(4, requires_grad=True) * 1", "x.mul_(2)"),
    "of a number at a place": ("x = torch.zeros(n)", "x[i] = 1.0"),
    "of a tensor at a place": ("x = torch.zeros(n); v = torch.tensor(2.0)", "x[i] = v"),
    "of what has a gradient": ("x = torch.zeros(n)", "x[i] = w[0]"),
    "of the state of a loop": ("x = torch.zeros(n, 4); h = torch.ones(4, requires_grad=True)", "h = h * 1; x[i] = h"),
    "of a row": ("x = torch.zeros(n, 2)", "x[i].add_(1)"),
    "of a column": ("x = torch.zeros(2, n)", "x.t()[i] = 1.0"),
    "through one view": ("x = torch.zeros(4); v = x[1:]", "v.add_(1); x + 1"),
    "through views that live": ("x = torch.zeros(n, 2); v = [x[i] for i in range(n)]", "v[i].add_(1)"),
    "through unbind": ("x = torch.zeros(n, 2); v = x.unbind(0)", "v[i].fill_(1)"),
    "through a view of a view": ("v = torch.zeros(4)", "v = v.view(4); v.add_(1)"),
    "and a read of the part": ("x = torch.zeros(n, 4)", "x[i] = 1.0; x[:i + 1] * 2"),
    "before and after views require grad": (
        "x = torch.zeros(n, 2); v = [x[i] for i in range(n)]; x[0] = torch.ones(2, requires_grad=True)", "x[i].mul_(1)",
    ),
    ".data at a place": ("x = torch.zeros(n)", "x.data[i] = 1.0"),
    ".data kept, at a place": ("x = torch.zeros(n); d = x.data", "d[i] = 1.0"),
    "each .data kept": ("x = torch.zeros(n)", "kept.append(x.data); kept[-1][i] = 1.0"),
    ".data in place": ("x = torch.ones(4, requires_grad=True)", "x.data.add_(1)"),
    ".data minus": ("x = torch.ones(4, requires_grad=True)", "x.data -= 1"),
    ".data of .data": ("v = torch.ones(4)", "v = v.data; v.add_(1)"),
    ".data read": ("x = torch.ones(4)", "kept.append(x.data)"),
    ".data set": ("x = torch.ones(4)", "x.data = torch.ones(4) * i"),
    ".data set to the same": ("x = torch.ones(4); y = torch.ones(4)", "x.data = y; y.add_(1)"),
    ".data set to and fro": ("x = torch.ones(4); y = torch.ones(4); z = torch.ones(4)", "x.data = y; x.data = z"),
    ".data of many set to one": (
        "y = torch.zeros(4)", "kept.append(torch.ones(4)); kept[-1].data = y; y.add_(1)",
    ),
    ".data of many set to parts of one": (
        "y = torch.zeros(n, 2); p = [torch.ones(2) for _ in y]\nfor k in range(n): p[k].data = y[k]",
        "p[i].add_(1); p[i] * 2",
    ),
    ".data set in a chain": ("y = torch.zeros(4)", "x, y = y, torch.ones(4); kept.append(y); y.data = x; y.add_(1)"),
    "detach()": ("x = torch.ones(4, requires_grad=True)", "x.detach().add_(1)"),
    "each detach() kept": ("x = torch.ones(4)", "kept.append(x.detach()); kept[-1].add_(1)"),
    "detach() of detach()": ("v = torch.ones(4)", "v = v.detach(); v.add_(1)"),
    "through numpy": ("x = torch.ones(4); a = x.numpy()", "a[0] = i; x + 1"),
    "through numpy, asked for each time": ("x = torch.ones(4)", "x.numpy()[0] = i; x + 1"),
    "through from_numpy": ("a = numpy.ones(4, 'float32')", "a[0] = i; torch.from_numpy(a) + 1"),
    "through numpy of .data": ("x = torch.ones(4)", "x.data.numpy()[0] = i; x + 1"),
    "copy_": ("x = torch.ones(4); y = torch.ones(4)", "x.copy_(y)"),
    "copy_ of rows": ("x = torch.zeros(n, 2); y = torch.zeros(n, 2)", "x[i].copy_(y[i])"),
    "out=": ("x = torch.ones(4); y = torch.ones(4)", "torch.add(y, 1, out=x)"),
    "index_put_": ("x = torch.zeros(n)", "x.index_put_((torch.tensor([i]),), torch.ones(1))"),
    "scatter_": ("x = torch.zeros(n)", "x.scatter_(0, torch.tensor([i]), torch.ones(1))"),
    "masked_fill_": ("x = torch.ones(4)", "x.masked_fill_(x > 0, 1.0)"),
    "set_": ("x = torch.ones(4)", "x.set_(torch.ones(4) * i); x.add_(1)"),
    "resize_": ("x = torch.zeros(2)", "x.resize_(4); x.fill_(1); x.resize_(2)"),
    "increment_version": ("x = torch.ones(4)", "torch.autograd.graph.increment_version(x); x + 1"),
    "under no_grad": ("x = torch.ones(4, requires_grad=True)", "with torch.no_grad(): x.sub_(0.1)"),
    "under no_grad, at a place": ("x = torch.ones(n, requires_grad=True)", "with torch.no_grad(): x[i] = 0.1"),
    "in several tensors": ("x = [torch.ones(4) for _ in range(4)]", "[y.add_(1) for y in x]"),
    "SGD": ("o = torch.optim.SGD([w], 0.1)", "(w * w).sum().backward(); o.step()"),
    "SGD with momentum": (
        "o = torch.optim.SGD([w], 0.1, momentum=0.9)",
        "o.zero_grad(set_to_none=False); (w * w).sum().backward(); o.step()",
    ),
    "Adam": (
        "o = torch.optim.Adam([w], 0.1)",
        "o.zero_grad(); (w * w).sum().backward(); o.step()",
    ),
    "running statistics": ("m = torch.nn.BatchNorm1d(4)", "m(torch.ones(3, 4) * i)"),
    ".grad adds up": ("", "(w * 2).sum().backward()"),
    ".grad set to zero": ("", "(w * 2).sum().backward(); w.grad.zero_()"),
    ".grad.data": ("", "(w * 2).sum().backward(); w.data.sub_(w.grad.data); w.grad.data.zero_()"),
    ".grad given": ("", "w.grad = torch.ones(4); w.grad.mul_(2)"),
    ".grad given once": ("g = torch.ones(4)", "w.grad = g; g.mul_(2)"),
    "the result of grad()": ("", "g, = torch.autograd.grad((w * 2).sum(), w); g.mul_(2).add_(1)"),
    "results of grad() kept": (
        "kept = []", "kept += torch.autograd.grad((w * 2).sum(), w); kept[-1].mul_(2)",
    ),
    "into a buffer of gradients": ("b = torch.zeros(4)", "b.add_(torch.autograd.grad((w * 2).sum(), w)[0])"),
    "the gradient given": ("g = torch.ones(4)", "(w * 2).backward(g); g.mul_(1)"),
    "in a hook": (
        "y = torch.ones(4, requires_grad=True) * 1; y.register_hook(lambda g: (g.zero_(), None)[1])",
        "(y * torch.ones(4)).sum().backward(retain_graph=True)",
    ),
    "in many hooks": (
        "y = w; doubled = lambda g: (g.mul_(2), None)[1]",
        "y = y * torch.ones(4); y.register_hook(doubled)\n    if i == n - 1: (y * torch.ones(4)).sum().backward()",
    ),
    "in saved_tensors_hooks": (
        "same = lambda t: t",
        "with torch.autograd.graph.saved_tensors_hooks(same, same): (w * w).sum().backward(); w.data.add_(1)",
    ),
    "marked dirty by a Function": ("x = torch.ones(4, requires_grad=True) * 1", "x = Dirty.apply(x)"),
    "in the forward of a Function": ("y = w; s = torch.zeros(n)", "y = Scratch.apply(y, s, i)"),
    "in one forward of a Function": ("y = w; s = torch.zeros(n)", "if i == 0: FilledScratch.apply(y, s, n)"),
    "in the backward of a Function": (
        "y = w; s = torch.zeros(n)",
        "y = Backward.apply(y, s, i)\n    if i == n - 1: (y * torch.ones(4)).sum().backward()",
    ),
    "of a product of batches": (
        "w = torch.ones(2, 4, requires_grad=True)", "y = torch.ones(2, 3, 4) @ w.t(); y.add_(1)",
    ),
}  # fmt: skip
"""The code before the rounds, and the code of each round `i` of `n`, with a leaf `w` and a list `kept`."""


class Dirty(engine.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: engine.Tensor) -> engine.Tensor:
        ctx.mark_dirty(x.add_(1))
        return x

    @staticmethod
    def backward(ctx: Any, gradient: engine.Tensor) -> engine.Tensor:
        return gradient


class Scratch(engine.autograd.Function):
    """As torchdiffeq writes what an event handler keeps."""

    @staticmethod
    def forward(ctx: Any, x: engine.Tensor, scratch: engine.Tensor, place: int) -> engine.Tensor:
        scratch.data[place] = x[0]
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: engine.Tensor) -> Any:
        return gradient, None, None


class FilledScratch(Scratch):
    @staticmethod
    def forward(ctx: Any, x: engine.Tensor, scratch: engine.Tensor, count: int) -> engine.Tensor:
        for place in range(count):
            scratch.data[place] = x[0]
        return x * 1


class Backward(engine.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: engine.Tensor, scratch: engine.Tensor, place: int) -> engine.Tensor:
        ctx.scratch, ctx.place = scratch, place
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: engine.Tensor) -> Any:
        ctx.scratch.data[ctx.place] = gradient[0]
        return gradient.mul_(1), None, None


@pytest.mark.parametrize("kind", WRITES)
def test_write_costs_the_same_however_many_came_before(kind: str) -> None:
    before, each = WRITES[kind]
    program = compile(f"{before}\nfor i in range(n):\n    {each}", "<program>", "exec")
    names = {
        "torch": engine,
        "numpy": np,
        "Dirty": Dirty,
        "Scratch": Scratch,
        "FilledScratch": FilledScratch,
        "Backward": Backward,
    }

    def lines(rounds: int) -> int:
        with engine.record():
            return lines_of(
                lambda: exec(program, {**names, "n": rounds, "kept": [], "w": engine.ones(4, requires_grad=True)})
            )

    lines(2)  # what is only done once: plans, names
    assert lines(MANY) < lines(FEW) * MANY / FEW * 1.1
