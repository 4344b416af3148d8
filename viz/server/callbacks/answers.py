"""The answers to the browser's questions, as plain data: without dash, so that each can be tested in three lines.

Every answer repeats the request's number; the browser shows the answer to its latest question only.  Scenes and details
in it are packed: they were compressed when they were made.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from engine.trace.file.database import TraceFileError
from viz.server.http.gzip_pieces import DeflatedText, pack
from viz.server.library.rerun import Reruns
from viz.server.store import (
    NOT_RECOMPUTED,
    Json,
    Problem,
    Program,
    ResultPending,
    Revision,
    Store,
    bad_edits,
    unreadable,
)

log = logging.getLogger("backstep")

Turn = AbstractContextManager[None]
"""A place among those waiting for a computation; entering it raises Problem if there is none."""
AT_ONCE: Turn = nullcontext()
RUN_AGAIN = "run-again"
"""The kind of the problem of edits for which the page runs the program again."""


def scene_answer(store: Store, ask: Mapping[str, Any], turn: Turn = AT_ONCE) -> Json:
    """`{request, scene, watch, version, note}` for an ask with program, section, edits or revision, previous, folds and
    layout; the scene of the section `ahead`, else of the following one, is then made too, for the next ask.

    `{request, later}` if the scene has to be made in the background first, by `made_answer`.
    """

    def answer() -> Json:
        program = store.catalogue.find(_text(ask, "program"))
        revision = _revision(store, ask)
        view = _view(ask)
        with AT_ONCE if revision.is_base else turn:
            scene = _scene(store, program, revision, _previous(store, ask, revision), *view)
        ahead = ask.get("ahead")
        if revision.is_base and program.file is not None:
            following = ahead if ahead is not None else 1 + (revision.section or 0)
            store.ahead(store.revision(revision.program, None, section=following), *view)
        edits = None if revision.is_base else revision.edits
        return {
            "scene": scene,
            "edits": edits,
            "watch": program.watched,
            "version": program.version,
            "note": program.note,
        }

    return _safely(ask, answer)


def _scene(store: Store, program: Program, revision: Revision, previous: Revision | None, *view: Any) -> DeflatedText:
    """A scene; if only a run of the program can compute it, the Problem says so, and the page asks for that run."""
    try:
        return store.scene(revision, previous, *view)
    except Problem as problem:
        if problem.kind != NOT_RECOMPUTED or program.again is None:
            raise
        name = program.again.path.name
        raise Problem(RUN_AGAIN, f"Running {name} again …", problem.text) from problem


def rerun_answer(store: Store, reruns: Reruns, ask: Mapping[str, Any]) -> Json:
    """`{}` after the program of a revision has run again with its edits; then the scene can be requested."""

    turn = reruns.turn()

    def answer() -> Json:
        reruns.run(_revision(store, ask), turn)
        return {}

    return _safely(ask, answer)


def made_answer(store: Store, ask: Mapping[str, Any]) -> Json:
    """`{}` once the scene of a request is where all processes find it, else `{problem}`."""

    def answer() -> Json:
        revision = _revision(store, ask)
        store.scene(revision, _previous(store, ask, revision), *_view(ask))
        return {}

    return outcome(answer)


def outcome(answer: Callable[[], Json]) -> Json:
    """The answer, or the `problem` that prevents it."""
    reply = _safely({}, answer)
    del reply["request"]
    return reply


def details_answer(store: Store, ask: Mapping[str, Any], turn: Turn = AT_ONCE) -> Json:
    """`{request, revision, element, details}` for a selection; the program and edits let a forgotten one be remade."""

    def answer() -> Json:
        revision = _revision(store, ask)
        with AT_ONCE if revision.is_base else turn:
            return {"details": store.details(revision, _text(ask, "element"))}

    about = {"revision": ask.get("revision"), "element": ask.get("element")}
    return {**_safely(ask, answer), **about}


def run_answer(store: Store, program: str) -> Json:
    """`{overview}` of the newest recording of a program."""
    ask = {"program": program}
    return _safely(ask, lambda: {"overview": store.overview(_text(ask, "program"))})


def graphs_answer(store: Store, program: str) -> Json:
    """`{graphs}`: the problems in the first iterations of that recording."""
    ask = {"program": program}
    return _safely(ask, lambda: {"graphs": store.graphs(_text(ask, "program"))})


def live_answer(store: Store, program: str) -> Json:
    """The newest recording of a watched program, and the fault of the latest attempt."""
    try:
        newest = store.catalogue.find(program)
    except Problem:
        return {"version": None, "note": ""}
    return {"version": newest.version, "note": newest.note}


def pieces(answer: Any) -> Iterator[DeflatedText]:
    """The JSON of an answer in pieces: packed parts as they are, and the text around them."""
    text = ""
    for part in _parts(answer):
        if isinstance(part, str):
            text += part
        else:
            yield from (pack(text.encode(), level=1), part)
            text = ""
    yield pack(text.encode(), level=1)


def _parts(data: Any) -> Iterator[str | DeflatedText]:
    if isinstance(data, DeflatedText):
        yield data
    elif isinstance(data, dict) and any(isinstance(value, (dict, DeflatedText)) for value in data.values()):
        for place, (key, value) in enumerate(data.items()):
            yield f"{',' if place else '{'}{json.dumps(key)}:"
            yield from _parts(value)
        yield "}"
    else:
        yield json.dumps(data, separators=(",", ":"), allow_nan=False)


def _view(ask: Mapping[str, Any]) -> tuple[dict[str, bool], str]:
    folds = ask.get("folds") or {}
    return {str(key): bool(folds[key]) for key in folds}, str(ask.get("layout") or "")


def _previous(store: Store, ask: Mapping[str, Any], revision: Revision) -> Revision | None:
    before = ask.get("previous")
    if not isinstance(before, Mapping):
        return None
    try:
        return store.revision(revision.program, before.get("edits") or {}, None, revision.section)
    except Problem:  # such a revision was never shown
        return None


def _revision(store: Store, ask: Mapping[str, Any]) -> Revision:
    edits, named = ask.get("edits"), ask.get("revision")
    program, section = _text(ask, "program"), ask.get("section")
    if edits is None and isinstance(named, str) and named:
        return store.revision(program, None, named, section)
    if edits is not None and not isinstance(edits, Mapping):
        raise bad_edits("Edits must be an object with `leaves` and `commands`.")
    return store.revision(program, edits or {}, section=section)


def _text(ask: Mapping[str, Any], key: str) -> str:
    value = ask.get(key)
    if not isinstance(value, str) or not value:
        raise Problem("bad-ask", "This request cannot be read", f"It has no {key}.", [("Open the gallery", "/")])
    return value


def _safely(ask: Mapping[str, Any], answer: Callable[[], Json]) -> Json:
    request = ask.get("request")
    try:
        return {"request": request, **answer()}
    except ResultPending:
        return {"request": request, "later": True}
    except Problem as problem:
        return {"request": request, "problem": problem.as_json()}
    except TraceFileError as error:
        return {"request": request, "problem": unreadable(error).as_json()}
    except Exception as error:  # noqa: BLE001  # the boundary: said to the user in words, and logged in full
        log.error("an answer failed:\n%s", traceback.format_exc())
        return {"request": request, "problem": failure(error).as_json()}


def failure(error: BaseException) -> Problem:
    """The message for a fault of Backstep itself."""
    first = (str(error).strip().splitlines() or [""])[0]
    return Problem(
        "failed",
        "Backstep could not answer",
        f"{type(error).__name__}: {first}. This is a fault in Backstep, not in your program; the details are in the "
        "terminal that it was started in. The previous view is still there.",
        [("Open the gallery", "/")],
    )
