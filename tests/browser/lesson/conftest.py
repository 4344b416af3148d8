"""The lesson files of the gallery's programs, each made once."""

from __future__ import annotations

import functools

from viz.server import programs
from viz.server.lesson.page import lesson
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store


@functools.cache
def lesson_of(program: str) -> str:
    """The lesson of a program of the gallery: to foresee its edits, it is run again many times."""
    return lesson(_store(), program)


@functools.cache
def _store() -> Store:
    return Store(Catalogue(programs.gallery_programs()), StoreComputation())
