"""A training step of a model on the stage: parts as boxes, parameters as dots, one scale for the norms of gradients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import View, recording
from tests.viz.helpers.traces import TRANSFORMER


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording(tmp_path_factory.mktemp("train") / "train.py", TRANSFORMER)


@pytest.fixture
def view(shown: Callable[..., View], recorded: Path) -> View:
    view = shown(recorded)
    view.until("backstep.state()")
    return view


def colour(view: View, x: float, y: float) -> list[int]:
    """The position of a point of the plane on the canvas of the graph."""
    code = f"""() => {{
      const [canvas, spot] = [document.querySelector('.bs-canvas'), {{ x: {x}, y: {y} }}];
      const box = canvas.getBoundingClientRect();
      const at = [spot.x - box.left, spot.y - box.top].map(one => Math.round(one * devicePixelRatio));
      return [...canvas.getContext('2d').getImageData(...at, 1, 1).data].slice(0, 3);
    }}"""
    found: list[int] = view.js(code)
    return found


def edge_of(view: View, label: str) -> list[int]:
    """The colour of a box's left edge."""
    spot = view.js(f"backstep.screenPos({view.node(label)!r})")
    return colour(view, spot["x"] - spot["width"] / 2 + 3, spot["y"])


def first_dot(view: View, label: str) -> tuple[float, float]:
    """Where the first dot of a box is on the page."""
    spot = view.js(f"backstep.screenPos({view.node(label)!r})")
    zoom = spot["width"] / view.js(f"backstep.scene().nodes.find(n => n.label === {label!r}).w")
    return spot["x"] - spot["width"] / 2 + 20 * zoom, spot["y"] - spot["height"] / 2 + 82 * zoom


def test_a_model_opens_as_boxes_whose_edges_and_dots_take_the_colour_of_their_gradients(view: View) -> None:
    labels = view.js("backstep.scene().nodes.filter(n => n.kind === 'group').map(n => n.label)")
    assert {"data", "tok", "blocks.0: Block", "blocks.1: Block", "head", "AdamW.step"} <= set(labels)
    assert view.js("backstep.scene().nodes.filter(n => n.role === 'leaf').length") == 0, "no column of parameters"
    assert view.page.locator(".bs-crumb").inner_text() == "model: Net"
    assert "gradient norm" in view.page.locator(".bs-scale").inner_text()
    view.seek(0)
    view.until("document.querySelector('#bs-nodes')?.innerText.includes('ln.weight 4, no gradient yet')")
    before = edge_of(view, "blocks.0: Block")
    mark = "getComputedStyle(document.querySelector('#code li[data-norm=level]'), '::before').backgroundImage"
    assert "gradient" in view.js(mark), "so do the marks beside the lines"
    assert view.js("(lines => lines.scrollTop)(document.querySelector('#code .lines'))") > 0, "the loop is in view"
    view.end()
    view.until("document.querySelector('#bs-nodes')?.innerText.includes('ln.weight 4, gradient norm')")
    after = edge_of(view, "blocks.0: Block")
    assert before != after and after[0] > after[2] + 60, "the edge is orange once the gradient has come"
    view.page.mouse.click(*first_dot(view, "tok"))
    view.until("backstep.scene().nodes.find(n => n.id === backstep.selection())?.label === 'model.tok.weight'")


def test_a_dot_tells_name_shape_and_norm_and_a_box_opens_in_its_place(view: View) -> None:
    view.end()
    view.page.mouse.move(*first_dot(view, "blocks.0: Block"))
    view.until("/^ln.weight 4, gradient norm [0-9.e-]+ /.test(document.querySelector('.bs-tip').textContent)")
    view.js(f"backstep.fold({view.node('blocks.0: Block')!r})")
    view.until("backstep.scene().nodes.some(n => n.label === 'mlp') && !document.documentElement.dataset.computing")
    assert not view.js("backstep.scene().groups.find(g => g.label === 'blocks.0: Block').folded")
    assert view.js("backstep.scene().nodes.find(n => n.label === 'mlp').dots.length") == 4
