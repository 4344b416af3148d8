"""autograd.graph, what nodes show of themselves, and views that are written, beside torch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

NODES = {
    "edges": "y = x * x\nr = y.grad_fn, y.grad_fn.next_functions, y.grad_fn.name(), y.grad_fn.metadata",
    "is a node": """
G = torch.autograd.graph
r = isinstance((x * 2).grad_fn, G.Node), isinstance(G.get_gradient_edge(x).node, G.Node), isinstance(3, G.Node)
""",
    "same object": """
y = x * x
r = y.grad_fn is y.grad_fn, y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[1][0]
""",
    "saved input": "y = x * x\nr = y.grad_fn._saved_self, y.grad_fn._saved_other, y.grad_fn._saved_self is x",
    "saved result": "y = x.exp()\nr = y.grad_fn._saved_result, y.grad_fn._saved_result.grad_fn is y.grad_fn",
    "saved number": "y = x * 2\nr = y.grad_fn._saved_other, y.grad_fn._saved_self, (x**3).grad_fn._saved_exponent",
    "saved sizes": "r = x.sum().grad_fn._saved_self_sym_sizes, x[:2].grad_fn._saved_start, x[:2].grad_fn._saved_end",
    "saved of parameters, through hooks": """
p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append("in") or t, lambda t: seen.append("out") or t):
    y = p * p + p.exp()
y.sum().backward()
with torch.inference_mode():
    z = p * 2
r = seen, p.grad, z.is_inference()
""",
    "not saved": "(x + x).grad_fn._saved_other",
    "not an attribute": "x.exp().grad_fn._saved_self",
    "saved, freed": "y = x * x\ny.sum().backward()\ny.grad_fn._saved_self",
    "saved, written": "y = x * 1\nz = y * y\ny.add_(1)\nz.grad_fn._saved_self",
    "listed": """
r = [a for a in dir((x * x).grad_fn) if 'saved' in a], [a for a in dir(x.exp().grad_fn) if 'saved' in a]
""",
    "metadata": "y = x * 1\ny.grad_fn.metadata['k'] = 3\nr = y.grad_fn.metadata",
    "sequence": "a = x * 1\nb = x * 2\nr = b.grad_fn._sequence_nr() - a.grad_fn._sequence_nr()",
    "input metadata": "m = (x.double() * 1).grad_fn._input_metadata\nr = len(m), tuple(m[0].shape), str(m[0].dtype)",
    "raw": "n = (x * x).grad_fn\nn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)\nr = n._saved_self",
    "raw twice": """
n = (x * x).grad_fn
for _ in range(2):
    n._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)
""",
    "raw, freed": """
y = x * x
y.sum().backward()
y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)
""",
}

PACKED = {
    "what is packed": """
def pack(t):
    seen.append((t, t.requires_grad, torch.is_grad_enabled()))
    return t.tolist()
with torch.autograd.graph.saved_tensors_hooks(pack, lambda v: torch.tensor(v)):
    y = (x * x).relu() * 3
r = seen, torch.autograd.grad(y.sum(), x)
""",
    "inner hooks only": """
H = torch.autograd.graph.saved_tensors_hooks
with H(lambda t: seen.append("outer") or t.detach(), lambda t: t):
    with H(lambda t: seen.append("inner") or t.detach(), lambda t: t):
        y = x.exp()
    z = y.tanh()
(y * 1).sum().backward()
r = seen, x.grad
""",
    "double backward": """
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 1, lambda t: t):
    y = (x * x * x).sum()
(g,) = torch.autograd.grad(y, x, create_graph=True)
r = g, torch.autograd.grad(g.sum(), x)
""",
    "written while packed": """
y = x * 1
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
    z = y * y
y.mul_(10)
r = torch.autograd.grad(z.sum(), x)
""",
    "function": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 10, lambda t: t):
    y = F.apply(x)
r = torch.autograd.grad(y.sum(), x)
""",
    "pack writes": """
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
    x * x
""",
    "unpack gives a number": """
with torch.autograd.graph.saved_tensors_hooks(lambda t: 1, lambda t: 1):
    y = x * x
y.sum().backward()
""",
    "refused": """
G = torch.autograd.graph
with G.disable_saved_tensors_hooks("not here"):
    with G.saved_tensors_hooks(lambda t: 1, lambda t: 1):
        pass
""",
    "refused within": """
G = torch.autograd.graph
with G.saved_tensors_hooks(lambda t: 1, lambda t: 1):
    with G.disable_saved_tensors_hooks("not here"):
        pass
""",
    "on the host": """
with torch.autograd.graph.save_on_cpu():
    y = x * x
r = torch.autograd.grad(y.sum(), x)
""",
    "mutation allowed": """
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    y = x * 1
    z = y * y
    y.mul_(10)
    z.sum().backward()
r = x.grad
""",
}

