"""Backstep's app: `viz.show(trace)` opens a recording in the browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.trace.events import Trace
    from viz.server.lesson.notebook import Cell
    from viz.server.server import RunningServer
    from viz.server.store import Catalogue

__all__ = ["show"]

_servers: list[tuple[Catalogue, RunningServer]] = []
"""The server that stays open beside a notebook or a prompt, with its programs: a further recording joins them."""


def show(
    trace: Trace, title: str = "trace", *, host: str = "127.0.0.1", port: int | None = None, browser: bool = True,
    block: bool | None = None,
) -> RunningServer | Cell | None:  # fmt: skip
    """Open a recording in the browser, with the gallery beside it; in a notebook, below the cell.

    In a script this serves until Ctrl-C and returns None.  At a prompt it returns at once: the result has `url` and
    `close()`, and the next call adds its recording to the same page.  `block` says otherwise than that.  In a notebook
    the result is the player itself, which a saved notebook keeps; with `block=False` it is a page of its own there too.
    Raises TypeError for what is no trace, `viz.server.server.PortTaken` where the port cannot be had.
    """
    # `import viz` alone must not load Dash: the engine's user may never show anything.
    from viz.cli import page
    from viz.server import programs, server
    from viz.server.revisions import StoreComputation
    from viz.server.store import Catalogue, Store

    _check(trace)
    if block is None and _is_notebook():
        from viz.server.lesson.notebook import cell

        return cell(trace, title)
    program = programs.from_trace(trace, title)
    stays = _is_interactive() if block is None else not block
    _servers[:] = [(catalogue, running) for catalogue, running in _servers if running.is_open]
    if stays and _servers and port is None:
        catalogue, running = _servers[0]
        running = running.at(page(catalogue.add(program)))
    else:
        catalogue = Catalogue(programs.gallery_programs())
        path = page(catalogue.add(program))
        store = Store(catalogue, StoreComputation())
        listening = server.bind(host, port)
        if not stays:
            server.serve(store, listening, path, browser=browser)
            return None
        running = server.start(store, listening, path)
        _servers.append((catalogue, running))
    print(
        f"Backstep is open at {running.url}\n"
        "It stops when this Python process ends, or when you call close() on the object that show() returned.",
        flush=True,
    )
    if browser:
        server.open_browser(running.url)
    return running


def _check(trace: Trace) -> None:
    from engine.trace.events import Trace as Kind

    if not isinstance(trace, Kind):
        raise TypeError(
            f"viz.show: expected a trace, found {type(trace).__name__}. "
            "Record one with `with backstep.record() as trace:`, or read a file with `backstep.open(path)`."
        )


def _is_interactive() -> bool:
    """Return whether somebody waits at a prompt or in a notebook, where a call that never returns is a trap."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or _ipython() is not None


def _is_notebook() -> bool:
    """Return whether this is the kernel of a notebook, which shows HTML below a cell."""
    return getattr(_ipython(), "kernel", None) is not None


def load_ipython_extension(shell: object) -> None:
    """`%load_ext backstep` gives a notebook the magic `%%backstep`, which records a cell and shows it below."""
    from viz.server.lesson.notebook import register

    register(shell)


def _ipython() -> object | None:
    """The notebook or IPython prompt that we run in, if any."""
    ask = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return ask() if ask is not None else None
