"""Pages that are made from the code are as fresh as the code."""

from __future__ import annotations

from docs.make_ops import FILE, page
from engine.op import REGISTRY


def test_page_of_ops_is_what_the_registry_says() -> None:
    assert FILE.read_text(encoding="utf-8") == page(), "run python -m docs.make_ops"


def test_page_of_ops_names_every_op() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in REGISTRY if not name.startswith("_doc"))
