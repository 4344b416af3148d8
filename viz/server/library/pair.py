"""A page with both recordings of a program, on the engine and on PyTorch, in step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, Template

from engine.trace.events import Trace
from viz.reading.comparison import Comparison
from viz.scene.reading import reading_of


@dataclass(frozen=True, slots=True)
class Pair:
    """The names of both programs, how they compare, and the steps of the first difference; () if they do the same, or
    if a recording is too long to be shown as a whole."""

    title: str
    programs: tuple[str, str]
    comparison: Comparison
    steps: tuple[int, ...] = ()


def steps_of(comparison: Comparison, traces: tuple[Trace, Trace]) -> tuple[int, ...]:
    """How many steps have run in each recording when the first difference has; all of one that has ended before."""
    if comparison.first is None:
        return ()
    counts = []
    for trace, event in zip(traces, comparison.first.events, strict=True):
        steps = reading_of(trace).line.steps
        here = (nr + 1 for nr, step in enumerate(steps) if event is not None and step.event >= event)
        counts.append(next(here, len(steps)))
    return tuple(counts)


def page(pair: Pair, assets: str) -> str:
    """The HTML of the page; `assets` is the folder of the browser's files."""
    sides = [{"name": name, "program": one} for name, one in zip(pair.comparison.names, pair.programs, strict=True)]
    text = pair.comparison.text
    return _template().render(title=pair.title, text=text, steps=pair.steps, sides=sides, assets=assets)


@cache
def _template() -> Template:
    folder = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=folder, autoescape=True, trim_blocks=True, lstrip_blocks=True).get_template("pair.html")
