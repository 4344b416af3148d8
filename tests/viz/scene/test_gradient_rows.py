"""The `.grad` of a card is what the leaf has, through whichever name it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from viz.scene import scene

from ..helpers import pictures
from ..helpers.programs import picture
from ..helpers.traces import recorded

HEAD = "import engine as torch\nw = torch.tensor([1., 2.], requires_grad=True)\n(w * 3).sum().backward()\n"
WRITES = {
    "w.grad.zero_()": [0, 0],
    "w.grad.data.zero_()": [0, 0],
    "w.grad.data *= 0.5": [1.5, 1.5],
    "w.grad.detach().zero_()": [0, 0],
    "w.grad.detach_()\nw.grad.zero_()": [0, 0],
    "w.grad.view(-1).mul_(3)": [9, 9],
    "w.grad[0] = 7.": [7, 3],
    "w.grad[:1].mul_(5)": [15, 3],
    "w.grad.data = torch.tensor([8., 9.])": [8, 9],
    "g = w.grad\ng.mul_(4)": [12, 12],
    "g = torch.ones(2)\nw.grad = g\ng.data.mul_(2)": [2, 2],
    "w.grad = w.grad * 2": [6, 6],
    "(w * 2).sum().backward()\nw.grad.data.mul_(2)": [10, 10],
    "w.grad = None": None,
}


def shown(source: str, folder: Path, key: str) -> Any:
    """The numbers in a row of the last card of w at the end."""
    made = scene.scene(recorded(HEAD + source + "\n", folder), revision={"id": "r"}, program={"id": "p"})
    card = [node for node in made["nodes"] if node["label"] in ("w", "w v1")][-1]
    row = next(row for row in card["rows"] if row["key"] == key)
    value = row["track"][-1][1]
    return None if value is None else made["values"][value]["data"]


@pytest.mark.parametrize("source", WRITES)
def test_gradient_row_is_what_was_written_last(source: str, tmp_path: Path) -> None:
    assert shown(source, tmp_path, "grad") == WRITES[source]


UPDATES = [
    "w.data.mul_(5)", "w.detach().mul_(5)", "w.data.view(-1).mul_(5)",
    "with torch.no_grad():\n    w[1] = 10.\n    w[:1] = 5.",
]  # fmt: skip


@pytest.mark.parametrize("write", UPDATES)
def test_value_row_is_what_was_written_last(write: str, tmp_path: Path) -> None:
    assert shown(write, tmp_path, "value") == [5, 10]


def test_gradient_that_is_zeroed_through_data_does_not_pile_up(tmp_path: Path) -> None:
    loop = "for _ in range(2):\n    (w * 3).sum().backward()\n    w.data -= 0.1 * w.grad\n    w.grad.data.zero_()\n"
    source = HEAD.replace("(w * 3).sum().backward()\n", "") + loop
    made = scene.scene(recorded(source, tmp_path), revision={"id": "r"}, program={"id": "p"})
    assert made["findings"] == []


def test_of_a_refused_call_each_root_shows_what_was_passed_for_it() -> None:
    drawing = picture("seed_count")
    seeds = {
        node["label"]: [None if held is None else drawing["values"][held]["data"] for _, held in row["track"]]
        for node in drawing["nodes"]
        for row in node["rows"]
        if row["key"] == "seed"
    }
    assert seeds == {"y": [[1, 1]], "z": [None]}


def test_what_is_computed_of_a_gradient_leaves_its_row_and_not_the_value() -> None:
    made = pictures.scene("embedding_rows")
    table = next(node for node in made["nodes"] if node["label"] == "table")
    ends = {node["id"]: node["label"] for node in made["nodes"]}
    starts = {ends[e["target"]]: e["points"][0][1] - table["y"] for e in made["edges"] if e["source"] == table["id"]}
    assert starts["× 0.001"] > table["h"] / 4 > starts["embedding"] == starts["−="]
