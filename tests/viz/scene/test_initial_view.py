"""How programs begin: which rounds are open, and what stands outside of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.viz.helpers import pictures
from viz.graph.folds import FOLD_ABOVE
from viz.layout.views import WHOLE
from viz.scene.reading import reading_of
from viz.scene.scene import scene
from viz.scene.visible_graph import VIEW_OF_MODEL

from ..helpers.traces import TRANSFORMER, recorded

OPENS = {
    "training_loop": {"model: Linear"},  # each round is read on its own, and the weights stand beside it
    "mini_batches": {f"squared_error · {n}" for n in (1, 2, 3, "round 1", "round 2", "round 3")},  # in a sum, in a loop
    "element_by_element": {"i = 1", "j = 1", "j = 2"},  # every round adds to one leaf, which stays in view
    "jacobian": {"jacobian"},
}


@pytest.mark.parametrize("name", OPENS)
def test_rounds_are_open_where_one_reads_on_from_each_to_the_next(name: str) -> None:
    made = pictures.scene(name)
    labels = {group["id"]: group["label"] for group in (*made["groups"], *made["hidden"]["groups"])}
    assert {labels[group] for group in made["folded"]} == OPENS[name]


def homes(source: str, folder: Path) -> dict[str, str | None]:
    """The label of the group in which the first card of each named tensor stands that no op computed."""
    found = reading_of(recorded("import engine as torch\nnn = torch.nn\n" + source, folder))
    labels, facts = found.drawing.grouping.labels, found.facts
    homes: dict[str, str | None] = {}
    for item in found.drawing.items.values():
        if item.tensor is None or item.twin is not None:
            continue
        name, fact = facts.names.get(item.tensor), facts.tensors[item.tensor]
        if name is not None and item.version == fact.first and fact.producers.get(item.version) is None:
            homes[name] = None if item.group is None else labels[item.group]
    return homes


def test_what_was_there_before_a_loop_stands_before_its_first_round(tmp_path: Path) -> None:
    source = (
        "w = torch.ones(2, requires_grad=True)\nh = torch.zeros(2)\nrows = [torch.ones(2), torch.ones(2)]\n"
        "for row in rows:\n    b = torch.ones(2)\n    h = torch.tanh(w * h + row * b)\n    h = h.detach()\n"
        "    with torch.no_grad():\n        w -= 0.5\n"
    )
    found = homes(source, tmp_path)
    assert (found["w"], found["h"]) == (None, None)
    assert (found["rows[0]"], found["rows[1]"]) == (
        "round 1",
        "round 2",
    )  # it is for them that they are taken apart
    assert found["b"] == "round 2"


def test_what_is_given_to_a_layer_stands_before_it_and_its_weights_in_it(tmp_path: Path) -> None:
    found = homes(
        "net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())\nx = torch.ones(1, 2)\ny = net(x)\ny.sum().backward()\n",
        tmp_path,
    )
    assert found["x"] is None
    assert "0: Linear" in found.values()


def test_a_model_fills_the_stage_and_is_read(tmp_path: Path) -> None:
    """The stage at 1440 x 900 px, with the timeline of a long program: nothing under 12 px, and 60 % of it used."""
    made = scene(recorded(TRANSFORMER.replace("range(2)", "range(9)"), tmp_path), fold_above=FOLD_ABOVE)
    x0, y0, x1, y1 = made["bounds"]
    wide, high = VIEW_OF_MODEL
    size = min(wide / (x1 - x0), high / (y1 - y0))
    assert size >= WHOLE
    assert size * (x1 - x0) / wide * size * (y1 - y0) / high >= 0.6


def test_a_long_value_is_a_strip_in_a_large_graph_only(tmp_path: Path) -> None:
    def columns(layers: int) -> dict[str, int]:
        source = (
            "import engine as torch\nx, y = torch.ones(1, 2), torch.ones(16)\nlabels = torch.ones(8)\n"
            f"for i in range({layers}):\n    w = torch.ones(2, 2, requires_grad=True)\n    x = torch.tanh(x @ w)\n"
            "z = x.sum() * y\nloss = z.sum() + (x.sum() * labels).sum()\nloss.backward()\n"
        )
        shown = scene(recorded(source, tmp_path), fold_above=FOLD_ABOVE)
        return {node["label"]: node["rows"][0]["cols"] for node in shown["nodes"] if node["label"] in names}

    names = {"y", "z", "labels"}
    assert columns(2) == {"y": 8, "z": 8, "labels": 8}
    assert columns(30) == {"y": 0, "z": 0, "labels": 8}
