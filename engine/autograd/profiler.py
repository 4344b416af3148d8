"""torch.autograd.profiler: blocks and functions as in torch, which run as they are.  Nothing is timed here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Self

__all__ = ["emit_itt", "emit_nvtx", "profile", "record_function"]


class _Block:
    """A block, or a decorated function, that runs as it is."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return run


class profile(_Block):
    """A block that torch would time; here its tables are empty, because recording takes time too.

    Source: torch.autograd.profiler.profile.

    >>> with profile() as found:
    ...     _ = 1 + 1
    >>> len(found.key_averages()), found.key_averages().table()
    (0, 'Backstep times nothing.')
    """

    def key_averages(self, *_: Any, **__: Any) -> Times:
        """Return an empty table: nothing is timed."""
        return Times()

    def events(self) -> Times:
        """Return an empty table: nothing is timed."""
        return Times()

    def table(self, *_: Any, **__: Any) -> str:
        """Says that nothing was timed."""
        return Times().table()

    def total_average(self) -> Times:
        """Return an empty table: nothing is timed."""
        return Times()

    def export_chrome_trace(self, path: str) -> None:
        """Writes nothing."""

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes nothing."""


class Times(list[Any]):
    """An empty list of times."""

    def table(self, *_: Any, **__: Any) -> str:
        """Says that nothing was timed."""
        return "Backstep times nothing."

    __str__ = table

    def total_average(self) -> Self:
        """Return an empty table: nothing is timed."""
        return self


class record_function(_Block):
    """A block with a name for torch's tables.  Source: torch.autograd.profiler.record_function.

    >>> with record_function("forward"):
    ...     pass
    """


class emit_nvtx(_Block):
    """Marks for NVIDIA's profiler: none are written.  Source: torch.autograd.profiler.emit_nvtx.

    >>> with emit_nvtx():
    ...     pass
    """


class emit_itt(_Block):
    """Marks for Intel's profiler: none are written.  Source: torch.autograd.profiler.emit_itt.

    >>> with emit_itt():
    ...     pass
    """
