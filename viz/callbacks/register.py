"""The callbacks of the app and its plain requests.  The only stateful thing that they reach is the store."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, no_update
from flask import Flask, Response, request

from engine.tracefile import save
from viz.callbacks.answers import details_answer, live_answer, scene_answer
from viz.store import Problem, Store

# What the page tells its own modules: (input, property, function in the namespace `backstep` of dash_clientside).
HEARD = (
    ("scene", "data", "scene"),
    ("details", "data", "details"),
    ("tabs", "value", "tab"),
    ("gallery-search", "value", "gallerySearch"),
    ("events-filter", "value", "eventsFilter"),
    ("events-grid", "cellClicked", "eventClicked"),
    ("events-grid", "virtualRowData", "eventsReady"),
    ("command-root", "value", "commandRoot"),
    ("command-retain", "checked", "commandRetain"),
    ("command-create", "checked", "commandCreate"),
    ("command-inputs", "value", "commandInputs"),
    ("command-grid", "cellValueChanged", "commandCell"),
    ("command-grid", "cellClicked", "commandClicked"),
)


def register(app: Dash, store: Store) -> None:
    """Connects the page to the store."""

    clientside: Callable[..., None] = app.clientside_callback

    @app.callback(Output("scene", "data"), Input("ask", "data"), prevent_initial_call=True)
    def answer_scene(ask: Any) -> Any:
        return scene_answer(store, ask) if isinstance(ask, dict) else no_update

    @app.callback(Output("details", "data"), Input("selection", "data"), prevent_initial_call=True)
    def answer_details(selection: Any) -> Any:
        return details_answer(store, selection) if isinstance(selection, dict) else no_update

    # The first call says that the page stands; it needs no module, because modules may be evaluated later than Dash.
    clientside(
        "function(parts) { window.backstepParts = parts; document.dispatchEvent(new Event('backstep:page')); }",
        Input("lazy", "data"),
    )
    for component, prop, function in HEARD:
        clientside(
            f"function(value) {{ const hear = (window.backstepHears || {{}}).{function}; if (hear) hear(value); }}",
            Input(component, prop),
            prevent_initial_call=True,
        )


def add_requests(app: Dash, store: Store) -> None:
    """The requests that are no callbacks: a newer recording, a program as it was recorded, a revision's file."""
    server: Flask = app.server

    @server.get("/live")
    def live() -> Response:
        return _json(live_answer(store, request.args.get("program", "")))

    @server.get("/scene")
    def scene() -> Response:
        return _json(scene_answer(store, {"program": request.args.get("program", "")}))

    @server.post("/export/trace")
    def export_trace() -> Response:
        ask = request.get_json(silent=True)
        if not isinstance(ask, dict):
            return _json({"problem": {"title": "This question cannot be read", "text": "It is not JSON."}}, 400)
        try:
            revision = store.revision(str(ask.get("program", "")), ask.get("edits"), ask.get("revision"))
            trace = store.trace(revision)
        except Problem as problem:
            return _json({"problem": problem.as_json()}, 404)
        with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
            path = Path(folder) / "trace.backstep"
            save(trace, str(path))
            body = path.read_bytes()
        return Response(body, mimetype="application/vnd.sqlite3")


def _json(data: Any, status: int = 200) -> Response:
    return Response(json.dumps(data), status=status, mimetype="application/json", headers={"Cache-Control": "no-store"})
