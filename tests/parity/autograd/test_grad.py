"""autograd.grad: gradients that go to no leaf, of any order."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine import autograd
from tests.parity.helpers.outcomes import both, values


def test_grad_touches_no_leaf() -> None:
    x = engine.tensor(2.0, requires_grad=True)
    (first,) = autograd.grad(x * x * x, x, create_graph=True)
    (second,) = autograd.grad(first, x, create_graph=True)
    (third,) = autograd.grad(second, x)
    assert [t.item() for t in (first, second, third)] == [12, 12, 6]
    assert x.grad is None
    assert third.requires_grad is False


def test_grad_of_an_inner_tensor() -> None:
    for library in both():
        x = library.tensor([1.0, 2.0], requires_grad=True)
        y = x * x
        z = (y * y).sum()
        found = library.autograd.grad(z, [y, x])
        assert [values(f) for f in found] == [[2, 8], [4, 32]]


def test_unused_input_is_none_zero_or_an_error() -> None:
    for library in both():
        x, w = library.ones(1, requires_grad=True), library.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError, match="index 1 appears to not have been used in the graph"):
            library.autograd.grad((x * 2).sum(), [x, w])
        assert library.autograd.grad((x * 2).sum(), [x, w], allow_unused=True)[1] is None
        zeros = library.autograd.grad((x * 2).sum(), [x, w], materialize_grads=True)[1]
        assert values(zeros) == [0, 0]
        with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
            library.autograd.grad((x * 2).sum(), [library.ones(1)])


@pytest.fixture
def every_warning() -> Iterator[None]:
    """torch gives this warning once in a process; a test that ran before may have met it."""
    torch = pytest.importorskip("torch")
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.usefixtures("every_warning")
def test_create_graph_backward_warns_and_grows_the_gradient() -> None:
    for library in both():
        x = library.tensor(2.0, requires_grad=True)
        with pytest.warns(UserWarning, match="will create a reference cycle between the parameter and its gradient"):
            (x**3).backward(create_graph=True)
        assert x.grad.requires_grad
        x.grad.backward()
        assert x.grad.item() == 24
        x.grad = None


def test_warning_about_create_graph_names_the_line_of_the_program_however_backward_is_called() -> None:
    x = engine.ones(2, requires_grad=True)
    root = (x * x).sum()
    for call in (root.backward, functools.partial(autograd.backward, root)):
        with pytest.warns(UserWarning, match="reference cycle") as warned:
            call(create_graph=True)
        assert [one.filename for one in warned] == [__file__]
        x.grad = None


def test_batched_grad_gives_a_row_per_weighting() -> None:
    for library in both():
        x = library.tensor([1.0, 2.0], requires_grad=True)
        (rows,) = library.autograd.grad(x * x, x, library.eye(2), is_grads_batched=True)
        assert values(rows) == [[2, 0], [0, 4]]


@pytest.mark.parity
def test_gradient_that_passes_unchanged_is_the_very_one_that_was_given() -> None:
    torch = pytest.importorskip("torch")

    def told(library: Any) -> Any:
        x, given = library.ones(2, requires_grad=True), library.ones(2)
        seen: list[Any] = []
        y = x + 2
        y.register_hook(seen.append)
        (found,) = library.autograd.grad(y + 1, x, given)
        (other,) = library.autograd.grad(x * 2, x, given)
        (x + 1).backward(given)
        return [one is given for one in (found, *seen, other, x.grad)]

    assert told(engine) == told(torch) == [True, True, False, False]
