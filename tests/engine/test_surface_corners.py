"""Corners of tensors that scripts reach by accident: numbers that do not fit, byte masks, sizes that are added."""

from __future__ import annotations

import pytest

from tests.engine.saying import listed
from tests.engine.tables import assert_agreement

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


@pytest.mark.parity
@pytest.mark.parametrize("expression", listed(AGREE))
def test_corner_of_tensors_is_torchs(expression: str) -> None:
    assert_agreement(expression)
