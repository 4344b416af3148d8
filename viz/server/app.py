"""The Dash application: its page, its callbacks and the guard in front of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from dash import Dash
from dash.exceptions import DependencyException
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from viz.server.callbacks.register import (
    Admit,
    Background,
    add_requests,
    answer_callbacks,
    at_once,
    register,
    register_background,
)
from viz.server.components.shell import shell
from viz.server.export.formats import Exports
from viz.server.front.local import LocalServer
from viz.server.front.page import front
from viz.server.front.share import Launch
from viz.server.http.compression import CompressionMiddleware
from viz.server.http.security import MAX_BODY, Application, Guard, headers, trusted_hosts
from viz.server.http.static import Assets, assets_folder
from viz.server.store import Store

log = logging.getLogger("backstep")

# The front door's module is not `async`: it runs once the cards that it looks for are there, however early it is here.
INDEX = """<!DOCTYPE html>
<html lang="en" data-theme="light" data-page="loading">
<head>
{%metas%}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{%title%}</title>
<link rel="icon" href="/ASSETS/icon.svg" type="image/svg+xml">
<script src="/ASSETS/js/panels/shell/early.js"></script>
{%css%}
<script type="module" src="/ASSETS/js/front/front.mjs"></script>
</head>
<body>
<noscript><p>Backstep plays in the browser and needs JavaScript.</p></noscript>
FRONT
{%app_entry%}
<div>{%config%}{%scripts%}{%renderer%}</div>
</body>
</html>"""


class Page(Dash):
    """Dash after the front door: if no program is requested, its scripts wait until the first picture is painted."""

    def __init__(self, store: Store, takes_files: bool, **options: Any) -> None:
        super().__init__(__name__, **options)
        self.store = store
        self.takes_files = takes_files

    def interpolate_index(self, **parts: str) -> str:  # type: ignore[override]  # Dash names each of them
        if "program" not in request.args:
            parts["scripts"] = f'<template id="held">{parts["scripts"]}'  # assets/js/front/start.mjs
            parts["renderer"] += "</template>"
        page: str = super().interpolate_index(**parts)  # type: ignore[no-untyped-call]
        return page.replace("FRONT", front(self.store.catalogue.programs(), self.takes_files), 1)


def build(
    store: Store, admit: Admit = at_once, local: LocalServer | None = None, background: Background | None = None,
    started: Launch | None = None,
) -> Dash:  # fmt: skip
    """The Dash app on this store, without the guard: `guarded` adds that for serving.

    `admit` gives each client a place among those waiting for a computation; `local` is the extra service of a server
    for one person; `background` is where a server for many keeps the results of long computations; `started` says how
    the server was started.
    """
    assets = Assets(assets_folder())
    app = Page(
        store,
        local is not None,
        assets_folder=str(assets_folder()),
        assets_url_path=assets.address,
        assets_path_ignore=["js"],
        index_string=INDEX.replace("ASSETS", assets.address),
        title="Backstep",
        update_title="",  # the title stays while the server is asked
        suppress_callback_exceptions=True,  # the grids are mounted later, and their callbacks are registered now
        compress=False,
        enable_mcp=False,
        use_pages=False,
        pages_folder="",
        add_log_handler=False,
        on_error=_on_error,
    )
    app.enable_dev_tools(debug=False, dev_tools_disable_version_check=True)
    app.layout = shell
    register(app, store, admit)
    exports = Exports(store)
    if background is not None:
        register_background(app, exports, background)
    answer_callbacks(app)
    add_requests(app, exports, admit, local, started or Launch())
    _harden(app.server)
    app.server.wsgi_app = CompressionMiddleware(app.server.wsgi_app, assets)
    return app


def guarded(app: Dash, allowed: Iterable[str] = ()) -> Application:
    """The WSGI application to serve: hosts, origins and content types are checked before anything else runs."""
    trusted = trusted_hosts(allowed)
    app.server.config["TRUSTED_HOSTS"] = sorted(trusted)
    return Guard(app.server.wsgi_app, trusted, headers(app.csp_hashes()))


def _harden(server: Flask) -> None:
    server.config["MAX_CONTENT_LENGTH"] = MAX_BODY

    @server.errorhandler(500)
    def failed(_error: Any) -> Response:
        return Response("Backstep could not answer; the details are in its terminal.\n", 500, mimetype="text/plain")

    @server.errorhandler(HTTPException)
    def refused(error: HTTPException) -> Response:
        return Response(f"{error.name}.\n", error.code or 500, mimetype="text/plain")

    @server.errorhandler(DependencyException)
    def unknown_file(_error: Any) -> Response:
        return Response("Backstep has no such file.\n", 404, mimetype="text/plain")


def _on_error(error: Exception) -> None:
    """Logs an error that no answer caught; the browser notices that no answer came and says so."""
    log.error("a callback failed", exc_info=error)
