"""What no picture of the gallery may do, asked of the curves and boxes that the browser draws."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.batches import batches
from tests.viz.helpers import pictures
from tests.viz.helpers.forms import fault_of_scene
from tests.viz.helpers.shared import shared
from viz.graph.folds import FOLD_ABOVE_TOLD
from viz.layout.choice import layout
from viz.layout.views import EASY, HAIR, WHOLE, lower, zoom
from viz.scene.initial_view import opening
from viz.scene.reading import reading_of
from viz.scene.visible_graph import VIEW, VisibleGraph

SCRIPTS = Path(__file__).parents[2] / "js" / "laws"
COVERS = {
    "saved_in_place": {"953x530"},  # nearer to a card than rings stand out, where nothing else is free
}
"""Views in which a message or its line touches a card, and as little as it can."""


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    for name in pictures.names():
        (folder / f"{name}.json").write_text(json.dumps(pictures.scene(name)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """What a script says of all scenes."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")

    def ask(script: str) -> Any:
        scenes = request.getfixturevalue("scenes")
        ran = subprocess.run([node, SCRIPTS / script, scenes], capture_output=True, text=True, check=True)
        return json.loads(ran.stdout)

    return lambda script: shared("laws", script, lambda: ask(script))


@pytest.fixture(scope="module")
def broken(answers: Callable[[str], Any]) -> Any:
    return answers("laws.mjs")


@pytest.fixture(scope="module")
def followed(answers: Callable[[str], Any]) -> Any:
    """What is seen of each step, by program and width, of those that are not seen whole."""
    return answers("followed.mjs")


@pytest.fixture(scope="module")
def numbers(answers: Callable[[str], Any]) -> Any:
    """The numbers that travel, by program and width."""
    return answers("numbers.mjs")


def test_every_scene_has_the_form_of_the_schema(scenes: Path) -> None:
    files = sorted(scenes.glob("*.json"))
    assert len(files) == len(pictures.names())
    assert {file.stem: fault for file in files if (fault := fault_of_scene(file.read_text(encoding="utf-8")))} == {}


WITHOUT_FACTORS: set[str] = set()
"""Programs with a step in which one input has local derivatives and another one none that can be told."""


def test_the_numbers_of_a_step_are_what_a_calculator_gives_and_tell_of_each_receiver(
    answers: Callable[[str], Any],
) -> None:
    told = answers("arithmetic.mjs")
    assert told["sums"] > 100
    assert {name: found["sums"] for name, found in told["broken"].items() if found["sums"]} == {}
    assert {name for name, found in told["broken"].items() if found["locals"]} == WITHOUT_FACTORS


BROKEN_BY = {
    "routes": "an edge crosses a card that is not its end",
    "wires": "a wire crosses a card that is not its end",
    "callout": "the message of an error touches a card, or its line strikes one out",
    "ends": "a wire ends where no gradient is, brings a zero, or passes over a cell that is not its end",
    "early": "a gradient's route is drawn where an op is only computed",
    "starts": "a gradient's route begins at a row that holds the gradient from another call",
    "values": "a line from cell to cell hides the arrowhead of a value that comes to its op, or to the card behind it",
    "lanes": "a line from cell to cell, or the halo of what runs, lies on a route between two lines",
    "hairpins": "a route turns back at once",
    "aslant": "a route does not leave or enter a card at a right angle to its side",
    "letters": "a text lies on another one, or under a badge",
    "heads": "a card does not say its shape, what is passed or its name as its graph opens, or text is on its outline",
    "stacks": "the cards behind a folded one hide the end of a route",
}


EXCEPT = {"values": {"slice_written"}}
"""There three values come to one op, and a gradient goes back to a card above all of them."""


@batches("law", BROKEN_BY)
def test_what_travels_is_told_by_its_place(broken: Any, law: str) -> None:
    assert len(broken) == len(pictures.names())
    found = {name: faults(law, name, one[law]) for name, one in broken.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}, BROKEN_BY[law]


def faults(law: str, name: str, found: Sequence[str]) -> list[str]:
    """Where a program breaks a law, without what is accepted."""
    if name in EXCEPT.get(law, ()):
        return []
    return [one for one in found if law != "callout" or one.split(":")[0] not in COVERS.get(name, ())]


