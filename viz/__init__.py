"""Backstep's app: `viz.show(trace)` opens a recording in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.trace import Trace
    from viz.server import Running

__all__ = ["show"]


def show(
    trace: Trace,
    title: str = "trace",
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = True,
    block: bool = True,
) -> Running | None:
    """Open a recording in the browser, with the gallery beside it.

    Serves until Ctrl-C, or (`block=False`, for a notebook) from a thread: the result then has `url` and `close()`.
    Raises `viz.server.PortTaken` where the port cannot be had.
    """
    from viz import programs, server  # `import viz` alone must not load Dash: the engine's user may never show anything
    from viz.cli import page
    from viz.revisions import Computed
    from viz.store import Catalogue, Store

    catalogue = Catalogue(programs.gallery_programs())
    path = page(catalogue.add(programs.from_trace(trace, title)))
    store = Store(catalogue, Computed())
    listening = server.bind(host, port)
    if not block:
        running = server.start(store, listening, path)
        if browser:
            server.open_browser(running.url)
        return running
    server.serve(store, listening, path, browser=browser)
    return None
