"""Grad modes: as context managers, as decorators, around generators, in threads, and inference tensors."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from tests.parity.helpers.outcomes import same, texts

MODES = {
    "nested": """
on = torch.is_grad_enabled
seen.append(on())
with torch.no_grad():
    seen.append(on())
    with torch.enable_grad():
        seen.append(on())
    seen.append(on())
    with torch.set_grad_enabled(True):
        seen.append(on())
r = seen, on()
""",
    "called": """
torch.set_grad_enabled(False)
seen.append((x * 2).requires_grad)
torch.set_grad_enabled(True)
r = seen
""",
    "left by an error": """
try:
    with torch.no_grad():
        raise KeyError("gone")
except KeyError:
    r = torch.is_grad_enabled()
""",
    "decorators": """
@torch.no_grad()
def f(): return torch.is_grad_enabled()
@torch.no_grad
def g(): return torch.is_grad_enabled()
@torch.set_grad_enabled(False)
def h(): return torch.is_grad_enabled()
@torch.enable_grad()
def k(): return torch.is_grad_enabled()
with torch.no_grad():
    seen.append(k())
r = seen, f(), g(), h(), torch.is_grad_enabled(), f.__name__
""",
    "around a generator": """
@torch.no_grad()
def count():
    while True:
        got = yield torch.is_grad_enabled()
        seen.append((got, torch.is_grad_enabled()))
        if got == "stop":
            return "end"
it = count()
r = [next(it), torch.is_grad_enabled(), it.send(3), torch.is_grad_enabled()]
try:
    it.send("stop")
except StopIteration as end:
    r.append(end.value)
r = r, seen
""",
    "thrown into a generator": """
@torch.no_grad()
def one():
    try:
        yield 1
    except ValueError:
        seen.append(torch.is_grad_enabled())
        yield 2
    finally:
        seen.append(torch.is_grad_enabled())
it = one()
next(it)
r = it.throw(ValueError("x")), torch.is_grad_enabled()
it.close()
r = r, seen
""",
    "around a class": """
@torch.no_grad()
class C:
    def __init__(self):
        seen.append(torch.is_grad_enabled())
C()
r = seen
""",
    "not a bool": 'torch.set_grad_enabled("x")',
    "printed": "r = torch.set_grad_enabled(True)",
    "each thread has its own": """
import threading
def work():
    seen.append(torch.is_grad_enabled())
    torch.set_grad_enabled(False)
with torch.no_grad():
    t = threading.Thread(target=work)
    t.start()
    t.join()
r = seen, torch.is_grad_enabled()
""",
    "in backward": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 1
    @staticmethod
    def backward(ctx, g):
        seen.append(torch.is_grad_enabled())
        return g
y = F.apply(x).sum()
with torch.no_grad():
    y.backward(retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
r = seen
""",
}

MADE = """
with torch.inference_mode():
    a = torch.tensor([4.0, 5.0, 6.0])
    y = x * 2
"""

INFERENCE = {
    "flags": MADE + "r = a.is_inference(), y.is_inference(), y.requires_grad, torch.is_inference_mode_enabled()",
    "modes": """
with torch.inference_mode():
    seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled()))
    with torch.enable_grad():
        seen.append((torch.is_grad_enabled(), (x * 2).requires_grad))
    with torch.inference_mode(False):
        seen.append((torch.is_grad_enabled(), (x * 2).requires_grad, (x * 2).is_inference()))
r = seen, torch.is_grad_enabled()
""",
    "written outside": MADE + "a.add_(1)",
    "view written outside": MADE + "a[0].add_(1)",
    "written inside": MADE + "with torch.inference_mode():\n    a.add_(1)\nr = a",
    "saved": MADE + "x * a",
    "not saved": MADE + "r = x + a",
    "version": MADE + "a._version",
    "made to require grad": MADE + "a.requires_grad_()",
    "cloned": MADE + "b = a.clone()\nr = b.is_inference(), x * b",
    "view": MADE + "r = a.view(3, 1).is_inference(), a.detach().is_inference(), (a * 2).is_inference()",
    "normal tensor, view made inside": """
z = torch.ones(3)
with torch.inference_mode():
    v = z[:2]
    z.add_(1)
r = v.is_inference(), v, z, v.add_(1)
""",
    "normal tensor, view written with grad": """
z = x * 1
with torch.inference_mode():
    v = z[:2]
v.mul_(2)
""",
    "normal tensor, base written with grad": """
z = x * 1
with torch.inference_mode():
    v = z[:2]
z.mul_(2)
v.grad_fn
""",
    "decorators": """
@torch.inference_mode()
def f(): return torch.ones(1).is_inference()
@torch.inference_mode
def g(): return torch.ones(1).is_inference()
@torch.inference_mode(mode=False)
def h(): return torch.ones(1).is_inference()
r = f(), g(), h()
""",
    "as a source": MADE + "z = torch.zeros(3)\nz.copy_(a)\nr = z",
    "as numbers": MADE + "r = a.tolist(), a.numpy(), a.sum().item()",
    "backward": MADE + "a.sum().backward()",
}


@pytest.mark.parametrize("program", texts(MODES))
def test_modes_do_as_in_torch(program: Any) -> None:
    same(program)


@pytest.mark.parametrize("program", texts(INFERENCE))
def test_inference_tensors_do_as_in_torch(program: Any) -> None:
    same(program)


def test_nothing_is_recorded_without_grad() -> None:
    x = engine.ones(1, requires_grad=True)

    @engine.no_grad()  # type: ignore[untyped-decorator]  # torch is untyped
    def inner() -> Any:
        return x * 2

    assert not inner().requires_grad
    with engine.no_grad():
        assert not (x * 2).requires_grad
        with engine.enable_grad():
            assert (x * 2).requires_grad
        x.add_(1)  # type: ignore[unreachable]  # the flag is not the constant that mypy takes it for
    with engine.set_grad_enabled(False):
        assert not engine.is_grad_enabled()
    assert engine.is_grad_enabled()
    assert not x.detach().requires_grad
    assert x._version == 1


def test_integer_and_boolean_results_need_no_gradient() -> None:
    x = engine.tensor([3.0, 1.0], requires_grad=True)
    for made in (x > 1, x.argmax(), x.isnan(), x.long(), x == x, x.max(0).indices, x.detach(), x.data):
        assert (made.requires_grad, made.grad_fn) == (False, None)
