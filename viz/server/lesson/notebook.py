"""A recording in a notebook: the player below the cell, where a saved notebook keeps it, and the magic for a cell."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from engine.arrays.session import slot
from engine.trace.events import Trace
from viz.record.block import Block
from viz.server import programs
from viz.server.components.frame import HEIGHT, frame_attributes
from viz.server.lesson.page import lesson
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store


@dataclass(frozen=True)
class Cell:
    """A lesson as a notebook shows it: `html` is the whole page, which runs in a frame and fetches nothing."""

    html: str
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        """The page inside the notebook."""
        return f'<iframe srcdoc="{escape(self.html)}" title="Backstep" {frame_attributes(self.height)}></iframe>'

    def __repr__(self) -> str:
        size = f"{len(self.html) / 1024:,.0f} kB"
        return f"Backstep: a player of {size}, which a notebook shows. .save('lesson.html') writes it."

    def save(self, path: str) -> None:
        """Writes the page into a file, which opens in any browser."""
        Path(path).write_text(self.html, "utf-8")


def cell(trace: Trace, title: str) -> Cell:
    """The player of a recording, for a notebook."""
    program = programs.from_trace(trace, title)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come from replays that nobody has asked for yet
        return Cell(lesson(Store(Catalogue([program]), StoreComputation()), program.id))


def register(shell: Any) -> None:
    """Gives an IPython shell the magic `%%backstep`, which runs a cell, records it, and shows the player below it."""

    def backstep(line: str, body: str) -> Cell | None:
        """%%backstep [TITLE]"""
        is_first = slot.active is None
        with Block() as trace:
            if is_first and slot.active is not None:
                slot.active.stacks.beyond = ()  # the cell with the magic is not part of the program
            result = shell.run_cell(body)
        if not result.success and not len(trace.events):
            return None
        return cell(trace, line.strip() or "cell")

    shell.register_magic_function(backstep, "cell", "backstep")
