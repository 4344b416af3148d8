"""The commands: the calls of the program as a list, and one form in which a call is edited.

assets/js/panels/commands/commands.mjs writes the list; the form is of components, hidden until a command is chosen.
"""

from __future__ import annotations

from typing import Any

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import html

from viz.server.components.shared import also

PRESETS = (
    ("ones", "ones", "Every element counts once: the gradient of the sum"),
    ("one-hot", "one-hot", "Click a cell: only that element counts, one row of the Jacobian"),
    ("zeros", "zeros", "Every weight is 0, so the gradients that arrive are 0"),
    ("random", "random", "Weights between -1 and 1"),
    ("none", "none", "No gradient is passed: PyTorch fills in 1, which works only for a single number"),
    ("case", "as in the program", "The weights that the program passes"),
)

PICK = "Click a tensor of the graph, or go to it with Tab and press Enter; Escape cancels"
RETAIN = "Keep the saved tensors, so that backward can run through the graph again"
CREATE = "Record this backward too, so that it can be differentiated"


def commands_panel() -> html.Div:
    return html.Div(
        [
            html.Div(
                [
                    html.Div(id="command-list"),
                    html.Div(id="command-add", className="row wrap"),
                    html.Div(id="command-error"),
                ],
                id="command-calls",
            ),
            html.Div(command_form(), id="command-form", hidden=True, className="form"),
        ],
        id="commands",
        className="tab-body",
    )


def command_form() -> list[Any]:
    presets = [
        dmc.Button(
            text,
            variant="default",
            size="compact-sm",
            radius="xl",
            **also(data_preset=key, aria_label=f"{text}: {why}"),
        )
        for key, text, why in PRESETS
    ]
    return [
        html.H2(id="command-title"),
        html.Div(id="command-place-row", className="place-row"),
        _root_row(),
        _flags(),
        html.Div(id="command-values-label", className="label"),
        html.Div(presets, id="command-presets", className="row wrap"),
        html.Div(id="command-window", className="row wrap"),
        html.Div(id="command-grid-place"),
        html.Div(id="command-hint", className="hint"),
        html.Div(
            [
                dmc.Button("Run", id="command-run", size="sm", **also(data_act="command-run")),
                dmc.Button("Close", id="command-close", size="sm", variant="default", **also(data_act="command-close")),
            ],
            className="row foot",
        ),
    ]


def _root_row() -> html.Div:
    """The tensor that a backward call starts from."""
    return html.Div(
        [
            dmc.Select(id="command-root", label="Start from", size="sm", data=[], allowDeselect=False, searchable=True),
            html.Button(
                "On the graph",
                id="command-pick",
                className="btn",
                type="button",
                title=PICK,
                **also(data_do="pick", aria_label="Choose on the graph", aria_description=PICK, aria_pressed="false"),
            ),
        ],
        id="command-root-row",
    )


def _flags() -> html.Div:
    """The options of a backward call, and the leaves that it is restricted to."""
    return html.Div(
        [
            html.Div(
                [
                    dmc.Switch(
                        id="command-retain",
                        label="retain_graph",
                        size="sm",
                        wrapperProps={"title": RETAIN},
                        **also(aria_description=RETAIN),
                    ),
                    dmc.Switch(
                        id="command-create",
                        label="create_graph",
                        size="sm",
                        wrapperProps={"title": CREATE},
                        **also(aria_description=CREATE),
                    ),
                ],
                className="row wrap",
            ),
            dmc.MultiSelect(
                id="command-inputs",
                label="inputs",
                description="none chosen: all leaves",
                size="sm",
                data=[],
                clearable=True,
            ),
        ],
        id="command-flags",
        className="flags",
    )


def gradient_grid() -> dag.AgGrid:
    return dag.AgGrid(
        id="command-grid",
        columnDefs=[],
        rowData=[],
        defaultColDef={"editable": True, "sortable": False, "resizable": False, "suppressMovable": True},
        dashGridOptions={
            "rowHeight": 32,
            "headerHeight": 26,
            "animateRows": False,
            "stopEditingWhenCellsLoseFocus": True,
            "singleClickEdit": False,
            "enterNavigatesVerticallyAfterEdit": True,
        },
        className="ag-theme-backstep",
        style={"height": "80px", "width": "100%"},
    )
