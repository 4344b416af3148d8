"""The bar on top: the position in the gallery, the current revision, and its buttons."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import html

from viz.layout.choice import NAMES
from viz.server.components.frame import frame_attributes
from viz.server.components.shared import also

LAYOUTS = {
    "layered": "Layered (Graphviz)",
    "layered-own": "Layered (Backstep)",
    "multipartite": "Multipartite",
    "spring": "Spring",
    "kamada_kawai": "Kamada-Kawai",
    "forceatlas2": "ForceAtlas2",
}
"""Names for people; a layout that is not listed here goes by its own name, with a capital."""
PICTURES = (
    ("export-svg", "whole", "Picture (SVG)"),
    ("export-png", "whole", "Picture (PNG)"),
    ("export-svg", "seen", "What I see (SVG)"),
    ("export-png", "seen", "What I see (PNG)"),
    ("export-svg", "slide", "Slide, 16:9 (SVG)"),
    ("export-png", "slide", "Slide, 16:9 (PNG)"),
    ("export-film", "webm", "This call as video (WebM)"),
    ("export-film", "gif", "This call as animation (GIF)"),
)
"""Actions of assets/js/panels/shell/exports.mjs, with the argument and the name of each."""
FILES = (
    ("html", "Lesson: one file that plays offline"),
    ("backstep", "Trace file (opens with backstep open)"),
    ("dot", "Graph for Graphviz (DOT)"),
    ("graphml", "Graph as GraphML"),
    ("csv", "Steps as a table (CSV)"),
    ("trace.json", "Steps for Perfetto (JSON)"),
)
"""The files that the server writes, by their endings (viz/server/export/formats.py)."""


def icon_button(act: str, label: str, icon: str, **more: Any) -> dmc.Tooltip:
    """A square button: `act` is what assets/js/panels/shell/header.mjs does, `icon` a class of assets/css/app.css."""
    button = dmc.ActionIcon(
        html.Span(className=f"icon icon-{icon}", **also(aria_hidden="true")),
        id=f"act-{act}",
        variant="default",
        size=32,
        radius="md",
        **also(data_act=act, aria_label=label),
        **more,
    )
    return dmc.Tooltip(button, label=label, openDelay=500, withinPortal=True)


def text_button(act: str, text: str, label: str) -> dmc.Button:
    attributes = also(data_act=act, aria_label=label)
    return dmc.Button(text, id=f"act-{act}", variant="default", size="compact-md", radius="md", **attributes)


def header() -> html.Header:
    return html.Header(
        [
            html.A(
                [
                    html.Span("◂", className="logo-mark", **also(aria_hidden="true")),
                    html.Span(" Backstep", className="logo-name"),
                ],
                href="/",
                className="logo",
                **also(data_act="home", aria_label="Backstep, to the gallery"),
            ),
            views(),  # before the title, whose length is not known before the first scene
            html.Nav(id="crumbs", className="crumbs", **also(aria_label="Where you are")),
            html.Span(className="space"),
            html.Div(id="sections", className="for-player", hidden=True, role="group", **also(aria_label="Iterations")),
            html.Span(id="live-bar", className="live-bar", **also(aria_live="polite")),
            html.Span(id="revision", className="revision"),
            tour_offer(),  # before the buttons, which stay where they are when it comes or goes
            html.Div(
                [
                    icon_button("undo", "Undo the edit (Ctrl+Z)", "undo", disabled=True),
                    icon_button("redo", "Redo the edit (Ctrl+Shift+Z)", "redo", disabled=True),
                    layout_menu(),
                    text_button("share", "Share", "Copy a link to this view"),
                    export_menu(),
                ],
                id="scene-acts",
                className="for-player",
            ),
            icon_button("theme", "Light or dark", "theme"),
            html.Div(
                [
                    icon_button("help", "Keys and gestures (?)", "help"),
                    icon_button("left", "Show or hide the left panel ([)", "left"),
                    icon_button("panel", "Show or hide the right panel (])", "panel"),
                ],
                className="for-player",
            ),
        ],
        id="top",
    )


def views() -> html.Div:
    """The two pictures of a long recording: the whole run, and the graph of one of its iterations."""
    buttons = [
        html.Button(
            text, id=f"view-{name}", type="button", title=title, **also(data_act=f"view-{name}", aria_pressed="false")
        )
        for name, text, title in (
            ("run", "Run", "The whole run: loss and gradients of all iterations (R)"),
            ("graph", "Graph", "The graph of one iteration (R)"),
        )
    ]
    return html.Div(buttons, id="views", className="for-player", hidden=True, role="group", **also(aria_label="View"))


def tour_offer() -> html.Div:
    """The tour, offered once and quietly: assets/js/panels/shell/tour.mjs says to whom."""
    return html.Div(
        [
            html.Button("Take the tour", className="link", type="button", **also(data_act="tour")),
            html.Button(
                "✕", className="quiet", type="button", **also(data_act="tour-decline", aria_label="No, thank you")
            ),
        ],
        id="tour-offer",
        hidden=True,
    )


def layout_menu() -> dmc.Menu:
    """The layouts by name, and folding of all groups at once."""
    layouts = [
        dmc.MenuItem(title, id=f"layout-{name}", **also(data_act="layout", data_value=name))
        for name, title in ((name, LAYOUTS.get(name, name.capitalize())) for name in NAMES)
    ]
    folds = [
        dmc.MenuItem("Fold all groups", **also(data_act="fold-all")),
        dmc.MenuItem("Unfold all groups", **also(data_act="unfold-all")),
    ]
    return dmc.Menu(
        [
            dmc.MenuTarget(text_button("layout-menu", "Layout", "How the graph is laid out")),
            dmc.MenuDropdown([*layouts, dmc.MenuDivider(), *folds]),
        ],
        position="bottom-end",
        width=280,
    )


def _picture(act: str, part: str) -> str:
    """The id of an entry of the menu: export-svg, export-svg-seen, export-gif."""
    return f"export-{part}" if act == "export-film" else act if part == "whole" else f"{act}-{part}"


def export_menu() -> dmc.Menu:
    """Pictures, and files; assets/js/panels/shell/exports.mjs says so if there is no graph to draw."""
    pictures = [
        dmc.MenuItem(text, id=_picture(act, part), **also(data_act=act, data_value=part))
        for act, part, text in PICTURES
    ]
    files = [
        dmc.MenuItem(text, id=f"export-{key}", **also(data_act="export-file", data_value=key)) for key, text in FILES
    ]
    scene = dmc.MenuItem("Scene as JSON", id="export-scene", **also(data_act="export-scene"))
    frame = dmc.MenuItem(
        "Copy an <iframe> for the lesson", id="copy-frame", **also(data_act="copy-frame", data_value=frame_attributes())
    )
    both = dmc.MenuItem("Run the same on PyTorch", id="on-torch", **also(data_act="on-torch"))
    return dmc.Menu(
        [
            dmc.MenuTarget(text_button("export", "Export", "Save this revision")),
            dmc.MenuDropdown([*pictures, dmc.MenuDivider(), *files, scene, frame, dmc.MenuDivider(), both]),
        ],
        position="bottom-end",
        width=280,
    )
