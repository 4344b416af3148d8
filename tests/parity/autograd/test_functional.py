"""autograd.functional: values, graphs, strictness and refusals, beside torch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

START = """
F = torch.autograd.functional
a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0])
both = lambda a, b: (a**3 * b, (a * b).sum())
number = lambda a, b: (a**3 * b).sum()
cubes = lambda a: (a**3).sum()
ones = (torch.ones(2), torch.tensor([1.0, 2.0]))
"""

ROWS = {
    "jacobian": "r = F.jacobian(both, (a, b))",
    "jacobian of a matrix": "r = F.jacobian(lambda x: x @ x, torch.eye(2))",
    "jacobian, one input": "r = F.jacobian(lambda x: (x * x, x.sum()), a)",
    "jacobian of a constant": "r = F.jacobian(lambda x: torch.ones(2), a)",
    "jacobian of what is unused": "r = F.jacobian(lambda a, b: a * 2, (a, b))",
    "jacobian, batched": "r = F.jacobian(both, (a, ones[1]), vectorize=True)",
    "jacobian, forward": 'r = F.jacobian(both, (a, ones[1]), vectorize=True, strategy="forward-mode")',
    "jacobian, forward, loop": 'F.jacobian(both, (a, b), strategy="forward-mode")',
    "jacobian, forward, strict": 'F.jacobian(both, (a, b), strategy="forward-mode", strict=True)',
    "jacobian, forward, graph": 'F.jacobian(both, (a, b), strategy="forward-mode", create_graph=True)',
    "jacobian, strategy": 'F.jacobian(both, (a, b), strategy="sideways")',
    "jacobian, batched and strict": "F.jacobian(both, (a, b), vectorize=True, strict=True)",
    "jacobian, graph": """
a.requires_grad_()
j = F.jacobian(lambda x: x**3, a, create_graph=True)
r = j, torch.autograd.grad(j.sum(), a)
""",
    "jacobian, no graph": "a.requires_grad_()\nj = F.jacobian(lambda x: x**3, a)\nr = j.requires_grad, a.grad",
    "jacobian, strict, constant": "F.jacobian(lambda x: torch.ones(2), a, strict=True)",
    "jacobian, strict, unused": "F.jacobian(lambda a, b: a * 2, (a, b), strict=True)",
    "jacobian, strict, graph, linear": """
a.requires_grad_()
F.jacobian(lambda x: x * 2, a, strict=True, create_graph=True)
""",
    "jacobian of a number": "F.jacobian(lambda x: 3, a)",
    "jacobian at a list": "F.jacobian(lambda x: x, [a])",
    "jacobian of a list": "F.jacobian(lambda x: [x], a)",
    "jacobian at a tuple with a number": "F.jacobian(lambda x, y: x, (a, 3))",
    "jacobian of empty": "r = F.jacobian(lambda x: x[:0], a)",
    "hessian": "r = F.hessian(number, (a, b))",
    "hessian, one input": "r = F.hessian(cubes, a)",
    "hessian of a matrix": "r = F.hessian(lambda x: (x**3).sum(), torch.eye(2))",
    "hessian, batched": "r = F.hessian(number, (a, ones[1]), vectorize=True)",
    "hessian, forward": """
h = F.hessian(number, (a, ones[1]), vectorize=True, outer_jacobian_strategy="forward-mode")
r = [[entry.detach() for entry in row] for row in h]
""",
    "hessian, graph": """
