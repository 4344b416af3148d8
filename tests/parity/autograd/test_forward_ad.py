"""Forward mode: tangents through ops, views, writes and custom Functions, beside torch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

START = """
import importlib
fw = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
a, t = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
def pushed(function, *more):
    with fw.dual_level():
        return fw.unpack_dual(function(fw.make_dual(a, t), *more))
"""

ROWS = {
    "elementwise": "r = pushed(lambda d: (d * d).exp() / (d + 1)), pushed(lambda d: 3 / d - d**3)",
    "reductions": "r = pushed(lambda d: (d * d).sum()), pushed(lambda d: d.max()), pushed(lambda d: d.softmax(0))",
    "matrices": "r = pushed(lambda d: d.view(2, 1) @ d.view(1, 2)), pushed(lambda d: torch.cat([d, a, d]))",
    "views": "r = pushed(lambda d: d[:1]), pushed(lambda d: d.view(2, 1).t()), pushed(lambda d: d.unbind(0)[1])",
    "choice": "r = pushed(lambda d: torch.where(d > 1, d, d * 2)), pushed(lambda d: d.clamp(0, 1.5))",
    "no tangent": "r = pushed(lambda d: d.detach()), pushed(lambda d: d > 1), pushed(lambda d: a), fw.unpack_dual(a)",
    "of a part": "r = pushed(lambda d, b: d * b, torch.tensor([3.0, 4.0]))",
    "written": """
def write(d):
    y = d * 1
    y.mul_(3).exp_()
    y[0] = 5.0
    return y
def into(d):
    z = a.clone()
    z.add_(d)
    return z
r = pushed(write), pushed(into)
""",
    "written, and the tangent that was had of it": """
with fw.dual_level():
    d = fw.make_dual(a.clone(), t.clone())
    before = fw.unpack_dual(d).tangent
    d.mul_(2)
    seen.append((before.tolist(), fw.unpack_dual(d)))
    d[0] = 5.0
    r = seen, before, fw.unpack_dual(d), fw.unpack_dual(d[1:])
""",
    "another level": "with fw.dual_level():\n    fw.make_dual(a, t, level=2)",
    "another level to unpack": "with fw.dual_level():\n    fw.unpack_dual(fw.make_dual(a, t), level=1)",
    "another level to leave": "with fw.dual_level():\n    fw.exit_dual_level(level=3)",
    "a number is printed": "with fw.dual_level():\n    r = repr(fw.make_dual(a, t).sum())",
    "parameters": """
layer = torch.nn.Linear(2, 2).requires_grad_(False)
with torch.no_grad():
    layer.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    layer.bias.zero_()
r = pushed(layer), pushed(lambda d: layer.bias * d)
""",
    "jvp is given None": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, k, i):
        ctx.set_materialize_grads(k > 2)
        return a * 2 + b * k
    @staticmethod
    def jvp(ctx, *tangents):
        seen.append(tangents)
        return tangents[0] * 2
r = pushed(F.apply, a, 3, torch.arange(2)), pushed(F.apply, a, 1, torch.arange(2)), seen
""",
    "printed": "with fw.dual_level():\n    r = repr(fw.make_dual(a, t)), repr(fw.make_dual(a, t) * 2)",
    "over": "with fw.dual_level():\n    d = fw.make_dual(a, t) * 2\nr = d, d * 2, fw.unpack_dual(d)",
    "without grad": "with torch.no_grad():\n    r = pushed(lambda d: d * d)",
    "with grad too": """
with fw.dual_level():
    d = fw.make_dual(x, torch.ones(3))
    p, q = fw.unpack_dual((d**3).sum())
    r = q.detach(), q.requires_grad, torch.autograd.grad(q, x), torch.autograd.grad(p, x)
""",
    "function": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_forward(x)
        ctx.k = k
        return x * x * k
    @staticmethod
    def jvp(ctx, t, _):
        return ctx.saved_tensors[0] * t * ctx.k * 2
r = pushed(F.apply, 3)
""",
    "function without jvp": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x
pushed(F.apply)
""",
    "no level": "fw.make_dual(a, t)",
    "level left twice": "fw.exit_dual_level()",
    "level in a level": "with fw.dual_level():\n    with fw.dual_level():\n        pass",
    "by hand": """
seen.append(fw.enter_dual_level())
d = fw.make_dual(a, t)
r = seen, fw.unpack_dual(d * d)
fw.exit_dual_level()
""",
    "another shape": "with fw.dual_level():\n    fw.make_dual(a, torch.ones(3))",
    "integers": "with fw.dual_level():\n    fw.make_dual(torch.tensor([1, 2]), t)",
    "integer tangent": "with fw.dual_level():\n    fw.make_dual(a, torch.tensor([1, 2]))",
    "dual of a dual": "with fw.dual_level():\n    fw.make_dual(fw.make_dual(a, t), t)",
}


@pytest.mark.parametrize("program", texts({name: START + text for name, text in ROWS.items()}))
def test_tangents_are_torchs(program: Any) -> None:
    same(program)
