"""Pages that are made from the code are as fresh as the code, and PyTorch's names are here or left out for a reason."""

from __future__ import annotations

import pytest

from docs import left_out, make_ops, make_reference
from docs.left_out import names, sorted_out
from engine.op import REGISTRY


def test_page_of_ops_is_what_the_registry_says() -> None:
    assert make_ops.FILE.read_text(encoding="utf-8") == make_ops.page(), "run python -m docs.make_ops"


def test_page_of_ops_names_every_op() -> None:
    text = make_ops.FILE.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in REGISTRY if not name.startswith("_doc"))


def test_names_that_are_missing_have_a_reason_and_reasons_a_name() -> None:
    _, unexplained, dead = sorted_out()
    assert unexplained == [], f"say why in {left_out.REASONS.name}, or add them"
    assert dead == [], f"these are here by now, or were never missing: take them out of {left_out.REASONS.name}"


def test_reference_is_what_the_code_says() -> None:
    assert make_reference.FILE.read_text(encoding="utf-8") == make_reference.page(), "run python -m docs.make_reference"


def test_reference_says_something_of_every_name() -> None:
    assert [line for line in make_reference.page().splitlines() if line.endswith("|  |")] == []


@pytest.mark.parity
def test_names_to_compare_with_are_names_of_torch() -> None:
    torch = pytest.importorskip("torch")
    gone = []
    for place, listed in names().items():
        holder = torch
        for part in place.split(".")[1:]:
            holder = getattr(holder, part)
        gone += [f"{place}.{name}" for name in listed if not hasattr(holder, name)]
    assert gone == []