a.requires_grad_()
h = F.hessian(cubes, a, create_graph=True)
r = torch.autograd.grad(h.sum(), a)
""",
    "hessian, linear": "r = F.hessian(lambda x: x.sum(), a)",
    "hessian, strict, linear": "F.hessian(lambda x: x.sum(), a, strict=True)",
    "hessian, strict, unused": "F.hessian(lambda a, b: (a * a).sum(), (a, b), strict=True)",
    "hessian of several": "F.hessian(both, (a, b))",
    "hessian of a vector": "F.hessian(lambda x: x * x, a)",
    "hessian of a number": "F.hessian(lambda x: 3, a)",
    "hessian of one element": "r = F.hessian(lambda x: (x**3).sum().view(1, 1), a)",
    "hessian, strategy": 'F.hessian(cubes, a, outer_jacobian_strategy="sideways")',
    "vjp": "r = F.vjp(number, (a, b), torch.tensor(2.0))",
    "vjp, no v": "r = F.vjp(number, (a, b))",
    "vjp, several": "r = F.vjp(both, (a, b), (torch.ones(2), torch.tensor(3.0)))",
    "vjp, v missing": "F.vjp(both, (a, b))",
    "vjp, v of another shape": "F.vjp(lambda x: x * x, a, torch.ones(3))",
    "vjp, an entry of another shape": "F.vjp(both, (a, b), (torch.ones(2), torch.ones(3)))",
    "vjp, too few": "F.vjp(both, (a, b), (torch.ones(2),))",
    "vjp, too many": "F.vjp(lambda x: x * x, a, (torch.ones(2), torch.ones(2)))",
    "vjp, v a number": "F.vjp(lambda x: x * x, a, 3)",
    "vjp, strict, unused": "F.vjp(lambda a, b: a.sum(), (a, b), strict=True)",
    "vjp, strict, constant": "F.vjp(lambda a: torch.tensor(1.0), a, strict=True)",
    "vjp, graph": """
a.requires_grad_()
y, g = F.vjp(lambda x: (x**3).sum(), a, create_graph=True)
r = y, g, torch.autograd.grad(g.sum(), a)
""",
    "jvp": "r = F.jvp(both, (a, b), ones)",
    "jvp, one": "r = F.jvp(lambda x: x * x, a, torch.ones(2))",
    "jvp, no v": "r = F.jvp(lambda x: x * x, torch.tensor(3.0))",
    "jvp, v missing": "F.jvp(lambda x: x * x, a)",
    "jvp, v of another shape": "F.jvp(lambda x: x * x, a, torch.ones(3))",
    "jvp, strict, unused": "F.jvp(lambda a, b: a * a, (a, b), ones, strict=True)",
    "jvp, constant": "r = F.jvp(lambda x: torch.ones(2), a, torch.ones(2))",
    "jvp, graph": """
a.requires_grad_()
y, g = F.jvp(lambda x: x**3, a, torch.ones(2), create_graph=True)
r = y, g, torch.autograd.grad(g.sum(), a)
""",
    "vhp": "r = F.vhp(number, (a, b), ones)",
    "vhp, one": "r = F.vhp(cubes, a, torch.ones(2))",
    "vhp, strict, linear": "F.vhp(lambda x: x.sum(), a, torch.ones(2), strict=True)",
    "vhp of a vector": "F.vhp(lambda x: x * x, a, torch.ones(2))",
    "hvp": "r = F.hvp(number, (a, b), ones)",
    "hvp, one": "r = F.hvp(cubes, a, torch.ones(2))",
    "hvp, strict, linear": "F.hvp(lambda x: x.sum(), a, torch.ones(2), strict=True)",
    "hvp, linear": "r = F.hvp(lambda x: x.sum(), a, torch.ones(2))",
    "hvp, graph": """
a.requires_grad_()
y, g = F.hvp(cubes, a, torch.ones(2), create_graph=True)
r = y, g, torch.autograd.grad(g.sum(), a)
""",
    "without grad": """
with torch.no_grad():
    r = F.jacobian(both, (a, b)), F.vjp(number, (a, b)), F.hvp(number, (a, b), ones)
""",
}


@pytest.mark.parametrize("program", texts({name: START + text for name, text in ROWS.items()}))
def test_whole_derivatives_are_torchs(program: Any) -> None:
    same(program)
