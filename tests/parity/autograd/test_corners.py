"""Corners of autograd that scripts reach by being clever: each program has the same outcome here and in torch."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.parity.helpers.outcomes import same, texts

LISTS = {
    "two index lists": "r = torch.arange(12).reshape(3, 4)[[[0, 1], [1, 2]]]",
    "slice and list": "r = torch.arange(12).reshape(3, 4)[[slice(None), [1]]]",
    "None and int": "r = torch.arange(12).reshape(3, 4)[[None, 0]]",
    "Ellipsis and int": "r = torch.arange(12).reshape(3, 4)[[Ellipsis, 0]]",
    "list and int": "r = torch.arange(12).reshape(3, 4)[[[0, 1], 2]]",
    "two tensors": "r = torch.arange(12).reshape(3, 4)[[torch.tensor([0, 2]), torch.tensor([1, 1])]]",
    "one list in a list": "r = torch.arange(12).reshape(3, 4)[[[0, 1]]]",
    "too many": "r = torch.arange(12).reshape(3, 4)[[[0, 1], [1, 2], [0, 0]]]",
    "numbers alone": "r = torch.arange(12).reshape(3, 4)[[0, 2]]",
    "written": "r = torch.zeros(3, 4); r[[[0, 1], [1, 2]]] = 5.0",
}
HOOKS = {
    "post accumulate returns something": """
        x.register_post_accumulate_grad_hook(lambda t: t)
        x.sum().backward()
        r = x.grad""",
    "post accumulate returns another": """
        x.register_post_accumulate_grad_hook(lambda t: t.grad)
        x.sum().backward()""",
    "post accumulate returns a number": """
        x.register_post_accumulate_grad_hook(lambda t: 1)
        x.sum().backward()""",
    "inputs run their nodes and hooks": """
        y = x.clone()
        y.grad_fn.register_prehook(lambda gs: (seen.append("before"), tuple(g * 2 for g in gs))[1])
        y.grad_fn.register_hook(lambda ins, outs: seen.append(("after", outs[0].tolist())))
        y.register_hook(lambda g: (seen.append("tensor"), g * 3)[1])
        (y * 2).sum().backward(inputs=(y,))
        r = seen, y.grad, x.grad""",
    "inputs free what their nodes saved": """
        y = x * x
        y.exp().sum().backward(inputs=(y,))
        y.sum().backward()""",
    "retained gradient of a view made anew": """
        base = x.clone()
        a, b = base[:], base[:]
        a.retain_grad(); b.retain_grad()
        a.mul_(2)
        (a + b).sum().backward()
        r = a.grad, b.grad, x.grad""",
}
GRAD = {
    "zeros that can be differentiated": """
        a = torch.tensor(1.0, requires_grad=True)
        (d,) = torch.autograd.grad((x * a).sum(), x, create_graph=True)
        (dd,) = torch.autograd.grad(d.sum(), x, create_graph=True, materialize_grads=True)
        r = dd.requires_grad, torch.autograd.grad(dd.sum(), x, materialize_grads=True)""",
    "zeros asked for beside an edge": """
        y = x * 2
        edge = torch.autograd.graph.get_gradient_edge(y)
        r = torch.autograd.grad((y * 3).sum(), (edge, torch.ones(1, requires_grad=True)), materialize_grads=True)""",
    "zeros asked for an edge": """
        edge = torch.autograd.graph.get_gradient_edge(x * 2)
        torch.autograd.grad((x * 3).sum(), edge, materialize_grads=True)""",
    "a node called": "r = (x * 2).grad_fn(torch.ones(3)), x[:2].sum().grad_fn(torch.tensor(1.0))",
    "a node of two called": "w = torch.ones(3, requires_grad=True); r = (x * w).grad_fn(torch.ones(3))",
    "a node called under no_grad": """
        a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4, requires_grad=True)
        node = (a @ b).grad_fn
        with torch.no_grad():
            r = node(torch.ones(2, 4))""",
    "a node called without gradient": "r = (x * x).grad_fn(None)",
    "a node called with too many": "(x * x).grad_fn(torch.ones(3), torch.ones(3))",
    "a node called with a number": "(x * x).grad_fn(1)",
    "a freed node called": "y = x * x; y.sum().backward(); y.grad_fn(torch.ones(3))",
    "order by hand": """
        a, b = x * 2, x * 3
        a.register_hook(lambda g: seen.append("a"))
        b.register_hook(lambda g: seen.append("b"))
        c = a + b
        a.grad_fn._set_sequence_nr(c.grad_fn._sequence_nr() - 1)
        b.grad_fn._set_sequence_nr(0)
        c.sum().backward()
        r = seen""",
}
VIEWS = {
    "of no_grad, written": "with torch.no_grad():\n    v = x[:]; v *= 2\nr = repr(v)",
    "of no_grad, written, its grad_fn": "with torch.no_grad():\n    v = x[:]; v *= 2\nr = v.grad_fn",
    "of no_grad, base written, used": "with torch.no_grad():\n    v = x[:]; x *= 2\nr = v + 1",
    "a plain one, base written": "v = x.clone(); w = v[:2]\nwith torch.no_grad():\n    v *= 2\nr = w * 1",
}
ATTRIBUTES = {
    "numpy under no_grad": "with torch.no_grad():\n    r = x.numpy().tolist()",
    "numpy": "x.numpy()",
    "requires_grad of a number": "x.requires_grad = 1",
    "requires_grad deleted": "del x.requires_grad",
    "threads allowed or not": """
        with torch.autograd.set_multithreading_enabled(False):
            x.sum().backward()
        r = x.grad""",
    "packed without gradients": """
        t = torch.ones(3)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            y = x * t
        r = y.grad_fn._saved_other is t""",
}
MUTATION = {
    "of what was saved": """
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            y = x.clone()
            z = (y ** 2).sum()
            y.sin_()
            z.backward()
        r = x.grad, y""",
    "of a view of what was saved": """
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            y = x.clone()
            z = (y ** 2).sum()
            y[:2].zero_()
            (z + y.sum()).backward()
        r = x.grad""",
    "of the base of what was saved": """
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            y = x.clone()
            z = (y[:2] ** 2).sum()
            y.mul_(5)
            z.backward()
        r = x.grad""",
    "of several versions": """
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            y = x.clone()
            a = (y ** 2).sum(); y.mul_(2)
            b = (y ** 3).sum(); y.zero_()
            (a + b).backward()
        r = x.grad""",
    "of a result": """
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            y = x.exp()
            z = y.sum()
            y.zero_()
            z.backward()
        r = x.grad""",
    "used outside": """
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            z = (x ** 2).sum()
        z.backward()""",
    "used in another": """
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            z = (x ** 2).sum()
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            z.backward()""",
    "in itself": """
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            with torch.autograd.graph.allow_mutation_on_saved_tensors():
                pass""",
    "of an inference tensor's view": """
        with torch.inference_mode():
            t = torch.ones(2, requires_grad=True)
            v = t.view(-1)
            r = v.requires_grad, v._is_view()
            t.unsqueeze_(0)
        w = t.view(-1)
        r = r, t.requires_grad, w.requires_grad, w._is_view(), w.is_inference()""",
    "of a turned view": """
        base = torch.ones(2, 3, requires_grad=True).clone()
        v = base.view_as(base)
        with torch.no_grad():
            v.transpose_(0, 1)
        v.add_(1)
        r = v.grad_fn is not None, v.shape""",
    "of a turned view without gradients": """
        base = torch.ones(2, 3)
        with torch.no_grad():
            v = base.view_as(base)
        r = v.transpose_(0, 1).add_(1).shape""",
}
TWICE = """
        t = torch.ones(2, dtype=torch.float64, requires_grad=True)
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, t):
                return t * 2
            @staticmethod
            def jvp(ctx, t):
                return {tangent}"""
GRADCHECK = {
    "of a function that differentiates": """
        def f(t):
            (g,) = torch.autograd.grad((t ** 3).sum(), t, create_graph=True)
            return g
        r = torch.autograd.gradcheck(f, (torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True),))""",
    "of what is taken from elsewhere": """
        p = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        r = torch.autograd.gradcheck(lambda *_: p * p, (p,))""",
    "of a shape that follows values": """
        def f(t):
            return torch.cat([t, t]) if (t >= 1).all() else t
        torch.autograd.gradcheck(f, (torch.ones(2, dtype=torch.float64, requires_grad=True),))""",
    "of a dtype that follows values": """
        def f(t):
            return t if (t >= 1).all() else t.to(torch.float32)
        torch.autograd.gradcheck(f, (torch.ones(2, dtype=torch.float64, requires_grad=True),))""",
    "with a hook that is wrong": """
        def f(t):
            y = t * 1
            y.register_hook(lambda g: g + 1e-2)
            return y
        torch.autograd.gradcheck(f, (torch.ones(1, dtype=torch.float64, requires_grad=True),))""",
    "forward mode by jvp": TWICE.format(tangent="t * 2")
    + """
        r = torch.autograd.gradcheck(Twice.apply, (t,), check_forward_ad=True, check_backward_ad=False,
                                     check_undefined_grad=False)""",
    "forward mode by a wrong jvp": TWICE.format(tangent="t * 3")
    + """
        torch.autograd.gradcheck(Twice.apply, (t,), check_forward_ad=True, check_backward_ad=False,
                                 check_undefined_grad=False)""",
}


def _programs() -> list[Any]:
    groups = (LISTS, HOOKS, GRAD, VIEWS, ATTRIBUTES, MUTATION, GRADCHECK)
    rows = {name: textwrap.dedent(source) for group in groups for name, source in group.items()}
    assert len(rows) == sum(map(len, groups)), "two programs of one name"
    return texts(rows)


@pytest.mark.parity
@pytest.mark.parametrize("program", _programs())
def test_corner_is_torchs(program: Callable[[Any], Any]) -> None:
    same(program)
