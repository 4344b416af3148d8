"""Attributes that are no Python names."""

from __future__ import annotations

from typing import Any


def also(**attributes: Any) -> dict[str, Any]:
    """Keyword arguments for `data-` and `aria-` attributes, written with underscores.

    >>> also(aria_label="Undo", data_act="undo")
    {'aria-label': 'Undo', 'data-act': 'undo'}
    """
    return {name.replace("_", "-"): value for name, value in attributes.items()}
