"""Writes to tensors whose elements share places: which torch allows, with what warning, and what backward says then."""

from __future__ import annotations

import itertools

import pytest

import engine
from engine.replay.replay import replay
from engine.trace.events import WarningGiven
from tests.parity.helpers.outcomes import program, same

TENSORS = {
    "rows": "(x * 1).expand(3, 3)",
    "a number": "(x * 1).sum().expand(3, 3)",
    "without gradient": "x.detach().expand(3, 3)",
    "by strides": "torch.arange(9.0).as_strided((3, 3), (3, 0))",
    "a part that shares nothing": "(x * 1).expand(3, 3)[0][None]",
    "windows": "torch.cat([x, x]).unfold(0, 3, 1)",
}
WRITES = (
    "masked_fill_(torch.tensor([True, False, True]), 5.0)",
    "masked_fill_(torch.tensor([True, False, True]), v)",
    "masked_fill_(torch.ones(2, 3, 3).bool(), 1.0)",
    "index_fill_(0, torch.tensor([0]), 5.0)",
    "index_fill_(1, torch.tensor([0]), v)",
    "index_put_((torch.tensor([0]),), v)",
    "index_put_((torch.tensor([0]),), v, accumulate=True)",
    "tril_()",
    "triu_(1)",
    "fill_(2.0)",
    "fill_(v)",
    "zero_()",
    "__setitem__((0, 0), v)",
    "__setitem__(torch.tensor([True, False, True]), 3.0)",
    "scatter_(0, torch.zeros(1, 3).long(), 5.0)",
    "index_copy_(0, torch.tensor([0]), torch.ones(1, 3))",
)
TEXT = """
v = torch.tensor(5.0, requires_grad=True)
written = {tensor}
written.{write}
seen.append((written, written.grad_fn, written._version))
if written.requires_grad:
    written.sum().backward({how})
r = seen, x.grad, v.grad
"""


@pytest.mark.parametrize(("tensor", "write"), list(itertools.product(TENSORS, WRITES)))
def test_shared_places_are_written_as_in_torch(tensor: str, write: str) -> None:
    same(program(TEXT.format(tensor=TENSORS[tensor], write=write, how="")))


def test_a_graph_of_their_gradient_is_refused_too() -> None:
    same(program("y = (x * 1).expand(3, 3)\ny.zero_()\ntorch.autograd.grad(y.sum(), x, create_graph=True)"))


@pytest.mark.filterwarnings("ignore:Use of")
@pytest.mark.parametrize("write", ["fill_(2.0)", "tril_()", "index_fill_(0, torch.tensor([0]), 5.0)"])
def test_such_a_write_is_done_again(write: str) -> None:
    with engine.record() as trace:
        program(TEXT.format(tensor=TENSORS["without gradient"], write=write, how=""))(engine)
    again = replay(trace)
    assert list(again.events) == list(trace.events)
    assert sum(isinstance(event, WarningGiven) for event in trace.events) == write.startswith("index")
