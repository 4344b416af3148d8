"""The left panel: what is going on.  The chapters of the story and the program with the current expression marked."""

from __future__ import annotations

from dash import html


def left_panel() -> html.Aside:
    return html.Aside(
        [
            html.Section(id="story", className="story", **{"aria-label": "Story"}),
            html.Section(id="code", className="code-pane", **{"aria-label": "Program"}),
        ],
        id="left",
        className="panel",
        **{"aria-label": "Story and program"},
    )
