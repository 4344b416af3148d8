"""Where things stand in the programs of the gallery, as laws: no stored coordinates, so that each picture may improve.

What the browser makes of it (curves, wires, texts in cards) is asked in tests/viz/scene/test_picture_laws.py; random
graphs are laid out in test_layout.py and test_lines.py.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.batches import batches
from tests.conftest import SHARED
from tests.viz.helpers import pictures
from viz.layout import dot

from ..helpers.geometry import overlaps
from ..helpers.programs import picture

Json = Mapping[str, Any]
Box = tuple[float, float, float, float]
HAIR = 0.51
"""Coordinates are rounded on their way to the browser."""


def box(node: Json) -> Box:
    return node["x"] - node["w"] / 2, node["y"] - node["h"] / 2, node["x"] + node["w"] / 2, node["y"] + node["h"] / 2


def inside(inner: Sequence[float], outer: Sequence[float]) -> bool:
    starts = zip(inner[:2], outer[:2], strict=True)
    ends = zip(inner[2:], outer[2:], strict=True)
    return all(a >= b - HAIR for a, b in starts) and all(a <= b + HAIR for a, b in ends)


def open_groups(scene: Json) -> dict[str, Json]:
    return {group["id"]: group for group in scene["groups"] if not group["folded"]}


def around(scene: Json, node: Json) -> Iterator[Json]:
    """The open groups that a node is in, the innermost first."""
    groups = open_groups(scene)
    name = node["group"]
    while name is not None:
        yield groups[name]
        name = groups[name]["within"]


def parts(group: Json) -> list[Sequence[float]]:
    return group.get("parts") or [group["box"]]


def cards_that_overlap(scene: Json) -> Iterator[str]:
    for one, other in itertools.combinations(scene["nodes"], 2):
        if overlaps(box(one), box(other)):
            yield f"{one['id']} and {other['id']}"


def cards_outside_of_their_group(scene: Json) -> Iterator[str]:
    for node in scene["nodes"]:
        for group in around(scene, node):
            if not any(inside(box(node), part) for part in parts(group)):
                yield f"{node['id']} of {group['id']}"


def cards_inside_of_another_group(scene: Json) -> Iterator[str]:
    for node in scene["nodes"]:
        own = {group["id"] for group in around(scene, node)}
        for name, group in open_groups(scene).items():
            if name not in own and any(overlaps(box(node), tuple(part)) for part in parts(group)):
                yield f"{node['id']} in {name}"


def groups_that_overlap(scene: Json) -> Iterator[str]:
    for one, other in itertools.combinations(open_groups(scene).values(), 2):
        for a, b in itertools.product(parts(one), parts(other)):
            if overlaps(tuple(a), tuple(b)) and not inside(a, b) and not inside(b, a):
                yield f"{one['id']} and {other['id']}"


def bounds_that_are_not_those_of_what_is_drawn(scene: Json) -> Iterator[str]:
    boxes = [*map(box, scene["nodes"]), *(part for group in open_groups(scene).values() for part in parts(group))]
    tight = [pick(found[axis] for found in boxes) for axis, pick in enumerate((min, min, max, max))]
    if tight != pytest.approx(scene["bounds"], abs=HAIR):
        yield f"{scene['bounds']}, but {tight}"


def ends_off_the_border(scene: Json) -> Iterator[str]:
    """A value leaves on the right and arrives on the left, a gradient the other way round, within the card's height."""
    cards = {node["id"]: box(node) for node in scene["nodes"]}
    for edge in scene["edges"]:
        source, target = cards[edge["source"]], cards[edge["target"]]
        ways = {"value": edge["points"], "gradient": edge["back"][::-1], "passed on": edge.get("through", [])[::-1]}
        for way, points in ways.items():
            if not points:
                continue
            (x, y), (u, v) = points[0], points[-1]
            leaves = abs(x - source[2]) <= HAIR and source[1] - HAIR <= y <= source[3] + HAIR
            arrives = abs(u - target[0]) <= HAIR and target[1] - HAIR <= v <= target[3] + HAIR
            if not (leaves and arrives):
                yield f"{way} of {edge['id']}"


def edges_against_the_order(scene: Json) -> Iterator[str]:
    """As text is read: to the right in a line, or into a line below."""
    cards = {node["id"]: node for node in scene["nodes"]}
    for edge in scene["edges"]:
        source, target = cards[edge["source"]], cards[edge["target"]]
        if box(source)[2] > box(target)[0] and source["y"] >= target["y"]:
            yield edge["id"]


