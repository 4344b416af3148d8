"""The left panel: the chapters of the story, and the program with the current expression marked."""

from __future__ import annotations

from dash import html

from viz.server.components.shared import also, separator


def left_panel() -> html.Aside:
    return html.Aside(
        [
            html.Section(id="story", className="story", **also(aria_label="Story")),
            separator("story", "story", "horizontal", "Height of the story"),
            html.Section(id="code", className="code-pane", **also(aria_label="Program")),
        ],
        id="left",
        className="panel",
        **also(aria_label="Story and program"),
    )
