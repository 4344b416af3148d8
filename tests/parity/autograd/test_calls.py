"""backward and grad: every argument, and every refusal, beside torch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

CALLS = {
    "no weights": "(x * x).backward()",
    "weights of another shape": "(x * x).backward(torch.ones(2))",
    "weights that are a number": "torch.autograd.backward(x * x, [3])",
    "integer weights": "(x * x).backward(torch.tensor([1, 2, 3]))\nr = x.grad",
    "one weight for two roots": "y = x * x\ntorch.autograd.backward([y, y], [torch.ones(3)])",
    "no graph": "torch.ones(1).backward()",
    "integer root": "torch.autograd.backward((x > 0).sum())",
    "several roots": "torch.autograd.backward([x.sum(), x * x], [None, torch.ones(3)])\nr = x.grad",
    "inputs": "y = x * x\nz = (y * y).sum()\nz.backward(inputs=[y])\nr = y.grad, x.grad, y.retains_grad",
    "inputs twice": "y = x * x\n(y * y).sum().backward(inputs=[y, x])\nr = y.grad, x.grad",
    "inputs, one": "(x * x).sum().backward(inputs=x)\nr = x.grad",
    "inputs, none": "(x * x).sum().backward(inputs=[])",
    "inputs without grad": "(x * x).sum().backward(inputs=[torch.ones(1)])",
    "inputs of another kind": '(x * x).sum().backward(inputs="a")',
    "inputs named": "(x * x).sum().backward(inputs={'x': x})\nr = x.grad",
    "grad": "y = x * x\nr = torch.autograd.grad(y.sum(), [x, y])",
    "grad, no inputs": "torch.autograd.grad(x.sum(), [])",
    "grad, inputs without grad": "torch.autograd.grad(x.sum(), torch.ones(1))",
    "grad, named": "r = torch.autograd.grad((x * x).sum(), {'a': x})",
    "grad, unused": "torch.autograd.grad(x.sum(), [x, torch.ones(1, requires_grad=True)])",
    "grad, unused allowed": """
r = torch.autograd.grad(x.sum(), [x, torch.ones(1, requires_grad=True)], allow_unused=True)
""",
    "grad, unused as zeros": """
r = torch.autograd.grad(x.sum(), [x, torch.ones(1, requires_grad=True)], materialize_grads=True)
""",
    "grad, zeros not allowed": "torch.autograd.grad(x.sum(), x, materialize_grads=True, allow_unused=False)",
    "grad of a text": 'torch.autograd.grad("a", x)',
    "batched": "r = torch.autograd.grad(x * x, x, torch.eye(3), is_grads_batched=True)",
    "batched, two roots": """
r = torch.autograd.grad([x * x, x.sum()], x, [torch.eye(3), torch.ones(3)], is_grads_batched=True)
""",
    "batched, shapes": "torch.autograd.grad(x * x, x, torch.ones(2, 2), is_grads_batched=True)",
    "batched, counts": "torch.autograd.grad([x * x, x.sum()], x, [torch.eye(3), torch.ones(2)], is_grads_batched=True)",
    "batched, no weights": "torch.autograd.grad(x * x, x, is_grads_batched=True)",
    "batched, graph": """
(g,) = torch.autograd.grad(x * x, x, torch.eye(3), is_grads_batched=True, create_graph=True)
r = g.detach(), torch.autograd.grad(g.sum(), x)
""",
    "only inputs": "r = torch.autograd.grad(x.sum(), x, only_inputs=False)",
    "grad variables": "torch.autograd.backward(x.sum(), grad_variables=torch.tensor(2.0))\nr = x.grad",
    "grad variables and grad tensors": """
torch.autograd.backward(x.sum(), torch.tensor(2.0), grad_variables=torch.tensor(2.0))
""",
    "retained gradients accumulate": """
y = x * x
y.retain_grad()
y.sum().backward(retain_graph=True)
y.sum().backward()
r = y.grad, y.retains_grad
""",
    "a leaf retains": "x.retain_grad()\nr = x.retains_grad",
    "second time": "y = (x * x).sum()\ny.backward()\ny.backward()",
    "second time where nothing was saved": "y = (x + x).sum()\ny.backward()\ny.backward()\nr = x.grad",
    "seed joined to a graph": """
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(g,) = torch.autograd.grad(x * x, x, w, create_graph=True)
r = torch.autograd.grad(g.sum(), [x, w])
""",
    "gradient set": "x.grad = torch.ones(3)\n(x * 2).sum().backward()\nr = x.grad",
    "gradient of another shape set": "x.grad = torch.ones(2)",
    "gradient deleted": "(x * 2).sum().backward()\ndel x.grad\nr = x.grad",
}


@pytest.mark.parametrize("program", texts(CALLS))
def test_calls_do_as_in_torch(program: Any) -> None:
    same(program)