EDGES = {
    "of a leaf": "r = torch.autograd.graph.get_gradient_edge(x)",
    "of a result": "r = torch.autograd.graph.get_gradient_edge(x * 2)",
    "of nothing": "torch.autograd.graph.get_gradient_edge(torch.ones(1))",
    "as root": "r = torch.autograd.grad(torch.autograd.graph.get_gradient_edge(x * x), x, torch.ones(3))",
    "as root without weights": "torch.autograd.grad(torch.autograd.graph.get_gradient_edge(x * x), x)",
    "as input": "y = x * x\nr = torch.autograd.grad(y.sum(), torch.autograd.graph.get_gradient_edge(y))",
    "as unused input": "torch.autograd.grad(x.sum(), torch.autograd.graph.get_gradient_edge(x * x))",
    "as input of backward": "(x * 2).sum().backward(inputs=torch.autograd.graph.get_gradient_edge(x))\nr = x.grad",
    "as input with zeros": """
torch.autograd.grad(x.sum(), torch.autograd.graph.get_gradient_edge(x * x), materialize_grads=True)
""",
    "version": """
y = x * x
torch.autograd.graph.increment_version(y)
torch.autograd.graph.increment_version([y])
r = y._version
""",
}

VIEWS = {
    "base written": "y = x * 1\nv = y[:2]\ny.mul_(2)\nr = v.grad_fn, v.grad_fn.next_functions, v",
    "view written": """
y = x * 1
v = y[:2]
v.mul_(x[:2] * 3)
r = y.grad_fn, y.grad_fn.name(), y.grad_fn.next_functions, v.grad_fn, v.grad_fn.next_functions, y._version, v._version
""",
    "gradients of both": """
y = x * 1
v = y[:2]
w = v.view(2, 1)
w.mul_(3)
r = torch.autograd.grad((v * v).sum() + y.sum(), x)
""",
    "base without grad": "y = torch.zeros(3)\nv = y[:2]\nv.copy_(x[:2])\nr = y.grad_fn.next_functions, v.grad_fn, y",
    "base gets grad, view knows": """
y = torch.zeros(3)
v = y[:2]
y.add_(x)
r = v.requires_grad, (v * 2).requires_grad, v.grad_fn
""",
    "element written": "y = x * 1\ny[0] = 5.0\nr = y.grad_fn.next_functions, torch.autograd.grad(y.sum(), x)",
    "element written, again": "y = x * 1\ny[0] = 5.0\ny.sum().backward()\ny.sum().backward()",
    "saved by the write": """
y = x * 1
y[:2].exp_()
r = torch.autograd.grad((y * y).sum(), x)
""",
    "double backward": """
y = x * 1
y[:2].mul_(x[1:])
(g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
r = g, torch.autograd.grad(g.sum(), x)
""",
    "unbound, written": "(x * 1).unbind(0)[1].mul_(2)",
    "unbound, base written": "y = x * 1\nv = y.unbind(0)[1]\ny.mul_(2)\nv.grad_fn",
    "unbound, written without grad": "y = x * 1\nv = y.unbind(0)[0]\nwith torch.no_grad():\n    v.mul_(2)\nv.grad_fn",
    "unbound, base without grad": "torch.zeros(3).unbind(0)[0].mul_(x[0])",
    "without grad": "with torch.no_grad():\n    v = x[:2]\nr = v.requires_grad, v.is_leaf, v._is_view(), v.grad_fn",
    "without grad, written": "y = x * 1\nwith torch.no_grad():\n    v = y[:2]\nv.mul_(2)",
    "without grad, of a leaf, written": "with torch.no_grad():\n    v = x[:2]\nv.mul_(2)",
    "without grad, base written": "y = x * 1\nwith torch.no_grad():\n    v = y[:2]\ny.mul_(2)\nv.grad_fn",
    "without grad, grads by the source": "y = torch.zeros(3)\nwith torch.no_grad():\n    v = y[:2]\nv.mul_(x[:2])",
    "without grad, base gets grad": """
y = torch.zeros(3)
with torch.no_grad():
    v = y[:2]
y.add_(x)
r = v.requires_grad
""",
    "without grad, view of it": "y = x * 1\nwith torch.no_grad():\n    v = y[:2]\nv.view(2, 1).mul_(x[:2, None])",
    "without grad, several": "y = x * 1\nwith torch.no_grad():\n    v = y.unbind(0)\nv[0].mul_(x[0])",
    "leaf written": "x.mul_(2)",
    "view of a leaf written": "x[:2].mul_(2)",
    "detached": """
y = x * 1
d = y.detach()
r = d._is_view(), d._base, d.requires_grad
d.zero_()
r = r, y, y._version
""",
    "detach in place": "y = x * 1\ny.detach_()\nr = y.requires_grad, y.grad_fn, y.is_leaf",
    "detach a view in place": "(x * 1)[:2].detach_()",
    "expanded, written": "(x * 1)[:1].expand(3).add_(1)",
    "saved list, an element written": """
a, b = x * 1, x * 2
y = torch.cat([a, b]) * 1
a.add_(1)
r = torch.autograd.grad(y.sum(), x)
""",
}


@pytest.mark.parametrize("program", texts(NODES))
def test_nodes_show_what_torch_shows(program: Any) -> None:
    same(program)


@pytest.mark.parametrize("program", texts(PACKED))
def test_hooks_of_saved_tensors_do_as_in_torch(program: Any) -> None:
    same(program)


@pytest.mark.parametrize("program", texts(EDGES))
def test_edges_stand_for_tensors(program: Any) -> None:
    same(program)


@pytest.mark.parametrize("program", texts(VIEWS))
def test_views_and_writes_have_torchs_graph_and_rules(program: Any) -> None:
    same(program)
