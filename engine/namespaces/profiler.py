"""torch.profiler: torch's blocks, which run unchanged.  Nothing is timed here."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from ..autograd import profiler
from ..autograd.profiler import record_function

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(Enum):
    """The activities that torch can time."""

    CPU = 0
    CUDA = 2


class ProfilerAction(Enum):
    """The actions of torch in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class profile(profiler.profile):
    """A block that torch would time, step by step; `on_trace_ready` is not called, because there are no timings.

    Source: torch.profiler.profile.

    >>> with profile(activities=[ProfilerActivity.CPU]) as found:
    ...     found.step()
    """

    def start(self) -> None:
        """Begins nothing."""

    def stop(self) -> None:
        """Ends nothing."""

    def step(self) -> None:
        """The next step begins."""

    def add_metadata(self, key: str, value: str) -> None:
        """Notes nothing."""

    def add_metadata_json(self, key: str, value: str) -> None:
        """Notes nothing."""


def schedule(*_: Any, **__: Any) -> Callable[[int], ProfilerAction]:
    """Return a schedule whose action is NONE in every step: nothing is timed.  Source: torch.profiler.schedule.

    >>> schedule(wait=1, warmup=1, active=2)(3)
    <ProfilerAction.NONE: 0>
    """
    return lambda step: ProfilerAction.NONE


def supported_activities() -> set[ProfilerActivity]:
    """Return an empty set: nothing can be timed.  Source: torch.profiler.supported_activities.

    >>> supported_activities()
    set()
    """
    return set()


def tensorboard_trace_handler(dir_name: str, *_: Any, **__: Any) -> Callable[[Any], None]:
    """Would write timings for TensorBoard; writes nothing.  Source: torch.profiler.tensorboard_trace_handler.

    >>> tensorboard_trace_handler("log")(None)
    """
    return lambda profile: None
