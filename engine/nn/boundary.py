"""Backward hooks of modules: placeholder."""

from __future__ import annotations

from typing import Any

from .. import errors


class Boundary:
    """Placeholder."""

    def __init__(self, module: Any, full: Any, early: Any) -> None:
        raise errors.OutOfScope("full backward hooks of modules")

    def enter(self, args: Any) -> Any:
        """Placeholder."""
        return args

    def leave(self, result: Any) -> Any:
        """Placeholder."""
        return result
