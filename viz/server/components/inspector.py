"""The right panel: three tabs, whose contents the browser fills from the scene and the details.

MathJax, Plotly and the grids weigh megabytes; they are described in `lazy_parts` and mounted when first needed.
"""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from viz.server.components.commands import commands_panel, gradient_grid
from viz.server.components.events import events_grid
from viz.server.components.shared import also


def right_panel() -> html.Aside:
    tabs = dmc.Tabs(
        [
            dmc.TabsList(
                [
                    dmc.TabsTab("Inspect", value="inspect"),
                    dmc.TabsTab(["Commands ", html.Span(id="commands-count")], value="commands"),
                    dmc.TabsTab("Events", value="events"),
                ]
            ),
            html.Button(
                "i",
                className="what at-tabs",
                type="button",
                title="What am I looking at? (I)",
                **also(data_what="right", aria_haspopup="dialog", aria_label="What am I looking at? (this tab)"),
            ),
            dmc.TabsPanel(inspect_panel(), value="inspect"),
            dmc.TabsPanel(commands_panel(), value="commands"),
            dmc.TabsPanel(events_panel(), value="events"),
        ],
        id="tabs",
        value="inspect",
        keepMounted=True,
        activateTabWithKeyboard=True,
    )
    return html.Aside([tabs], id="right", className="panel", **also(aria_label="Inspector, commands and events"))


def inspect_panel() -> html.Div:
    return html.Div(
        [
            html.Div(id="inspect-head"),
            html.Div(id="inspect-formula-now", className="formula", hidden=True, role="math"),
            html.Div(id="inspect-terms"),
            html.Div(id="inspect-formula", className="typesetting", **also(aria_hidden="true")),
            html.Div(id="inspect-body"),
            html.Div(id="inspect-figure-bar"),
            html.Div(id="inspect-figure"),
        ],
        id="inspect",
        className="tab-body",
    )


def events_panel() -> html.Div:
    return html.Div(
        [
            dmc.TextInput(
                id="events-filter",
                placeholder="Filter: a name, a tensor, a line …",
                size="sm",
                debounce=150,
                **also(aria_label="Filter the events"),
            ),
            html.Div(id="events-note", className="hint"),
            html.Div(id="events-grid-place", className="grid-place"),
        ],
        id="events",
        className="tab-body events",
    )


def lazy_parts() -> dict[str, Any]:
    """Component descriptions by the id of the place that they go into."""
    parts = {
        "inspect-formula": dcc.Markdown(id="formula-tex", mathjax=True, className="tex"),
        "inspect-figure": dcc.Graph(
            id="figure", config={"displaylogo": False, "responsive": True, "displayModeBar": False}, className="figure"
        ),
        "run-figure-place": dcc.Graph(
            id="run-figure", config={"displaylogo": False, "responsive": True, "displayModeBar": False}
        ),
        "events-grid-place": events_grid(),
        "command-grid-place": gradient_grid(),
    }
    return {place: part.to_plotly_json() for place, part in parts.items()}
