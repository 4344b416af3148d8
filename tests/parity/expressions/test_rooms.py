"""Room by room, beyond the sample rows: errors, values, layout, versions and nodes are torch's."""

from __future__ import annotations

import pytest

from tests.batches import batches
from tests.parity.expressions import creation, products, scatter, shape, storage
from tests.parity.helpers.saying import listed
from tests.parity.helpers.surface import same_error, same_graph, same_tensors

ROOMS = {"creation": creation, "products": products, "scatter": scatter, "shape": shape, "storage": storage}


def of_rooms(table: str) -> list[tuple[str, str]]:
    """(room, expression) for each expression of the tables of one name; the room makes a failure easy to place."""
    return [(name, expression) for name, room in ROOMS.items() for expression in listed(getattr(room, table))]


@batches("room, expression", of_rooms("ERRORS"), " ".join)
def test_error_is_torchs_in_its_first_line(room: str, expression: str) -> None:
    same_error(expression, pytest.importorskip("torch"))


@batches("room, expression", of_rooms("VALUES"), " ".join)
def test_values_layout_and_views_are_torchs(room: str, expression: str) -> None:
    same_tensors(expression, pytest.importorskip("torch"))


@batches("room, expression", of_rooms("GRAPHS"), " ".join)
def test_nodes_and_gradients_are_torchs(room: str, expression: str) -> None:
    same_graph(expression, pytest.importorskip("torch"))
