"""The callbacks of the app and its plain requests.  The state of programs and revisions is in the store."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dash import Dash, Input, Output
from dash.exceptions import PreventUpdate
from flask import Flask, Response, request
from pydantic import TypeAdapter

from viz.server.callbacks.answers import (
    AT_ONCE,
    Turn,
    details_answer,
    failure,
    graphs_answer,
    live_answer,
    made_answer,
    outcome,
    pieces,
    rerun_answer,
    run_answer,
    scene_answer,
)
from viz.server.callbacks.requests import (
    EXPORT,
    NAMED,
    RERUN,
    SCENE,
    DetailsAsk,
    FileAsk,
    MalformedRequest,
    SceneAsk,
    one_of,
    read,
    shape_of,
)
from viz.server.components.listeners import HEARD
from viz.server.export.formats import FORMATS, Exports
from viz.server.front.local import LocalServer, is_local
from viz.server.front.search import Search
from viz.server.front.share import Launch, network, share
from viz.server.front.uploads import refusal
from viz.server.http.compression import reads_gzip
from viz.server.http.gzip_pieces import gzip
from viz.server.http.security import TRACE_PATH
from viz.server.library.on_torch import on_torch
from viz.server.library.pair import Pair
from viz.server.library.pair import page as pair_page
from viz.server.library.rerun import Reruns
from viz.server.store import Json, Problem, ResultPending, Revision, Store

Admit = Callable[[str], Turn]
"""Gives a client, by its address, a place among those that wait for a computation."""


@dataclass(frozen=True)
class Background:
    """Where a server for many keeps the results of long computations: Dash's `manager` of background callbacks.

    The page's information about a job is signed with the `secret`, which all processes of the server know.
    """

    manager: Any
    secret: str


POLL = 500
"""Milliseconds after which a page asks again whether its job is done."""


def at_once(_client: str) -> Turn:
    """Nobody waits for a place: the server belongs to one person."""
    return AT_ONCE


def register(app: Dash, store: Store, admit: Admit = at_once) -> None:
    """Connects the page to the store; a client that needs a computation takes the place that `admit` gives it."""

    clientside: Callable[..., None] = app.clientside_callback

    @app.callback(Output("details", "data"), Input("selection", "data"), prevent_initial_call=True)
    def answer_details(selection: DetailsAsk) -> Any:
        return details_answer(store, selection, admit(request.remote_addr or ""))

    # The first call says that the page is built; it needs no module, because modules may be evaluated later than Dash.
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


IN_BACKGROUND = "made-scene.data", "made-file.data"
"""The outputs of the callbacks that run in the background."""
LEFT = "gone.id"
"""The output of the callback that Dash adds for visitors who no longer wait for a job."""


def register_background(app: Dash, exports: Exports, background: Background) -> None:
    """Registers long computations: the page starts them here if an answer says that its result comes later, and then
    repeats its request."""
    store = exports.store

    def in_background(output: str, trigger: str) -> Callable[..., Any]:
        decorator: Callable[..., Any] = app.callback(
            Output(output, "data"), Input(trigger, "data"), background=True, manager=background.manager, interval=POLL,
            cancel=[Input("gone", "data")], prevent_initial_call=True,
            on_error=lambda error: {"problem": (error if isinstance(error, Problem) else failure(error)).as_json()},
        )  # fmt: skip
        return decorator

    @in_background("made-scene", "later-scene")
    def make_scene(ask: SceneAsk | None) -> Any:
        return made_answer(store, ask or {})

    @in_background("made-file", "later-file")
    def make_file(ask: FileAsk | None) -> Any:
        return outcome(lambda: _file_answer(exports, ask or {}))

    app.server.secret_key = background.secret
    app._setup_server()  # type: ignore[no-untyped-call]  # Dash adds its callback for those who leave before the first request: here it has a shape too


def _file_answer(exports: Exports, ask: Any) -> Json:
    exports.content(ask["ending"], _revision_of(exports.store, ask), ask.get("folds") or {})
    return {}


def _revision_of(store: Store, ask: Any) -> Revision:
    return store.revision(ask["program"], ask.get("edits"), ask.get("revision"), ask.get("section"))


CALLBACKS = "/_dash-update-component"


def shape_and_functions(app: Dash) -> tuple[TypeAdapter[Any], dict[str, Callable[..., Any]]]:
    """The shapes of all requests that this app's callbacks send, and the functions that answer them, by their
    output."""
    entries = {output: one for output, one in app.callback_map.items() if "callback" in one}  # others run in browsers
    functions = {output: inspect.unwrap(one["callback"]) for output, one in entries.items()}
    if LEFT in functions:
        functions[LEFT] = left
    return one_of([shape_of(output, one, functions[output]) for output, one in entries.items()]), functions


def left(_times: int) -> None:
    """Has the type of the input of Dash's own function for the callback `LEFT`, which lacks annotations."""