def move(node: Any, dx: float, dy: float) -> None:
    node["x"] += dx
    node["y"] += dy


def onto_its_source(scene: Any) -> None:
    edge, nodes = scene["edges"][0], {node["id"]: node for node in scene["nodes"]}
    source, target = nodes[edge["source"]], nodes[edge["target"]]
    move(target, source["x"] - target["x"], source["y"] - target["y"])


def out_of_its_group(scene: Any) -> None:
    move(next(node for node in scene["nodes"] if node["group"]), 0, 5000)


def into_a_group(scene: Any) -> None:
    card = next(node for node in scene["nodes"] if not node["group"])
    x0, y0, x1, y1 = parts(next(iter(open_groups(scene).values())))[0]
    move(card, (x0 + x1) / 2 - card["x"], (y0 + y1) / 2 - card["y"])


def groups_side_by_side(scene: Any) -> None:
    groups: list[Any] = list(open_groups(scene).values())
    for at, group in enumerate(groups):
        group["box"] = [10.0 * at, 0.0, 10.0 * at + 100.0, 50.0]
        group.pop("parts", None)


def wider(scene: Any) -> None:
    scene["bounds"][2] += 40.0


def under_its_card(scene: Any) -> None:
    scene["edges"][0]["back"][-1][1] += 500.0


def to_the_left(scene: Any) -> None:
    scene["nodes"][-1]["x"] -= 5000.0


LAWS: Mapping[Callable[[Json], Iterator[str]], Callable[[Any], None]] = {
    cards_that_overlap: onto_its_source,
    cards_outside_of_their_group: out_of_its_group,
    cards_inside_of_another_group: into_a_group,
    groups_that_overlap: groups_side_by_side,
    bounds_that_are_not_those_of_what_is_drawn: wider,
    ends_off_the_border: under_its_card,
    edges_against_the_order: to_the_left,
}
"""Each law, and what breaks it."""


def drawn() -> Iterator[tuple[str, Json]]:
    """Every program as it opens, and with the folds of a scene that nobody chose for a window."""
    for name in pictures.names():
        yield f"{name} as it opens", pictures.scene(name)
        yield name, picture(name)


@batches("law", LAWS, lambda law: str(law.__name__))
def test_no_picture_of_the_gallery_has(law: Callable[[Json], Iterator[str]]) -> None:
    found = {name: list(law(scene)) for name, scene in drawn()}
    assert {name: broken for name, broken in found.items() if broken} == {}
    changed = copy.deepcopy(pictures.scene("training_loop"))
    LAWS[law](changed)
    assert list(law(changed)), "a law that nothing breaks"


CROSSINGS, LENGTH = 44, 280.0
"""How often routes of values cross in the whole gallery, and how long one is on average: 41 and 270 today."""


def cross(way: Json, other: Json) -> bool:
    """Whether two edges without a common end cross each other."""
    if {way["source"], way["target"]} & {other["source"], other["target"]}:
        return False
    pieces = itertools.product(itertools.pairwise(way["points"]), itertools.pairwise(other["points"]))
    return any(turn(p, q, r) * turn(p, q, s) < 0 and turn(r, s, p) * turn(r, s, q) < 0 for (p, q), (r, s) in pieces)


def turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@pytest.mark.skipif(not dot.is_available(), reason="pygraphviz is not installed")
def test_routes_cross_seldom_and_are_short() -> None:
    scenes = [pictures.scene(name) for name in pictures.names()]
    crossings = sum(cross(*pair) for scene in scenes for pair in itertools.combinations(scene["edges"], 2))
    assert crossings <= CROSSINGS
    ways = [edge["points"] for scene in scenes for edge in scene["edges"]]
    assert sum(math.dist(p, q) for way in ways for p, q in itertools.pairwise(way)) / len(ways) <= LENGTH


def test_every_scene_is_the_same_in_another_process() -> None:
    """To the last coordinate: nothing depends on the order of sets, on addresses or on when it was made."""
    code = (
        "import json; from tests.viz.helpers import pictures as p; print(json.dumps([p.scene(n) for n in p.names()]))"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    others = {name: value for name, value in os.environ.items() if name != SHARED}  # it makes each scene itself
    ran = subprocess.run(
        [sys.executable, "-c", code], env={**others, "PYTHONHASHSEED": seed},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    for name, there in zip(pictures.names(), json.loads(ran.stdout), strict=True):
        assert there == json.loads(json.dumps(pictures.scene(name))), name
