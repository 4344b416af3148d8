"""The loop: nodes of several outputs, contributions that meet, what is added in place."""

from __future__ import annotations

import numpy as np
import pytest

import engine


def test_node_of_several_outputs_takes_what_arrives_at_each() -> None:
    x = engine.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    top, bottom = (2 * x).unbind()
    (top * 10 + bottom + top).sum().backward()
    assert x.grad.tolist() == [[22.0, 22.0], [2.0, 2.0]]


def test_contributions_that_meet_leave_the_arrays_alone_that_others_hold() -> None:
    x = engine.ones(3, requires_grad=True)
    seen: list[np.ndarray] = []
    y = x * 1.0
    y.register_hook(lambda grad: seen.append(grad._array))
    parts = [y * n for n in (1.0, 2.0, 3.0, 4.0)]
    weights = engine.ones(3)
    total = parts[0] + parts[1] + parts[2] + parts[3] + y + y
    total.backward(weights)
    assert weights.tolist() == [1.0, 1.0, 1.0]
    assert seen[0].tolist() == x.grad.tolist() == [12.0, 12.0, 12.0]
    assert seen[0] is not x.grad._array


def test_gradient_that_waits_alone_runs_in_torchs_order_beside_others() -> None:
    x = engine.ones(2, requires_grad=True)
    ran: list[str] = []
    a = x.exp()
    b = x.sin()
    c = a * b
    for name, tensor in (("x", x), ("a", a), ("b", b), ("c", c)):
        tensor.register_hook(lambda grad, name=name: ran.append(name))
    c.sum().backward()
    assert ran == ["c", "b", "a", "x"]


def test_error_names_the_op_its_shape_and_the_users_line() -> None:
    y = engine.ones(3, requires_grad=True).exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time") as raised:
        y.sum().backward()
    told = "\n".join(raised.value.__notes__)
    assert "ExpBackward0, whose output has the shape [3]," in told
    assert "Backstep: in test_backward.py, line " in told and told.endswith("y.sum().backward()")
    with pytest.raises(RuntimeError, match="must match the size of tensor b") as raised:
        y + engine.ones(2)
    told = "\n".join(raised.value.__notes__)
    assert "add was called with self [3], other [2]" in told and told.endswith("y + engine.ones(2)")


def test_gradient_reaches_an_input_where_one_root_leads_to_another() -> None:
    x = engine.tensor(2.0, requires_grad=True)
    first = x * 3.0
    second = -first
    for roots in ((first, second), (second, first)):
        (found,) = engine.autograd.grad(roots, x, [engine.tensor(2.0), engine.tensor(3.0)], retain_graph=True)
        assert found.item() == (3.0 if roots[0] is second else -3.0)


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_products_can_be_viewed_flat(create_graph: bool) -> None:
    x, w = engine.ones(5, 3), engine.ones(4, 3, requires_grad=True)
    v, b = engine.ones(3, 4, requires_grad=True), engine.ones(4, requires_grad=True)
    loss = (x @ w.t()).pow(2).sum() + engine.addmm(b, x, v).pow(2).sum()
    found = engine.autograd.grad(loss, [w, v, b], create_graph=create_graph)
    assert engine.cat([g.view(-1) for g in found]).shape == (28,)