def answer_callbacks(app: Dash) -> None:
    """Replaces Dash's answer by our own. Dash would run a callback on anything that it receives, and write the JSON of
    a scene again for each visitor. Requests about jobs still go to Dash."""
    shape, functions = shape_and_functions(app)
    dash = app.server.view_functions[CALLBACKS]

    def answer() -> Response:
        ask = read(shape, request.get_data())
        if ask["output"] in IN_BACKGROUND:
            return job_answer(ask["output"])
        if ask["output"] == LEFT:
            done: Response = dash()
            return done
        arguments = [one["value"] for one in (*ask["inputs"], *ask.get("state", ()))]
        component, _, prop = ask["output"].rpartition(".")
        return _packed({"multi": True, "response": {component: {prop: functions[ask["output"]](*arguments)}}})

    def job_answer(output: str) -> Response:
        for _ in range(2):  # a job may have ended between Dash's look for its result and that for the job
            try:
                response: Response = dash()
                return response
            except PreventUpdate:
                pass
        component, _, prop = output.rpartition(".")
        return _packed({"multi": True, "response": {component: {prop: {"problem": _stopped().as_json()}}}})

    app.server.view_functions[CALLBACKS] = answer


def _stopped() -> Problem:
    text = (
        "It took too long, or was stopped from outside; the machine may have run out of memory. The previous view is "
        "still there."
    )
    return Problem("ended", "This could not be computed", text, [("Open the gallery", "/")])


def add_requests(app: Dash, exports: Exports, admit: Admit, local: LocalServer | None, started: Launch) -> None:
    """Adds the requests that are not callbacks: a newer recording, a program as it was recorded, the overview of its
    run, a revision's file."""
    server: Flask = app.server
    _add_state(server, exports.store)
    _add_documents(server, exports.store, admit)
    _add_files(server, exports, admit, local, started)
    _add_comparison(server, exports.store, local, str(app.config.assets_url_path).strip("/"))
    _add_reruns(server, exports.store, local)


def _add_state(server: Flask, store: Store) -> None:
    """Adds the requests that ask whether the server runs, and whether a watched script has been recorded again."""

    @server.errorhandler(MalformedRequest)
    def misshapen(error: MalformedRequest) -> Response:
        return Response(f"Backstep's page sends no such request: {error}\n", 400, mimetype="text/plain")

    @server.get("/alive")
    def alive() -> Response:
        return Response(status=204, headers={"Cache-Control": "no-store"})

    @server.get("/health")
    def health() -> Response:
        return _json({"status": "ok", "programs": len(store.catalogue.programs())})

    @server.get("/live")
    def live() -> Response:
        return _json(live_answer(store, request.args.get("program", "")))


def _add_documents(server: Flask, store: Store, admit: Admit) -> None:
    """Adds the requests for scenes, the results of a search, and the overview of a run."""
    search = Search(store.catalogue.programs)

    @server.get("/scene")
    def scene() -> Response:
        return _packed(scene_answer(store, {"program": request.args.get("program", "")}))

    @server.post("/scene")
    def asked_scene() -> Response:
        ask = read(SCENE, request.get_data(cache=False))
        return _packed(scene_answer(store, ask, admit(request.remote_addr or "")))

    @server.get("/search")
    def searched() -> Response:
        return _json(search.find(request.args.get("q", "")))

    @server.get("/run")
    def run() -> Response:
        return _packed(run_answer(store, request.args.get("program", "")))

    @server.get("/run/graphs")
    def graphs() -> Response:
        return _packed(graphs_answer(store, request.args.get("program", "")))


