"""Indexing by tensors beyond the sample rows: errors, values and nodes are torch's."""

from __future__ import annotations

import pytest

import engine


@pytest.mark.parametrize("write", ["scatter", "scatter_add", "scatter_reduce"])
def test_gradient_of_a_source_larger_than_its_index_is_refused(write: str) -> None:
    torch = pytest.importorskip("torch")
    said = []
    for library in (engine, torch):
        src = library.ones(3, 4, requires_grad=True)
        more = ("sum",) if write == "scatter_reduce" else ()
        made = getattr(library.zeros(3, 4), write)(0, library.tensor([[0, 2, 1, 1]]), src, *more)
        with pytest.raises(RuntimeError, match="returned an invalid gradient at index 1") as raised:
            made.sum().backward()
        said.append(str(raised.value))
    assert said[0] == said[1]
