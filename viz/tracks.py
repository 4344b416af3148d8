"""Tracks joined and compared: lists of [step, value] pairs, as docs/scene-format.md has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from engine.trace import Trace

_RANK = {"error": 0, "ready": 1, "waiting": 2, "done": 3, "idle": 4, "active": 1, "future": 5}


def joint_state(states: Sequence[str]) -> str:
    """The state of a folded group: what its most urgent member does; some done and some waiting is `ready`."""
    kinds = set(states)
    if "error" not in kinds and {"waiting", "done"} <= kinds:
        return "ready"
    return min(kinds, key=lambda s: _RANK[s])


def together(tracks: Sequence[list[list[Any]]], join: Callable[[list[Any]], Any]) -> list[list[Any]]:
    """One track for several: `join` of their values wherever one changes.

    >>> together([[[0, False], [2, True]], [[0, True]]], all)
    [[0, False], [2, True]]
    """
    if len(tracks) == 1:
        return tracks[0]
    changes = sorted((k, i, value) for i, track in enumerate(tracks) for k, value in track)
    now: dict[int, Any] = {}
    counts: dict[Any, int] = defaultdict(int)
    joined: list[list[Any]] = []
    for place, (k, i, value) in enumerate(changes):
        if i in now:
            counts[now[i]] -= 1
            if counts[now[i]] == 0:
                del counts[now[i]]
        now[i] = value
        counts[value] += 1
        if place + 1 < len(changes) and changes[place + 1][0] == k:
            continue
        result = join(list(counts))
        if not joined or joined[-1][1] != result:
            joined.append([k, result])
    return joined


def contents(trace: Trace, track: Sequence[Sequence[Any]]) -> list[tuple[int, bytes | None]]:
    """A track of trace values by their bits, to tell whether two revisions differ."""
    found: list[tuple[int, bytes | None]] = []
    for k, index in track:
        kept = trace.value(index) if index is not None else None
        array = None if kept is None else kept.array if kept.array is not None else kept.sample
        found.append((k, None if array is None else array.tobytes()))
    return found
