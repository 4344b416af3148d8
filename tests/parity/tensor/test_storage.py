"""Memory, geometry and in-place forms: errors, values, layout, versions and nodes are torch's."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.saying import listed

PARTS = """
z.diagonal() | z.split(2)[1] | z.chunk(2, 1)[0] | z.unfold(1, 2, 2) | z.as_strided((2, 2), (4, 1), 1)
z.tensor_split(2)[0] | z.narrow(0, 1, 2) | z.hsplit(2)[1] | z.adjoint() | z.moveaxis(0, 1) | z.view(torch.int32)
"""


@batches("expression", listed(PARTS))
def test_part_shares_memory_and_version_with_its_whole(expression: str) -> None:
    torch = pytest.importorskip("torch")
    seen = []
    for library in (engine, torch):
        z = library.arange(12.0).view(3, 4)
        part = eval(expression, {"z": z, "torch": library})  # noqa: S307 - expressions of this file
        z.mul_(2)
        told: tuple[Any, ...] = (part.tolist(), part._version, part.storage_offset(), tuple(part.stride()))
        if part.is_floating_point():
            part.add_(1)
            told += (z.tolist(), z._version)
        seen.append(told)
    assert seen[0] == seen[1]


def test_write_to_a_part_gives_the_whole_a_history() -> None:
    torch = pytest.importorskip("torch")
    found = []
    for library in (engine, torch):
        x = library.arange(1.0, 10.0).view(3, 3).requires_grad_()
        z = x * 1
        z.diagonal().mul_(3)
        z.as_strided((2,), (3,), 1).mul_(5)
        z.unfold(0, 1, 2).exp_()
        z.sum().backward()
        found.append((z.grad_fn.name().replace("torch::autograd::", ""), x.grad))
    assert found[0][0] == found[1][0]
    assert engine.allclose(found[0][1], engine.tensor(found[1][1].numpy()))