def _add_files(server: Flask, exports: Exports, admit: Admit, local: LocalServer | None, started: Launch) -> None:
    """Adds the requests that open trace files, share a view, and save files."""

    @server.post(TRACE_PATH)
    def open_trace() -> Response:
        if local is None or not is_local(request.environ):
            return _json(refusal("Only the machine on which Backstep runs can open files here."))
        return _json(local.dropped.open(request.args.get("name", ""), request.get_data(cache=False)))

    @server.get("/share")
    def shared() -> Response:
        start = started if is_local(request.environ) else Launch()
        port = int(request.environ.get("SERVER_PORT") or 0)
        return _json(share(start, port, request.args.get("path", "/"), network()))

    @server.post("/export/<ending>")
    def export(ending: str) -> Response:
        ask = read(EXPORT, request.get_data(cache=False))
        kind = FORMATS.get(ending)
        if kind is None:
            return Response(f"Backstep saves no such file: {ending[:40]!r}.\n", 404, mimetype="text/plain")
        try:
            with admit(request.remote_addr or ""):
                body = exports.content(ending, _revision_of(exports.store, ask), ask.get("folds") or {})
        except ResultPending:
            return _json({"later": True}, 202)
        except Problem as problem:
            return _json({"problem": problem.as_json()}, 404)
        return Response(body, mimetype=kind.media)

    @server.post("/export/<ending>/progress")
    def progress(ending: str) -> Response:
        ask = read(EXPORT, request.get_data(cache=False))
        try:
            return _json({"replayed": exports.replayed(ending, _revision_of(exports.store, ask))})
        except Problem as problem:
            return _json({"problem": problem.as_json()}, 404)


def _add_comparison(server: Flask, store: Store, local: LocalServer | None, assets: str) -> None:
    """Adds the requests that run a program of the engine on PyTorch and show both recordings on one page."""
    pairs: dict[str, Pair] = {}

    @server.post("/on-torch")
    def same() -> Response:
        ask = read(NAMED, request.get_data(cache=False))
        if local is None or not is_local(request.environ):
            return _json(refusal("Only the machine on which Backstep runs can run programs here."), 404)
        try:
            return _json(on_torch(store, ask["program"], pairs))
        except Problem as problem:
            return _json({"problem": problem.as_json()}, 404)

    @server.get("/pair")
    def pair() -> Response:
        both = pairs.get(request.args.get("program", ""))
        if both is None:
            text = 'Backstep has no such pair: choose "Run the same on PyTorch" again.\n'
            return Response(text, 404, mimetype="text/plain")
        html = pair_page(both, assets)
        return Response(html, mimetype="text/html", headers={"Cache-Control": "no-store"})


def _add_reruns(server: Flask, store: Store, local: LocalServer | None) -> None:
    """Adds the requests that run a script again with an edit in its place, and that stop this run."""
    reruns = Reruns(store, local.seconds) if local is not None else None

    @server.post("/rerun")
    def again() -> Response:
        ask = read(RERUN, request.get_data(cache=False))
        if reruns is None or not is_local(request.environ):
            return _json(refusal("Only the machine on which Backstep runs can run programs here."), 404)
        return _json(rerun_answer(store, reruns, ask))

    @server.post("/rerun/stop")
    def stop() -> Response:
        read(NAMED, request.get_data(cache=False))
        if reruns is not None and is_local(request.environ):
            reruns.stop()
        return Response(status=204)


def _json(data: Any, status: int = 200) -> Response:
    return Response(json.dumps(data), status=status, mimetype="application/json", headers={"Cache-Control": "no-store"})


def _packed(answer: Any) -> Response:
    """An answer in the pieces in which it was compressed; as plain text for clients that do not accept gzip."""
    parts = list(pieces(answer))
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
    if reads_gzip(request.environ):
        return Response(gzip(parts), mimetype="application/json", headers={**headers, "Content-Encoding": "gzip"})
    return Response(b"".join(piece.text for piece in parts), mimetype="application/json", headers=headers)
