"""The first page: every program with the question that it answers, in groups, with a search box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote

import dash_mantine_components as dmc
from dash import html

from viz.server.components.extra import also
from viz.server.store import Program

YOURS = "Yours"


def group_of(program: Program) -> str:
    """The heading under which a program stands: the crumb after `Gallery`."""
    crumbs = list(program.about.get("crumbs") or [])
    return str(crumbs[1]) if len(crumbs) > 1 else "Programs"


def gallery(programs: Sequence[Program]) -> html.Main:
    listed = [program for program in programs if not program.about.get("hidden")]
    ordered = sorted(listed, key=lambda program: group_of(program) != YOURS)  # stable: the rest keeps its order
    groups = [(name, list(members)) for name, members in groupby(ordered, key=group_of)]
    return html.Main(
        [
            html.Div([head(programs), *picture(programs)], className="gallery-top"),
            html.Div(
                [section(name, members) for name, members in groups] or [nothing_here()],
                id="gallery-groups",
            ),
            html.Div(id="gallery-empty", className="empty", hidden=True, **also(aria_live="polite")),
            html.P(
                [
                    "Your own script: ",
                    html.Code("backstep run script.py"),
                    " records it and opens it here; ",
                    html.Code("--as-torch"),
                    " runs a script that imports torch.",
                ],
                className="gallery-foot",
            ),
        ],
        id="gallery",
    )


def head(programs: Sequence[Program]) -> html.Div:
    return html.Div(
        [
            html.H1("Step through backpropagation, forwards and backwards"),
            html.P(
                "Every program here is a few lines of ordinary code. Open one, press Space and watch the "
                "gradient travel. Then change the gradient or a value, and see the result.",
                className="lead",
            ),
            *first_steps(programs),
            dmc.TextInput(
                id="gallery-search",
                placeholder="Search: accumulate, one-hot, inf, retain_graph …",
                size="md",
                debounce=80,
                **also(aria_label="Search the gallery"),
            ),
        ],
        className="gallery-head",
    )


def first_of(programs: Sequence[Program]) -> Program | None:
    """The first program of the gallery."""
    return next((program for program in programs if group_of(program) != YOURS), None)


def picture(programs: Sequence[Program]) -> list[html.A]:
    """The place of the first program's graph: assets/js/panels/shell/hero.mjs plays its first call there.

    It leads where the first link does, so that keys and screen readers pass it by.
    """
    first = first_of(programs)
    if first is None:
        return []
    where = f"/?program={quote(first.id)}"
    return [html.A(id="hero", href=where, tabIndex="-1", **also(data_start=first.id, aria_hidden="true"))]


def first_steps(programs: Sequence[Program]) -> list[html.A]:
    """The way in."""
    first = first_of(programs)
    if first is None:
        return []
    link = html.A(
        [
            "Start here: ",
            html.B(str(first.about.get("question", first.id))),
            html.Span("→", **also(aria_hidden="true")),
        ],
        href=f"/?program={quote(first.id)}",
        className="start",
        **also(data_start=first.id),
    )
    return [link]


def section(name: str, members: Sequence[Program]) -> html.Section:
    return html.Section(
        [html.H2(name), html.Div([card(member) for member in members], className="cards")], className="gallery-group"
    )


def card(program: Program) -> html.A:
    about: Mapping[str, Any] = program.about
    chapters = len(about.get("chapters") or [])
    marks = [html.Span("legacy", className="chip grey")] if about.get("legacy") else []
    fixed = ", and the fixed program" if about.get("other") else ""
    words = " ".join(str(about.get(key, "")) for key in ("title", "question", "words", "id"))
    return html.A(
        [
            html.Div([html.Span(about.get("title", program.id), className="card-title"), *marks], className="card-top"),
            html.P(about.get("question", ""), className="card-question"),
            *wrong(about),
            html.Span(f"{chapters} chapters{fixed}" if chapters > 1 else "", className="card-foot"),
        ],
        href=f"/?program={quote(program.id)}",
        className="card",
        **also(data_program=program.id, data_words=words.lower()),
    )


def wrong(about: Mapping[str, Any]) -> list[html.P]:
    """The message that a mistake gets, its first sentence; or what goes wrong without one."""
    if silence := about.get("silence"):
        return [html.P([html.B("No message. "), silence], className="card-says silent")]
    if not about.get("says"):
        return []
    kind, _, message = str(about["says"]).partition(": ")
    return [html.P([html.B(f"{kind}: "), message.partition(". ")[0].rstrip(".,")], className="card-says")]


def nothing_here() -> html.Div:
    return html.Div(
        [
            html.H2("No programs yet"),
            html.P(["Record one of yours: ", html.Code("backstep run script.py")]),
        ],
        className="empty",
    )
