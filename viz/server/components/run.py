"""The run view: a whole run at once. The browser fills it from the overview (viz/schema/run.py)."""

from __future__ import annotations

from dash import html

from viz.server.components.shared import also

KEYS = "Loss, and gradients by parameter and iteration. Arrows move the cell, Enter opens it in the graph, F folds."


def run_view() -> html.Section:
    grid = html.Div(
        [html.Div(id="run-labels"), html.Div(id="run-figure-place", **also(aria_hidden="true"))],
        id="run-grid",
        tabIndex=0,
        role="application",
        **also(aria_label=KEYS, aria_describedby="run-words"),
    )
    choice = html.Div(
        [
            html.Div(id="run-quantities", role="group", **also(aria_label="Quantity")),
            html.Span("per parameter and iteration", className="hint"),
            html.Span(id="run-cell"),
        ],
        id="run-choice",
    )
    body = [
        html.Div(id="run-head"),
        html.Div(id="run-findings"),
        html.Div([choice, grid], id="run-plot", hidden=True),
        html.P(id="run-words", className="unseen"),
    ]
    return html.Section(html.Div(body, id="run-body"), id="run", **also(aria_label="The whole run"))
