"""What functions of nn write in place: running statistics, and rows that are scaled to a largest norm."""

from __future__ import annotations

import numpy as np
import pytest

import engine


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_running_statistics_move_as_torchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    data = np.random.default_rng(0).normal(size=(5, 4, 3))
    kept = []
    for library in (engine, torch):
        mean, var = library.tensor(np.zeros(4)), library.tensor(np.ones(4))
        function = getattr(library.nn.functional, name)
        how = {"training": True} if name == "batch_norm" else {"use_input_stats": True}
        for part in (data, data + 1):
            function(library.tensor(part), mean, var, momentum=0.3, **how)
        kept.append((mean.numpy(), var.numpy()))
    np.testing.assert_allclose(kept[0], kept[1], rtol=1e-12)


@pytest.mark.parametrize("function", ["embedding", "embedding_bag"])
def test_rows_are_brought_to_the_largest_norm_in_place(function: str) -> None:
    torch = pytest.importorskip("torch")
    data = np.random.default_rng(0).normal(size=(5, 4))
    tables = []
    for library in (engine, torch):
        table = library.tensor(data, requires_grad=True)
        getattr(library.nn.functional, function)(library.tensor([[1, 3]]), table, max_norm=0.5)
        tables.append(table.detach().numpy())
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-12)
    assert np.linalg.norm(tables[0][1]) <= 0.5 < np.linalg.norm(tables[0][0])
