"""What comes again and again, in one series: states of a recurrent network, losses of a training loop."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viz.gallery import find
from viz.scene.reading import Reading, reading_of
from viz.scene.series import MOST, through, through_group
from viz.server.programs import record_source


def program(name: str) -> Reading:
    found = find(name)
    assert found is not None
    return reading_of(record_source(found.source, found.path))


def run(text: str, tmp_path: Path) -> Reading:
    path = tmp_path / "p.py"
    path.write_text("import engine as torch\n" + text)
    return reading_of(record_source(path.read_text(), path))


def series(read: Reading, label: str, nth: int = -1) -> Any:
    cards = [i for i in read.drawing.items.values() if i.tensor is not None and i.twin is None]
    return through(read, [item for item in cards if read.facts.names.get(item.tensor or 0) == label][nth])


def last(found: Any) -> list[Any]:
    return [point["track"][-1][1] for point in found["points"]]


def test_norms_of_a_recurrent_network_are_those_of_its_states_gradients() -> None:
    torch = pytest.importorskip("torch")
    read = program("rnn_twenty")
    found = series(read, "h")
    u = torch.tensor([[0.5, 0.3], [-0.3, 0.5]], requires_grad=True)
    h, states = torch.zeros(1, 2), []
    for _ in range(20):
        h = torch.tanh(h @ u + torch.tensor([[0.5, -0.3]]))
        h.retain_grad()
        states.append(h)
    h.sum().backward()
    np.testing.assert_allclose(last(found), [float(s.grad.norm()) for s in states], rtol=1e-5)
    assert found["title"] == "norm of ∂loss/∂h in each iteration"
    assert [point["here"] for point in found["points"]] == [False] * 19 + [True]


def test_a_point_has_its_number_from_the_step_that_brought_it() -> None:
    read = program("rnn_twenty")
    for point in series(read, "h", 5)["points"]:
        done = point["track"][1][0]
        step = read.line.steps[done - 1]
        made = read.facts.tensors[read.drawing.items[point["element"]].tensor or 0]
        assert (step.kind, step.op) == ("vjp", made.producers[made.first])
        assert point["track"][0] == (0, None)


def test_every_state_every_op_and_every_folded_round_tell_the_same_story() -> None:
    read = program("rnn_twenty")
    groups = [through_group(read, group) for group in read.drawing.grouping.labels]
    assert [last(found) for found in groups] == [last(series(read, "h"))] * 20
    assert [[p["here"] for p in found["points"]].index(True) for found in groups if found] == list(range(20))
    product = through(read, read.drawing.items["n0"])
    assert product is not None
    assert (product["of"], product["title"]) == (20, "norm of the gradient that MmBackward0 receives")


def test_a_loss_has_its_values_and_a_leaf_what_each_call_added() -> None:
    read = program("training_loop")
    loss, weight = series(read, "loss"), series(read, "model.weight")
    assert loss["kind"] == "size"
    np.testing.assert_allclose(last(loss), [27.66667, 0.3318524, 0.005267452], rtol=1e-5)
    np.testing.assert_allclose(last(weight), [22.66667, 2.488889, 0.2607392], rtol=1e-5)
    assert weight["title"] == "norm of the gradient that each call adds to model.weight.grad"


@pytest.mark.parametrize("name", ["weights", "mean_of_cubes", "loss_mixture"])
def test_what_comes_once_or_twice_has_no_series(name: str) -> None:
    read = program(name)
    found = [through(read, item) for item in read.drawing.items.values()]
    assert [one["title"] for one in found if one is not None and "adds to x.grad" not in one["title"]] == []


@pytest.mark.parametrize(
    "text",
    [
        "m = torch.nn.Linear(2, 2)\nh = torch.ones(1, 2)\nfor _ in range(4):\n    h = m(m(h))\nh.sum().backward()\n",
        "m = torch.nn.RNNCell(2, 2)\nh = torch.ones(1, 2)\nfor _ in range(4):\n    h = m(h, h)\nh.sum().backward()\n",
    ],
    ids=["a layer called twice in a line", "a cell with two products"],
)
def test_what_a_round_does_twice_is_two_series(text: str, tmp_path: Path) -> None:
    read = run(text, tmp_path)
    ops = [item for item in read.drawing.items.values() if item.op is not None]
    layers = [i for i in ops if read.facts.ops[i.op or 0].event.name == "addmm"]
    assert [found["of"] for item in layers if (found := through(read, item))] == [4] * 8


def test_a_long_series_is_thinned_and_says_so(tmp_path: Path) -> None:
    read = run(
        "w = torch.ones(1, requires_grad=True)\nh = w\nfor _ in range(600):\n    h = h * 1.01\nh.sum().backward()\n",
        tmp_path,
    )
    found = series(read, "h")
    assert (found["of"], len(found["points"])) == (600, MOST)
    assert [found["points"][k]["label"] for k in (0, -1)] == ["round 1", "round 600"]
    assert math.isclose(last(found)[0], 1.01**599, rel_tol=1e-3)


def test_a_nan_on_its_way_is_told(tmp_path: Path) -> None:
    read = run(
        "h = torch.zeros(1, requires_grad=True)\nfor _ in range(3):\n    h = h.sqrt() * 1\nh.sum().backward()\n",
        tmp_path,
    )
    assert last(series(read, "h"))[-1] == 1.0
    assert "inf" in last(series(read, "h")) or "nan" in last(series(read, "h"))


NESTED = """
w = torch.tensor([0.5], requires_grad=True)
for step in (10, 20, 30):
    h = torch.ones(1)
    for t in range(2, 4):
        h = torch.tanh(h * w)
    loss = (h ** 2).sum()
    loss.backward()
"""


def labels(found: Any) -> list[str]:
    return [point["label"] for point in found["points"]]


def test_bars_are_named_by_the_variables_of_the_loops_that_tell_them_apart(tmp_path: Path) -> None:
    read = run(NESTED, tmp_path)
    assert labels(series(read, "loss")) == ["step = 10", "step = 20", "step = 30"]
    assert labels(series(read, "w")) == ["step = 10", "step = 20", "step = 30"]  # what each call brought
    assert labels(series(read, "h")) == [f"step = {step}, t = {t}" for step in (10, 20, 30) for t in (2, 3)]
    assert labels(series(program("rnn_twenty"), "h"))[:2] == ["t = 0", "t = 1"]
