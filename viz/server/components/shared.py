"""Small parts that several regions share."""

from __future__ import annotations

from typing import Any

from dash import html


def also(**attributes: Any) -> dict[str, Any]:
    """Keyword arguments for `data-` and `aria-` attributes, written with underscores.

    >>> also(aria_label="Undo", data_act="undo")
    {'aria-label': 'Undo', 'data-act': 'undo'}
    """
    return {name.replace("_", "-"): value for name, value in attributes.items()}


def separator(name: str, panel: str, orientation: str, label: str) -> html.Div:
    """A bar between two regions: assets/js/page/panels.mjs lets it be dragged and moved by keys."""
    aria = also(
        aria_orientation=orientation,
        aria_controls=panel,
        aria_label=label,
        aria_valuenow="50",
        aria_valuemin="0",
        aria_valuemax="100",
    )
    return html.Div(
        id=f"split-{name}",
        className=f"split {orientation}",
        role="separator",
        tabIndex=0,
        title="Drag, or move with the arrow keys; double-click to reset",
        **aria,
    )
