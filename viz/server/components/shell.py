"""The app behind the front door: stores, header, and the player with its panels."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from viz.server.components.header import header
from viz.server.components.inspector import lazy_parts, right_panel
from viz.server.components.left_panel import left_panel
from viz.server.components.run import run_view
from viz.server.components.shared import also, separator

THEME: dict[str, Any] = {
    "fontFamily": "var(--font)",
    "fontFamilyMonospace": "var(--mono)",
    "primaryColor": "orange",
    "primaryShade": {"light": 9, "dark": 4},
    "defaultRadius": "md",
    "respectReducedMotion": True,
}


def shell() -> dmc.MantineProvider:
    return dmc.MantineProvider(
        [
            *stores(),
            html.A("To the steps", href="#timeline", className="skip"),
            header(),
            player(),
            html.Div(id="ended", role="alert", className="ended", hidden=True),
            html.Div(id="toast", role="status", className="toast", hidden=True),
        ],
        id="theme",
        theme=THEME,
        forceColorScheme="light",
    )


def stores() -> list[Any]:
    """`selection` is written by the browser, `details` by the server; `lazy` never changes.

    The page asks for slow results in `later-scene` and `later-file`, and gets the answers in `made-scene` and
    `made-file`; another number in `gone` says that nobody waits for them any more.
    """
    return [
        dcc.Store(id="selection"),
        dcc.Store(id="details"),
        *(dcc.Store(id=id) for id in ("later-scene", "made-scene", "later-file", "made-file", "gone")),
        dcc.Store(id="lazy", data=lazy_parts()),
    ]


def player() -> html.Div:
    return html.Div(
        [
            left_panel(),
            html.Main(
                [
                    html.Div(id="stage"),
                    html.Div(id="doubt", className="doubt", hidden=True),
                    html.Div(id="busy", className="busy", hidden=True, role="status"),
                    html.Div(id="notice", className="notice", hidden=True, **also(aria_live="assertive")),
                    separator("left", "left", "vertical", "Width of the left panel"),
                    separator("right", "right", "vertical", "Width of the right panel"),
                ],
                id="middle",
            ),
            right_panel(),
            run_view(),
            html.Footer(id="timeline", tabIndex="-1", **also(aria_label="Timeline")),
            html.Div(id="live", className="unseen", **also(aria_live="polite")),
        ],
        id="player",
    )
