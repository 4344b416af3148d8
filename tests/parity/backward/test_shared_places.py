"""Writes into memory that is shared: with the tensor that is read, among a tensor's own elements, among dual numbers.

And what was saved for backward and has another shape by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from tests.parity.helpers.saying import first_sentence, said

Action = Callable[[Any], Any]


def _read_and_written(call: Callable[[Any, Any, Any], Any]) -> Action:
    return lambda library: call(library, library.arange(6.0), library.tensor([5, 4, 3, 2, 1, 0]))


def _index_is_written(call: Callable[[Any], Any]) -> Action:
    return lambda library: call(library.arange(3))


OVERLAPS: dict[str, Action] = {
    "index_add_": _read_and_written(lambda library, x, i: x.index_add_(0, i, x)),
    "index_copy_": _read_and_written(lambda library, x, i: x.index_copy_(0, i, x)),
    "index_put_": _read_and_written(lambda library, x, i: x.index_put_((i,), x)),
    "put_": _read_and_written(lambda library, x, i: x.put_(i, x)),
    "scatter_": _read_and_written(lambda library, x, i: x.scatter_(0, i, x)),
    "scatter_add_": _read_and_written(lambda library, x, i: x.scatter_add_(0, i, x)),
    "a part": _read_and_written(lambda library, x, i: x[:3].index_copy_(0, library.tensor([0, 1]), x[1:3])),
    "masked_fill_ with its element": _read_and_written(lambda library, x, i: x.masked_fill_(x > 2, x[0])),
    "index_fill_ with its element": _read_and_written(lambda library, x, i: x.index_fill_(0, i[:2], x[0])),
    "add_": _read_and_written(lambda library, x, i: x.add_(x)),
    "the index of index_copy_": _index_is_written(lambda i: i.index_copy_(0, i, i * 2)),
    "the index of index_fill_": _index_is_written(lambda i: i.index_fill_(0, i, 5)),
    "the index of index_put_": _index_is_written(lambda i: i.index_put_((i,), i * 2)),
    "the index of put_": _index_is_written(lambda i: i.put_(i, i * 2)),
    "the index of scatter_": _index_is_written(lambda i: i.scatter_(0, i, i * 2)),
    "fill_ of an expanded tensor": lambda library: library.zeros(1).expand(3).fill_(2.0),
    "fill_ of an expanded number": lambda library: library.tensor(0.0).expand(2, 2).fill_(2.0),
    "zero_ of an expanded row": lambda library: library.ones(2, 1).expand(2, 3).zero_(),
    "fill_ by a tensor": lambda library: library.zeros(1).expand(3).fill_(library.tensor(2.0)),
    "a slice of an expanded tensor": lambda library: library.zeros(1).expand(3).__setitem__(slice(None), 7.0),
    "add_ to an expanded tensor": lambda library: library.zeros(1).expand(3).add_(1),
}  # fmt: skip


@pytest.mark.parity
@pytest.mark.parametrize("case", OVERLAPS)
def test_writes_into_what_is_read_are_refused_where_torch_refuses_them(case: str) -> None:
    torch = pytest.importorskip("torch")
    assert said(engine, OVERLAPS[case]) == said(torch, OVERLAPS[case])


RULES: dict[str, Callable[[Any], Any]] = {
    "mul": lambda h: h * h, "pow": lambda h: h**3, "sin": lambda h: h.sin(), "log": lambda h: h.log(),
    "clamp": lambda h: h.clamp(0, 2), "prod": lambda h: h.prod(0), "square": lambda h: h.square(),
    "abs": lambda h: h.abs(),
}  # fmt: skip


@pytest.mark.parity
@pytest.mark.parametrize("rule", RULES)
def test_saved_value_of_another_shape_is_told_in_torchs_words(rule: str) -> None:
    torch = pytest.importorskip("torch")

    def told(library: Any) -> Any:
        h = library.ones(3, 3, requires_grad=True) * 1
        out = RULES[rule](h)
        h.data = library.ones(4, 5)
        out.sum().backward()

    (ours, _), (theirs, _) = said(engine, told), said(torch, told)
    assert (ours[0], first_sentence(ours[1])) == (theirs[0], first_sentence(theirs[1]))


def test_what_code_of_the_users_raises_stays_as_it_is() -> None:
    def add(gradient: Any) -> Any:
        try:
            np.ones(2) + np.ones(3)
        except ValueError as error:
            raise ValueError(str(error)) from KeyError("mine")

    x = engine.ones(2, requires_grad=True)
    x.register_hook(add)
    with pytest.raises(ValueError, match="operands could not be broadcast") as raised:
        x.sum().backward()
    assert isinstance(raised.value.__cause__, KeyError)


def _row(library: Any, dual: Any) -> Any:
    dual[0].mul_(3)
    return dual


def _zeros(library: Any, dual: Any) -> Any:
    dual[0] = 0
    return dual


def _filled(library: Any, dual: Any) -> Any:
    dual[1].fill_(5)
    return dual


def _transposed(library: Any, dual: Any) -> Any:
    view = dual.t()
    view[0] = view[1] * 2
    return dual, view


def _view_made_before(library: Any, dual: Any) -> Any:
    view = dual.view(4)
    dual.mul_(2)
    return dual, view


def _plain_base(library: Any, dual: Any) -> Any:
    base = library.zeros(3)
    first, second = base[:2], base[1:]
    first.copy_(dual[0])
    return base, first, second


def _plain_view(library: Any, dual: Any) -> Any:
    base = library.zeros(4)
    view = base.view(2, 2)
    base.copy_(dual.view(4))
    return base, view


def _primal(library: Any, dual: Any) -> Any:
    primal = library.zeros(2, 2)
    made = library.autograd.forward_ad.make_dual(primal, library.ones(2, 2))
    made.add_(1)
    return made, primal


WRITES = (_row, _zeros, _filled, _transposed, _view_made_before, _plain_base, _plain_view, _primal)


@pytest.mark.parity
@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__.strip("_"))
def test_writes_of_dual_numbers_reach_all_that_share_their_memory(write: Callable[[Any, Any], Any]) -> None:
    torch = pytest.importorskip("torch")

    def duals(library: Any) -> Any:
        ad = library.autograd.forward_ad
        with ad.dual_level():
            dual = ad.make_dual(library.arange(4.0).reshape(2, 2), library.ones(2, 2) * 2)
            made = write(library, dual)
            parts = [ad.unpack_dual(one) for one in (made if isinstance(made, tuple) else (made,))]
            return [(p.primal.tolist(), None if p.tangent is None else p.tangent.tolist()) for p in parts]

    assert said(engine, duals)[0] == said(torch, duals)[0]  # torch warns of itself at the first one


CASTS = ("double", "float", "half", "long", "int", "short", "char", "byte", "cpu")


@pytest.mark.parity
@pytest.mark.parametrize("cast", CASTS)
def test_packed_sequence_is_cast_as_torchs(cast: str) -> None:
    torch = pytest.importorskip("torch")

    def made(library: Any) -> Any:
        packed = library.nn.utils.rnn.pack_sequence([library.ones(3), library.ones(2)])
        other = getattr(packed, cast)()
        return str(other.data.dtype), other is packed, packed.is_cuda, packed.is_pinned()

    assert made(engine) == made(torch)
