"""Known differences of docs/differences.md that small programs show: each line is still true."""

from __future__ import annotations

from typing import Any

import pytest

import engine

torch = pytest.importorskip("torch")


def test_batched_gradients_are_a_stack_of_rows() -> None:
    def nodes(t: Any) -> str:
        x = t.ones(3, requires_grad=True)
        (rows,) = t.autograd.grad(x.sin(), x, t.ones(2, 3), is_grads_batched=True, create_graph=True)
        name: str = rows.grad_fn.name()
        return name

    assert (nodes(engine), nodes(torch)) == ("StackBackward0", "MulBackward0")


def test_weight_norm_is_its_formula() -> None:
    def edges(t: Any) -> list[str]:
        layer = t.nn.utils.parametrizations.weight_norm(t.nn.Linear(2, 2))
        node = layer(t.ones(1, 2)).grad_fn.next_functions[2][0].next_functions[0][0]
        return [node.name()]

    assert (edges(engine), edges(torch)) == (["MulBackward0"], ["WeightNormInterfaceBackward0"])


def test_lstm_is_its_formula() -> None:
    def name(t: Any) -> str:
        out: str = t.nn.LSTM(2, 2)(t.ones(1, 1, 2))[0].grad_fn.name()
        return out

    assert (name(engine), name(torch)) == ("StackBackward0", "MkldnnRnnLayerBackward0")


def test_vmap_runs_a_program_that_asks_for_values() -> None:
    def absolute(t: Any) -> Any:
        return t.vmap(lambda x: x if x > 0 else -x)(t.tensor([1.0, -2.0]))

    assert absolute(engine).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        absolute(torch)


def test_gradient_of_a_sum_is_not_a_view() -> None:
    def is_view(t: Any) -> bool:
        x = t.ones(3, requires_grad=True)
        view: bool = t.autograd.grad(x.sum(), x)[0]._is_view()
        return view

    assert (is_view(engine), is_view(torch)) == (False, True)
