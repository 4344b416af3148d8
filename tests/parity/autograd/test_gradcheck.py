"""gradcheck and gradgradcheck: what they find, what they say, beside torch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

START = """
check, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
a = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
b = torch.tensor([[0.5], [1.5]], dtype=torch.float64, requires_grad=True)
def function(forward, backward):
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("F", (torch.autograd.Function,), members).apply
def square(ctx, x):
    ctx.save_for_backward(x)
    return x * x
right = function(square, lambda ctx, g: 2 * g * ctx.saved_tensors[0])
wrong = function(square, lambda ctx, g: g * ctx.saved_tensors[0])
"""

ROWS = {
    "right": """
r = check(right, a), twice(right, a), check(lambda x, y: x * y, (a, b)), check(lambda x: (x, x * 2), [a])
""",
    "wrong": "check(wrong, a)",
    "wrong, not raised": "r = check(wrong, a, raise_exception=False), twice(wrong, a, raise_exception=False)",
    "wrong second output": "check(lambda x: (x * 2, x * x.detach()), a)",
    "wrong second input": "check(lambda x, y: x * y + y * y.detach(), (a, b))",
    "detached": "check(lambda x: x.detach(), a)",
    "constant": "r = check(lambda x: torch.ones(2, dtype=torch.float64), a)",
    "single": "r = check(lambda t: t * 2, x, eps=1e-2, atol=1e-2)",
    "no grad": "check(lambda t: t * 2, torch.ones(1))",
    "no tensor": "check(lambda t: t * 2, 3)",
    "expanded": "check(lambda t: t * 2, torch.ones(1, dtype=torch.float64).expand(3).requires_grad_())",
    "zero slope for zero": "check(function(lambda ctx, x: x * 1, lambda ctx, g: g + 1), a)",
    "another dtype": """
check(function(lambda ctx, x: x.float() * 2, lambda ctx, g: g.double() * 2), a, check_grad_dtypes=True, atol=1, rtol=1)
""",
    "undefined": """
def forward(ctx, x):
    ctx.set_materialize_grads(False)
    return x * 2
check(function(forward, lambda ctx, g: (g + 0) * 2 if g is not None else torch.ones(2, dtype=torch.float64)), a)
""",
    "undefined, raises": """
def forward(ctx, x):
    ctx.set_materialize_grads(False)
    return x * 2
def backward(ctx, g):
    if g is None:
        raise RuntimeError("no")
    return g * 2
r = check(function(forward, backward), a, check_undefined_grad=False)
check(function(forward, backward), a)
""",
    "forward mode": "r = check(lambda x: x.exp(), a, check_forward_ad=True)",
    "neither": "check(right, a, check_backward_ad=False)",
    "batched": "r = check(lambda x: x.exp(), a, check_batched_grad=True)",
    "batched, not backward": "check(right, a, check_batched_grad=True, check_backward_ad=False, check_forward_ad=True)",
    "fast": "r = check(lambda x: x.exp(), a, fast_mode=True)",
    "nondeterministic": """
state = [0.0]
def backward(ctx, g):
    state[0] += 1e-9
    return g * (2 + state[0])
r = check(function(lambda ctx, x: x * 2, backward), a, nondet_tol=1e-3)
try:
    check(function(lambda ctx, x: x * 2, backward), a)
except RuntimeError as error:
    seen.append(str(error).split(".The")[0])
r = r, seen
""",
    "second order wrong": """
f = function(square, lambda ctx, g: 2 * g * ctx.saved_tensors[0].detach())
r = check(f, a), twice(f, a, raise_exception=False)
""",
    "second order, weights": "r = twice(lambda x: x**3, a, torch.ones(2, dtype=torch.float64, requires_grad=True))",
    "retains": "check(lambda x: x * 2, a)\nr = a.retains_grad",
}


@pytest.mark.parametrize("program", texts({name: START + text for name, text in ROWS.items()}))
def test_checks_find_and_say_what_torchs_do(program: Any) -> None:
    same(program)