WITHOUT = {"1280": 42, "1440": 44}
"""Of 937 numbers that travel, how many may have no place (39 and 41 have none): nearly all in loops whose rounds stand
line by line, with room for routes only."""


def test_nearly_all_numbers_that_travel_have_a_place_that_tells_whose_they_are(numbers: Any) -> None:
    """It is nearest to its own route, on no card and no other route, or a line leads to it that passes over neither."""
    astray = {
        (name, width): seen["astray"]
        for name, views in numbers.items()
        for width, seen in views.items()
        if seen["astray"]
    }
    assert astray == {}
    for width, most in WITHOUT.items():
        assert sum(views[width]["numbers"] for views in numbers.values()) > 900
        without = [f"{name}: {one}" for name, views in numbers.items() for one in views[width]["without"]]
        assert len(without) <= most, without


def test_most_programs_are_shown_whole() -> None:
    """At 1440 x 900 beside both panels, at the zoom `WHOLE` or more; the others are no wider than that."""
    wide, high = 756.0, 609.0
    followed = set()
    for name in pictures.names():
        x0, y0, x1, y1 = pictures.scene(name)["bounds"]
        assert wide / (x1 - x0) >= WHOLE - 0.03, name  # the ways beside the lines are not in the bounds
        if high / (y1 - y0) < WHOLE:
            followed.add(name)
    assert len(followed) <= 4, sorted(followed)


@pytest.mark.parametrize("name", ["leaf_facts", "weighted_matrix", "layer_norm"])
def test_a_picture_that_height_makes_small_has_nodes_as_wide_as_their_text(name: str) -> None:
    """There is room beside it: its text keeps its px there, and nothing becomes smaller than is read with ease."""
    store = pictures.store()
    read = reading_of(store.trace(store.revision(name, None)))
    found = opening(read, FOLD_ABOVE_TOLD)
    assert found.zoom < 0.8
    wide, plain = (
        VisibleGraph(read.facts, read.drawing, found.folded, found.lines, found.limit, found.folded, text).graph()
        for text in (found.zoom, 1.0)
    )
    assert all(wide.nodes[node]["size"][0] >= plain.nodes[node]["size"][0] for node in plain)
    for view in (VIEW, lower(VIEW)):
        before, now = (zoom(graph, layout(graph), view) for graph in (plain, wide))
        assert now >= min(before, EASY) - HAIR


def test_a_picture_that_is_as_wide_as_its_view_has_no_wider_nodes() -> None:
    store = pictures.store()
    for name in ("weights", "rnn", "element_by_element"):
        assert opening(reading_of(store.trace(store.revision(name, None))), FOLD_ABOVE_TOLD).zoom == 1.0, name


def test_cards_take_at_least_a_part_of_every_picture() -> None:
    """Of the box around cards and groups: the rest is ways and air."""
    shares = {}
    for name in pictures.names():
        scene = pictures.scene(name)
        x0, y0, x1, y1 = scene["bounds"]
        shares[name] = sum(node["w"] * node["h"] for node in scene["nodes"]) / ((x1 - x0) * (y1 - y0))
    assert {name: round(share, 3) for name, share in shares.items() if share < 0.17} == {}


TOO_HIGH = {
    ("two_layers", "1280"): {"step 5: n2 is cut", "step 11: t10 is cut", "step 11: n2 is cut"},
}
"""Steps whose ends are further apart than the stage is high at the least zoom at which text is read."""


def test_nothing_lies_over_what_a_step_is_about_and_text_is_read(followed: Any) -> None:
    """The minimap leaves its corner for what a step is about, and as the camera moves for other cards."""
    assert len(followed) > 15
    amiss = {
        (name, width): set(seen["found"]) - TOO_HIGH.get((name, width), set())
        for name, views in followed.items()
        for width, seen in views.items()
    }
    assert {where: sorted(found) for where, found in amiss.items() if found} == {}
    views = [seen for views in followed.values() for seen in views.values()]
    assert max(seen["corners"] for seen in views) <= 4
    assert min(seen["zoom"] for seen in views) >= WHOLE
