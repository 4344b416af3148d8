"""Tracks joined and compared: lists of (step, value) pairs, as in docs/scene-format.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from engine.trace.events import Trace

from ..schema.values import T, Track

_RANK = {"error": 0, "ready": 1, "waiting": 2, "done": 3, "idle": 4, "future": 5}


def joint_state(states: Sequence[Any]) -> Any:
    """The state of a folded group: that of its most urgent member; if some are done and some waiting, `ready`."""
    kinds = set(states)
    if "error" not in kinds and {"waiting", "done"} <= kinds:
        return "ready"
    return min(kinds, key=lambda s: _RANK[s])


def together(tracks: Sequence[Track[Any]], join: Callable[[list[Any]], T]) -> Track[T]:
    """One track for several: `join` of their values at each change.

    >>> together([[(0, False), (2, True)], [(0, True)]], all)
    [(0, False), (2, True)]
    """
    if len(tracks) == 1:
        return tracks[0]
    changes = sorted((k, i, value) for i, track in enumerate(tracks) for k, value in track)
    now: dict[int, Any] = {}
    counts: dict[Any, int] = defaultdict(int)
    joined: Track[T] = []
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
            joined.append((k, result))
    return joined


def differ(before: Trace, track: Track[int | None], trace: Trace, now: Track[int | None]) -> bool:
    """Return whether a track of trace values differs between two revisions, in its numbers or their times."""
    if [k for k, _ in track] != [k for k, _ in now]:
        return True
    pairs = [(one, other) for (_, one), (_, other) in zip(track, now, strict=True)]
    return any(
        (one is None) != (other is None)
        if one is None or other is None
        else not before.value(one).is_like(trace.value(other))
        for one, other in pairs
    )
