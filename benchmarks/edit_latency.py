"""Claim: from an edit of `gradient` to the new revision, on the server: replay, reading, graph, layout, scene, JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.measure import percentile, seconds, settle, table
from engine.replay.program import Command, Edits, commands
from engine.trace.events import Trace
from viz.server.http.gzip_pieces import gzip
from viz.server.programs import gallery_programs
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

EDITS = 15


def main() -> None:
    store = Store(Catalogue(gallery_programs()), StoreComputation())
    settle()
    rows = []
    for program in store.catalogue.programs():
        base = store.revision(program.id, None)
        first = seconds(lambda base=base: scene(store, base, None))  # type: ignore[misc]  # mypy knows no such lambda
        edits = [edited(store.trace(base), number) for number in range(EDITS)]
        times = [seconds_of_edit(store, program.id, base, one) for one in edits if one is not None]
        if times:
            middle, slow = percentile(times, 0.5) * 1e3, max(times) * 1e3
            rows.append((program.id, f"{first * 1e3:.0f}", f"{middle:.1f}", f"{slow:.1f}"))
    table(("program", "first scene, ms", "edit to scene, median ms", "slowest ms"), rows)


def seconds_of_edit(store: Store, program: str, base: Any, edits: dict[str, Any]) -> float:
    """Seconds from the edits as they come from the browser to the scene as it goes to it."""
    return seconds(lambda: scene(store, store.revision(program, edits), base))


def scene(store: Store, revision: Any, previous: Any) -> bytes:
    return gzip([store.scene(revision, previous, {}, "")])


def edited(trace: Trace, number: int) -> dict[str, Any] | None:
    """Edits that give the first backward call another gradient, in the browser's form; None where there is no call."""
    listed = list(commands(trace))
    place = next(
        (i for i, command in enumerate(listed) if command.kind == "backward" and len(command.roots) == 1), None
    )
    if place is None:
        return None
    listed[place] = replace(listed[place], gradient=filled(shape_of(trace, listed[place]), 0.5 + number))
    return Edits({}, tuple(listed)).as_json()


def shape_of(trace: Trace, command: Command) -> tuple[int, ...]:
    made = (out for event in trace.events for out in getattr(event, "outputs", ()) if out.tensor == command.roots[0])
    return next((out.shape for out in made), ())


def filled(shape: tuple[int, ...], number: float) -> Any:
    """Nested lists of one number.

    >>> filled((1, 2), 0.5)
    [[0.5, 0.5]]
    """
    return [filled(shape[1:], number) for _ in range(shape[0])] if shape else number


if __name__ == "__main__":
    main()
