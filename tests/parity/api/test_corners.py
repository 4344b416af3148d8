"""Corners of tensors that scripts reach by accident: numbers that do not fit, byte masks, sizes that are added."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.saying import listed
from tests.parity.helpers.tables import assert_agreement

AGREE = """
torch.tensor(__import__('collections').deque([1, 2.5])) | torch.tensor(__import__('collections').UserList([1, 2]))
torch.tensor([__import__('collections').deque([1, 2])] * 2) | torch.tensor(x for x in [1]) | torch.tensor(b'ab')
torch.tensor(__import__('collections').deque([torch.tensor(1.0)])) | torch.tensor({1: 2}) | torch.tensor({1, 2})
torch.tensor(__import__('collections').deque([[1, 2], [3]])) | torch.tensor(__import__('array').array('d', [1.0]))
torch.tensor([1, 2], dtype=torch.uint8) + 1000 | torch.tensor([1, 2], dtype=torch.uint8) * -1
torch.tensor([1, 200], dtype=torch.uint8) > -1 | torch.tensor([1, 255], dtype=torch.uint8) < 1000
torch.tensor([1, 2], dtype=torch.int8) - 300 | torch.zeros(2, dtype=torch.uint8).fill_(-100)
torch.zeros(2, dtype=torch.uint8).masked_fill(torch.tensor([True, False]), -1)
torch.where(torch.tensor([True, False]), torch.tensor([1, 2], dtype=torch.uint8), -1)
torch.zeros(2, dtype=torch.int16).add_(70000) | torch.ones(2, dtype=torch.uint8).mul_(300)
torch.full((2,), 200, dtype=torch.int8) | torch.full((2,), -1, dtype=torch.uint8)
torch.full((1,), 2**40, dtype=torch.int32) | list(torch.tensor([])) | torch.unbind(torch.zeros(0, 2))
torch.cat([torch.tensor([]), torch.tensor([])], dim=1) | torch.add(torch.tensor([1]), torch.tensor([1]), alpha=1.5)
torch.sub(torch.tensor([1]), torch.tensor([1]), alpha=1.5)
torch.rsub(torch.tensor([1]), torch.tensor([1]), alpha=1.5) | torch.add(torch.tensor([1]), 1, alpha=True)
torch.add(torch.tensor([True]), torch.tensor([True]), alpha=True)
torch.tensor([1]).add_(torch.tensor([1]), alpha=0.5) | torch.add(torch.tensor([1.0]), torch.tensor([1]), alpha=0.5)
torch.tensor([1]).sub(2.0, alpha=0.5) | torch.ones(2, 3)[torch.tensor([1, 0], dtype=torch.uint8)]
torch.ones(2, 3)[torch.tensor(1, dtype=torch.uint8)].shape
torch.arange(6).reshape(2, 3)[torch.tensor([0, 1], dtype=torch.uint8), torch.tensor([1, 0, 1], dtype=torch.uint8)]
torch.ones(2)[0.5:] | torch.ones(2)['a':] | torch.ones(2)[:torch.tensor(1)] | torch.arange(3)[range(2)]
torch.zeros(2).masked_fill_(torch.tensor([1, 0]), 1.0)
torch.zeros(2).masked_fill(torch.tensor([1, 0], dtype=torch.uint8), 1.0) | torch.Size((1, 2)) + (3,)
(1,) + torch.Size((2,)) | torch.Size((1,)) * 2 | torch.Size((1,)) + [1] | torch.Size((1, 2))[1:]
torch.zeros(2).shape + torch.zeros(3).shape | type(torch.zeros(2).shape + (1,)).__name__
torch.zeros((np.int32(2), 3)).shape | torch.zeros(np.int64(2), 3).shape | torch.zeros(torch.tensor(2), 3).shape
torch.zeros(2, 3, out=torch.empty(2, 3)) | torch.ones(2, out=torch.empty(0))
torch.full((2,), 3.0, out=torch.empty(2)) | torch.empty(2, out=torch.empty(0)).shape
torch.nonzero(torch.ones(2), out=torch.empty(0, dtype=torch.int64)) | torch.zeros(1).new(size=(3, 4)).shape
torch.DoubleTensor.dtype | torch.LongTensor.dtype | torch.ones(2, 3).flip([0, True])
torch.arange(6).reshape(2, 3).flip(0, 1) | torch.unravel_index(torch.tensor([1, 5]), (2, 3))
torch.unravel_index(torch.tensor(4), (2, 3)) | torch.unravel_index(torch.tensor(4), 7)
torch.unravel_index(torch.tensor([1.0]), (2, 3)) | torch.unravel_index(torch.tensor([1]), (2, -3))
torch.exp_(torch.zeros(2)) | torch.clamp_(torch.arange(4), 1, 2) | torch.fill_(torch.zeros(2), 3)
torch.zero_(torch.ones(2)) | torch.sqrt_(torch.tensor([4.0])) | torch.round_(torch.tensor([1.26]), decimals=1)
torch.sigmoid_(torch.zeros(1)) | torch.abs_(3)
"""

DIMENSIONS = """
x.sum(True) | x.sum(1.0) | x.sum('a') | x.max(True) | x.min(1.0) | x.all(True) | x.prod(True) | x.mean(True)
x.sort(True) | x.argmax(True) | x.argmax(1.0) | x.cumsum(True) | x.cumsum(0.0) | x.softmax(True) | x.softmax(1.0)
x.topk(2, True) | x.kthvalue(1, True) | x.median(True) | x.select(True, 0) | x.transpose(True, 0)
x.unsqueeze(True) | x.squeeze(True)
x.flatten(True) | x.logsumexp(True) | x.amax(True) | x.gather(True, k) | x.index_select(True, i)
torch.cat([x], False) | torch.stack([x], True) | torch.nn.functional.softmax(x, True) | torch.ones(2, 3).sum((0, True))
x.sum(torch.tensor(1)) | x.narrow(1, 0, torch.tensor(2)) | x.narrow(1, 0, torch.tensor([2])) | x.amax(dim=None)
x.narrow(1, torch.tensor(1), 2) | x.narrow(1, 0, torch.tensor(2.5)) | x.flip() | torch.flip(x) | x.flip(())
x.narrow_copy(1, 0, torch.tensor(2)) | x.amin(None, True)
"""
"""A dimension is a whole number: not True and not 1.0, but a tensor of one whole number is accepted."""

WRITTEN = """
torch.zeros(2, dtype=float) | torch.tensor([1], dtype=float) | torch.arange(3, dtype=float) | i.to(float)
i.sum(dtype=float) | torch.zeros_like(i, dtype=float) | torch.full((2,), 1, dtype=float) | i.to(int).dtype | i.to(bool)
torch.nonzero(v, out=torch.empty(0)) | torch.nonzero(v, as_tuple=True, out=torch.empty(0, dtype=torch.long))
torch.unravel_index(i, torch.tensor([1, 2, 3])) | torch.unravel_index(i, (1, 2, 2.0)) | torch.unravel_index(i, 2.0)
torch.ones(2, 3).resize_([2, 4, 2**29, 2**29]) | torch.arange(6).reshape(2, 3).t().resize_(3, 2).stride()
torch.ones(4).index_put((torch.tensor([1, 0, 0, 1], dtype=torch.uint8),), torch.tensor([3.0, 4.0]))
torch.ones(4).index_put_((torch.tensor([0, 0, 0, 0], dtype=torch.uint8),), torch.zeros(0), accumulate=True)
torch.ones(2, 3).index_put_((torch.tensor([0, 1]),), torch.ones(1, 2, 3))
torch.full((2,), 1.5, out=torch.zeros(2, dtype=torch.long)) | torch.ones(2, out=torch.zeros(2, dtype=torch.uint8))
torch.eye(2, out=torch.zeros(2, 2, dtype=torch.uint8)) | torch.linspace(0, 2, 3, out=torch.zeros(3, dtype=torch.long))
torch.arange(0.0, 2.0, out=torch.zeros(2, dtype=torch.long)) | torch.linspace(0, 3, 4, out=torch.zeros(2, 2))
torch.randint(3, 4, (2,), out=torch.empty(0)) | torch.randint(3, 4, (2,), out=torch.empty(0, dtype=torch.long))
torch.rand(2, 3, out=torch.empty(0, dtype=torch.double)).dtype | torch.neg(i, out=torch.empty(0)) | torch.neg(x, out=d)
torch.floor(v, out=torch.empty(0).double()) | torch.clamp(v, 0, out=torch.empty(0).double())
torch.argmax(v, out=torch.empty(0).int()) | torch.mm(x, x.t(), out=torch.empty(0).double())
torch.all(v, out=torch.empty(0)) | torch.amax(v, out=d)
torch.tril(x, out=torch.empty(0).double()) | torch.signbit(v, out=torch.empty(0)) | torch.index_select(v, 0, i, out=d)
torch.exp(v, out=torch.empty(0).double()) | torch.sum(v, 0, out=torch.empty(0).double())
torch.tensor([torch.tensor([1]), 2]) | torch.tensor([[torch.tensor([1.5]), 2]]) | torch.tensor([v, 2])
torch.tensor([torch.tensor(1, dtype=torch.int16)]) | torch.tensor([2.0, torch.tensor(1.0, dtype=torch.double)])
torch.tensor([torch.tensor(1.0, dtype=torch.half)]) | torch.tensor([2.0, torch.tensor(1.0, dtype=torch.half)])
torch.tensor([[torch.tensor(1, dtype=torch.int32), torch.tensor(True)]]) | torch.tensor([torch.tensor(True), 1.5])
torch.zeros(3, dtype=torch.uint8).index_add(0, i, torch.tensor([5, 6, 7], dtype=torch.uint8), alpha=-1)
torch.Size(torch.ones(3)) | torch.Size(i) | torch.Size([1.5]) | torch.Size([True, 2]) | type(torch.Size(i)[0])
x.roll(1, dims=None) | torch.zeros(9).random_(0, None).shape | torch.ones(0, 2, 3).stride() | torch.ones(2, 0).stride()
"""
"""What is written where: dtypes named by Python, masks of bytes, sizes."""


@pytest.mark.parity
@pytest.mark.parametrize("expression", listed(DIMENSIONS + WRITTEN))
def test_dimension_or_dtype_that_is_a_number_of_python_is_read_as_torch_does(expression: str) -> None:
    assert_agreement(expression)


ASSIGNED = """
a = torch.arange(4.0); a[[0, 1]] = torch.ones(1, 1, 2)
a = torch.zeros(2, 3); a[True] = torch.ones(1, 1, 2, 3)
a = torch.zeros(2, 3); a[torch.tensor([0, 1])] = torch.ones(1, 2, 3)
a = torch.arange(4); a[a > -1] = torch.tensor([1.0, 2.0])
a = torch.arange(4); a[a > -1] = torch.tensor([1.0, 2.0, 3.0, 4.0])
a = torch.arange(6).view(2, 3); a[1] = a[1][2]
a = torch.arange(6).view(2, 3); a[1].copy_(a[1][2])
a = torch.arange(6.0); a.fill_(a[2])
a = torch.arange(6.0); a.add_(a[2])
"""


@pytest.mark.parity
@pytest.mark.parametrize("statements", ASSIGNED.strip().splitlines())
def test_what_is_assigned_is_cut_spread_and_refused_as_torch_does(statements: str) -> None:
    torch = pytest.importorskip("torch")
    assert after(statements, engine) == after(statements, torch)


def after(statements: str, library: Any) -> str:
    """What `a` is after the statements, or the first line of their error."""
    names: dict[str, Any] = {"torch": library}
    try:
        exec(statements, names)
    except (RuntimeError, IndexError) as error:
        return str(error).split("\n")[0]
    return repr(names["a"])


def test_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        engine.tensor(endless)


def test_narrow_by_a_tensor_has_a_gradient() -> None:
    x = engine.ones(4, requires_grad=True)
    (2 * x.narrow(0, 1, engine.tensor(2))).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0, 2, 2, 0]


@pytest.mark.parity
@batches("expression", listed(AGREE))
def test_corner_of_tensors_is_torchs(expression: str) -> None:
    assert_agreement(expression)
