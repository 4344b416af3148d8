"""The edits that a lesson contains: those that a visitor is most likely to make, in the browser's form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product, zip_longest
from typing import Any

from engine.replay.program import NONE_PASSED
from viz.server.store import Json

MOST_CELLS = 64
"""The number of elements of a gradient up to which each of them has its one-hot gradient."""
MOST = 160
"""The most single changes of one program; if it has more, the first ones of each call."""
MOST_PAIRS = 60
"""The most changes of two things at once."""


Change = tuple[str, Json]
"""The id of a command, and its changes."""


def foreseen(scene: Mapping[str, Any], pairs: int = MOST_PAIRS) -> list[Json]:
    """The edits of a recorded scene whose replays go into a lesson.

    First come the fix of an error that ends the program and the proposals of its chapters. Then come changes of the
    backward calls, one of each call in turn: both flags on and off, ones, zeros, no gradient, and each one-hot
    gradient. Last come two of these changes at once, one of which changes flags.
    """
    fix = ((scene.get("error") or {}).get("fix") or {}).get("edits")
    proposals = [one for chapter in scene["program"]["chapters"] for one in chapter.get("tries", ())]
    calls = [list(_changes(scene, command)) for command in scene["commands"] if command["kind"] == "backward"]
    singles = [change for turn in zip_longest(*calls) for change in turn if change is not None]
    specs = [_spec(command) for command in scene["commands"]]
    changes = (*((one,) for one in singles[:MOST]), *islice(_pairs(singles), pairs))
    edits = [
        *([fix] if fix else []), *(one["edits"] for one in proposals if "edits" in one),
        *({"leaves": {}, "commands": _changed(specs, one)} for one in changes),
    ]  # fmt: skip
    return [one for number, one in enumerate(edits) if one not in edits[:number]]


def _pairs(singles: Sequence[Change]) -> Iterator[tuple[Change, Change]]:
    """Two changes at once: a gradient and the flags of the same call, then those of another one, then flags of two."""
    flags = [one for one in singles if "gradient" not in one[1]]
    gradients = [one for one in singles if "gradient" in one[1]]
    yield from (pair for pair in product(gradients, flags) if pair[0][0] == pair[1][0])
    both = (*product(gradients, flags), *combinations(flags, 2))
    yield from (pair for pair in both if pair[0][0] != pair[1][0])


def _changes(scene: Mapping[str, Any], command: Mapping[str, Any]) -> Iterator[Change]:
    name = command["id"]
    for retain, create in ((False, False), (True, False), (True, True)):
        if (retain, create) != (command["retain_graph"], command["create_graph"]):
            yield name, {"retain_graph": retain, "create_graph": create}
    shape = _shape(scene, command)
    if shape is None:
        return
    size = _size(shape)
    if not command["implicit"]:
        yield name, {"gradient": NONE_PASSED}
    for element in (1, 0):
        yield name, {"gradient": _nested([element] * size, shape)}
    if 1 < size <= MOST_CELLS:
        for cell in range(size):
            yield name, {"gradient": _nested([int(i == cell) for i in range(size)], shape)}


def _shape(scene: Mapping[str, Any], command: Mapping[str, Any]) -> list[int] | None:
    """The shape of the gradient of a call, or the one that it must have; None if the browser cannot edit it."""
    value = None if command["gradient"] is None else scene["values"][command["gradient"]]
    root = next((node for node in scene["nodes"] if node["id"] == command["root"]), None)
    shape = value["shape"] if value and not command["implicit"] else root and root["shape"]
    return shape if shape is not None and 0 < _size(shape) <= 4096 else None


def _size(shape: list[int]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _nested(data: list[int], shape: list[int]) -> Any:
    """Flat data as nested lists in a shape; a number for no dimension.

    >>> _nested([1, 2, 3, 4], [2, 2]), _nested([1], [])
    ([[1, 2], [3, 4]], 1)
    """
    if not shape:
        return data[0]
    step = len(data) // shape[0]
    return [_nested(data[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _changed(specs: list[Json], changes: Sequence[Change]) -> list[Json]:
    for name, change in changes:
        specs = [{**spec, **change} if spec["id"] == name else spec for spec in specs]
    return specs


def _spec(command: Mapping[str, Any]) -> Json:
    """A recorded command as assets/js/page/edits.mjs specifies it."""
    is_call = command["kind"] == "backward"
    return {
        "id": command["id"], "kind": command["kind"], "after": command["after"],
        "root": _tensor(command["root"]) if is_call else None, "gradient": None,
        "retain_graph": command["retain_graph"], "create_graph": command["create_graph"],
        "inputs": None if command["inputs"] is None else [_tensor(one) for one in command["inputs"]],
        "leaf": None if is_call else _tensor(command["root"]),
    }  # fmt: skip


def _tensor(element: str | None) -> int | None:
    """The number of a tensor from an element id: 3 of `t3`, `t3.1` and `t3@n5`."""
    digits = (element or "").removeprefix("t").partition("@")[0].partition(".")[0]
    return int(digits) if digits.isdigit() else None
