"""The front door as HTML.  It is there before any script: the app is loaded behind it (assets/js/front)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template

from viz.server.store import Program

YOURS = "Yours"


@cache
def _template() -> Template:
    folder = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=folder, autoescape=True, trim_blocks=True, lstrip_blocks=True).get_template("page.html")


def front(programs: Sequence[Program], takes_files: bool) -> str:
    """The HTML of the gallery with these programs, one's own first; it accepts files if the server does."""
    visible = [program for program in programs if not program.about.get("hidden")]
    ordered = sorted(visible, key=lambda program: group_of(program) != YOURS)  # stable: the rest keeps its order
    groups = [(name, [card(member) for member in members]) for name, members in groupby(ordered, key=group_of)]
    levels = list(dict.fromkeys(one["level"] for _, cards in groups for one in cards if one["level"]))
    ships = next((program for program in visible if group_of(program) != YOURS), None)
    return _template().render(groups=groups, levels=levels, start=ships and card(ships), takes_files=takes_files)


def group_of(program: Program) -> str:
    """The heading under which a program stands: the crumb after `Gallery`."""
    crumbs = list(program.about.get("crumbs") or [])
    return str(crumbs[1]) if len(crumbs) > 1 else "Programs"


def card(program: Program) -> dict[str, Any]:
    """The text on the card of a program, in the words of the template."""
    about: Mapping[str, Any] = program.about
    details = about.get("card") or {}
    kind, message = wrong(about)
    return {
        "id": program.id,
        "title": about.get("title", program.id),
        "question": about.get("question", ""),
        "learn": details.get("learn", ""),
        "level": details.get("level", ""),
        "kind": kind,
        "message": message,
        "chapters": len(about.get("chapters") or []),
        "has_fixed": bool(about.get("other")),
    }


def wrong(about: Mapping[str, Any]) -> tuple[str, str]:
    """The type and the first sentence of the error that a mistake raises; if it raises none, its effect.

    >>> wrong({"says": "RuntimeError: a leaf is written. It may not be."})
    ('RuntimeError', 'a leaf is written')
    """
    if silence := about.get("silence"):
        return "No message", str(silence)
    if not about.get("says"):
        return "", ""
    kind, _, message = str(about["says"]).partition(": ")
    return kind, message.partition(". ")[0].rstrip(".,")
