"""The graph behind each layer is torch's, node for node."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from tests.batches import batches
from tests.parity.nn.pairs import leaves, tensors, torch
from tests.parity.nn.test_layers import LAYERS, LOSSES
from tests.parity.nn.test_sequences import ATTENTION, RECURRENT, TRANSFORMERS

TABLES = {"layer": LAYERS, "loss": LOSSES, "recurrent": RECURRENT, "attention": ATTENTION, "transformer": TRANSFORMERS}


def names(node: Any) -> list[str | None]:
    """The names of all nodes from one on, depth first, as edges lead to them."""
    met: dict[int, Any] = {}
    found: list[str | None] = []
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in met:
            found.append(None if node is None else "met")
            continue
        met[id(node)] = node
        found.append(node.name())
        waiting.extend(after for after, _ in reversed(node.next_functions))
    return found


@batches("table, name", [(table, name) for table, rows in TABLES.items() for name in rows])
@pytest.mark.filterwarnings("ignore")  # what torch says of its quicker ways is compared elsewhere
def test_graph_of_a_layer_is_torchs(table: str, name: str) -> None:
    make, *args = TABLES[table][name]
    found = []
    for library in (engine, torch):
        module = make(library.nn, library) if table == "loss" else make(library.nn)
        out = module.double()(*tensors(library, args))
        found.append([names(leaf.grad_fn) for leaf in leaves(out)])
    assert found[0] == found[1]
