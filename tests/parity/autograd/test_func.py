"""torch.func without vmap, beside torch."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import engine
from tests.parity.helpers.outcomes import same, texts

START = """
F = torch.func
nn = torch.nn
v = x.detach()
w = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
def layer(*sizes):
    found = nn.Linear(*(sizes or (3, 2)))
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.copy_(torch.arange(float(parameter.numel())).reshape(parameter.shape) / 4)
    return found
"""
ROWS = {
    "grad": "r = F.grad(lambda t: (t ** 3).sum())(v)",
    "grad of grad": "r = F.grad(lambda t: F.grad(lambda s: (s ** 3).sum())(t).sum())(v)",
    "grad of grad of grad": "s = torch.tensor(2.0); r = F.grad(F.grad(F.grad(lambda t: t ** 4)))(s)",
    "grad of the second": "r = F.grad(lambda a, b: (a * b).sum(), argnums=1)(v, v * 2)",
    "grad of both": "r = F.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(v, v * 2)",
    "grad of the last": "r = F.grad(lambda a, b: (a * b).sum(), argnums=-1)(v, v * 2)",
    "grad of a dict": "r = F.grad(lambda d, t: (d['a'] * t + d['b'][0]).sum())({'a': v, 'b': [v * 2]}, v)",
    "grad with aux": "r = F.grad(lambda t: ((t ** 2).sum(), t * 2), has_aux=True)(v)",
    "grad and value": "r = F.grad_and_value(lambda t: (t ** 2).sum())(v)",
    "grad and value with aux": "r = F.grad_and_value(lambda t: ((t ** 2).sum(), {'k': t + 1}), has_aux=True)(v)",
    "grad of what requires grad": """
        g = F.grad(lambda t: (t ** 3).sum())(x)
        g.sum().backward()
        r = g.requires_grad, x.grad""",
    "grad through another": "g = F.grad(lambda t: (t ** 2 * w).sum())(v); g.sum().backward(); r = w.grad",
    "grad under no_grad": "with torch.no_grad():\n    r = F.grad(lambda t: (t ** 2).sum())(v)",
    "grad has no history": "r = F.grad(lambda t: (t ** 3).sum())(v).requires_grad",
    "grad touches no .grad": "F.grad(lambda t: (t ** 2).sum())(x); r = x.grad",
    "grad of a constant": "r = F.grad(lambda t: torch.tensor(1.0))(v)",
    "grad of no number": "F.grad(lambda t: t * 2)(v)",
    "grad of no tensor": "F.grad(lambda t: 3)(v)",
    "grad with no aux": "F.grad(lambda t: t.sum(), has_aux=True)(v)",
    "grad of an argument that is not there": "F.grad(lambda t: t.sum(), argnums=2)(v)",
    "grad of one argument twice": "F.grad(lambda a, b: (a * b).sum(), argnums=(0, 0))(v, v)",
    "vjp": "out, back = F.vjp(lambda t: t ** 2, v); r = out, back(torch.ones(3)), out.requires_grad",
    "vjp twice": "out, back = F.vjp(lambda t: t ** 2, v); r = back(torch.ones(3)), back(v)",
    "vjp of several": "out, back = F.vjp(lambda a, b: (a * b, a + b), v, v * 2); r = back((v, v))",
    "vjp with aux": "out, back, aux = F.vjp(lambda t: (t ** 2, t + 1), v, has_aux=True); r = aux, back(v)",
    "vjp of grad": "out, back = F.vjp(F.grad(lambda t: (t ** 3).sum()), v); r = out, back(torch.ones(3))",
    "vjp of integers": "F.vjp(lambda t: t.long(), v)",
    "vjp of no tensor": "F.vjp(lambda t: 2, v)",
    "jvp": "r = F.jvp(lambda t: t ** 2, (v,), (torch.ones(3),))",
    "jvp of several": "r = F.jvp(lambda a, b: (a * b, a.sin()), (v, v * 2), (v, torch.ones(3)))",
    "jvp of grad": "r = F.jvp(F.grad(lambda t: (t ** 3).sum()), (v,), (torch.tensor([1.0, 0.0, 0.0]),))",
    "grad of jvp": "r = F.grad(lambda t: F.jvp(lambda s: s ** 3, (t,), (torch.ones(3),))[1].sum())(v)",
    "jvp with aux": "r = F.jvp(lambda t: (t ** 2, t + 1), (v,), (v,), has_aux=True)",
    "jvp of no tuple": "F.jvp(lambda t: t ** 2, v, v)",
    "jacrev": "r = F.jacrev(lambda t: t ** 2)(v)",
    "jacrev of both": "r = F.jacrev(lambda a, b: a.sum() * b, argnums=(0, 1))(v, v * 2)",
    "jacrev with aux": "r = F.jacrev(lambda t: (t.sin(), t + 1), has_aux=True)(v)",
    "jacrev of two outputs": "r = F.jacrev(lambda t: (t.sum(), t * 2))(v)",
    "jacfwd": "r = F.jacfwd(lambda t: t.cumsum(0))(v)",
    "hessian": "r = F.hessian(lambda t: (t ** 3).sum() + t[0] * t[1])(v)",
    "call": "m = layer(); r = F.functional_call(m, {'weight': torch.ones(2, 3)}, v), m.weight.flatten()[1]",
    "call with two dicts": """
        r = F.functional_call(layer(), ({"weight": torch.ones(2, 3)}, {"bias": torch.ones(2)}), (v,))""",
    "call of what is deeper": """
        m = nn.Sequential(layer(), nn.Tanh(), layer(2, 1))
        r = F.functional_call(m, {"2.weight": torch.ones(1, 2), "0.bias": torch.ones(2)}, (v,))""",
    "call with gradients": """
        m = layer()
        given = {name: p.detach() for name, p in m.named_parameters()}
        r = F.grad(lambda d: F.functional_call(m, d, (v,)).pow(2).sum())(given), m.weight.grad""",
    "a step of gradient descent, differentiated": """
        m = layer()
        def loss(d):
            return F.functional_call(m, d, (v,)).pow(2).sum()
        def after(d):
            g = F.grad(loss)(d)
            return loss({k: d[k] - 0.01 * g[k] for k in d})
        r = F.grad(after)({name: p.detach() for name, p in m.named_parameters()})""",
    "call with buffers": """
        m = nn.BatchNorm1d(2)
        mean = torch.zeros(2)
        F.functional_call(m, {"running_mean": mean}, (torch.ones(4, 2),))
        r = mean, m.running_mean""",
    "call with ties": """
        m = nn.Sequential(layer(2, 2), layer(2, 2)); m[1].weight = m[0].weight
        r = (F.functional_call(m, {"0.weight": torch.ones(2, 2)}, v[:2]),
             F.functional_call(m, {"0.weight": torch.ones(2, 2)}, v[:2], tie_weights=False))""",
    "call with ties that differ": """
        m = nn.Sequential(layer(2, 2), layer(2, 2)); m[1].weight = m[0].weight
        F.functional_call(m, {"0.weight": torch.ones(2, 2), "1.weight": torch.zeros(2, 2)}, v[:2])""",
    "strict call without one": "F.functional_call(layer(), {'weight': torch.ones(2, 3)}, v, strict=True)",
    "strict call with one too many": """
        F.functional_call(layer(), {"weight": torch.ones(2, 3), "bias": torch.ones(2), "k": v}, v, strict=True)""",
    "call with a name twice": "F.functional_call(layer(), ({'weight': v}, {'weight': v}), v)",
    "call with no dicts": "F.functional_call(layer(), 3, v)",
    "call restores after an error": """
        m = layer()
        try:
            F.functional_call(m, {"weight": torch.ones(5, 5)}, v)
        except RuntimeError:
            pass
        r = m.weight.shape, isinstance(m.weight, nn.Parameter)""",
    "stacked": """
        parameters, buffers = F.stack_module_state([nn.BatchNorm1d(2), nn.BatchNorm1d(2)])
        r = {k: (t.shape, t.requires_grad, t.is_leaf) for k, t in {**parameters, **buffers}.items()}""",
    "stacked of none": "F.stack_module_state([])",
    "stacked of unlike": "F.stack_module_state([layer(), nn.BatchNorm1d(2)])",
    "stacked of both modes": "F.stack_module_state([layer(), layer().eval()])",
}


@pytest.mark.parity
@pytest.mark.parametrize("program", texts({name: START + textwrap.dedent(text) for name, text in ROWS.items()}))
def test_function_of_functions_is_torchs(program: Callable[[Any], Any]) -> None:
    same(program)


def test_tangents_nested_otherwise_are_refused() -> None:
    # torch goes on with how each is nested, in words of its own trees
    v = engine.ones(3)
    with pytest.raises(RuntimeError, match="Expected primals and tangents to have the same python structure"):
        engine.func.jvp(lambda t: t**2, (v,), (v, v))
