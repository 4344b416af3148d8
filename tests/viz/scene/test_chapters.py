"""Chapters of a program, found again in its scene."""

from __future__ import annotations

from typing import Any

import pytest

from viz.gallery import Chapter, StepRef, resolve


def code(line: int, col: int, stop: int, end: int | None = None) -> dict[str, int]:
    return {"file": 1, "line": line, "end": end or line, "col": col, "stop": stop}


def scene() -> dict[str, Any]:
    """y = 2 * x and two backward calls, the first one over two lines."""
    text = "x = leaf()\ny = 2 * x\ny.backward(\n    w)\ny.backward(v)\n"
    first, second, product = code(3, 0, 6, end=4), code(5, 0, 13), code(2, 4, 9)
    backward = [("vjp", "n0"), ("accumulate", "t0")]
    steps = [{"kind": "forward", "at": "n0", "code": product, "from": None}]
    steps += [
        {"kind": kind, "at": at, "code": product, "from": call} for call in (first, second) for kind, at in backward
    ]
    nodes = [
        {"id": "t0", "kind": "tensor", "label": "x", "code": None},
        {"id": "n0", "kind": "op", "label": "× 2", "code": product},
        {"id": "t1", "kind": "tensor", "label": "y", "code": product},
    ]
    return {
        "program": {"files": [{"name": "caller.py", "text": "y.backward(w)\n"}, {"name": "p.py", "text": text}]},
        "steps": steps,
        "nodes": nodes,
    }


def place(line: str, step: StepRef | None = None, **more: Any) -> Any:
    return resolve([Chapter("title", "text", line, step=step, **more)], scene())[0]


def test_a_chapter_unfolds_the_groups_around_what_it_names_where_it_asks_for_that() -> None:
    folded = {**scene(), "inside": {"nodes": [{**node, "unfold": ["g0", "g1"]} for node in scene()["nodes"]], "at": []}}
    told = resolve([Chapter("a", "", "y = 2", select=("x", "y"), unfold=unfold) for unfold in (True, False)], folded)
    assert [chapter.get("unfold") for chapter in told] == [["g0", "g1"], None]
    assert "unfold" not in place("y = 2", select=("x",), unfold=True)  # all is open there


@pytest.mark.parametrize(
    ("line", "step", "expected"),
    [
        ("y = 2", StepRef("forward"), 1),
        ("y.backward(", StepRef("vjp"), 2),
        ("w)", StepRef("accumulate"), 3),
        ("y.backward( #2", StepRef("accumulate"), 5),
        ("x = leaf", StepRef("accumulate", line="y.backward(v)", at="x"), 5),
        ("y = 2", StepRef("forward", at="2 * x"), 1),
        ("y.backward(", StepRef("vjp", nth=-1), 2),
        ("y.backward(", StepRef("vjp", nth=2), None),
        ("y.backward(", StepRef("vjp", nth=-2), None),
        ("y.backward(", StepRef("error"), None),
        ("y.backward(", None, None),
    ],
)
def test_step_is_the_time_at_which_what_the_line_caused_is_done(line: str, step: Any, expected: int | None) -> None:
    assert place(line, step)["step"] == expected


def test_lines_are_those_that_contain_the_texts() -> None:
    assert place("y.backward(", until="w)")["lines"] == (3, 4)
    assert place("y = 2")["lines"] == (2, 2)
    assert place("not there")["lines"] is None


def test_elements_are_found_by_label_and_by_expression() -> None:
    assert place("y = 2", select=("x", "2 * x", "× 2", "y", "gone", "x #2"))["select"] == ["t0", "n0", "n0", "t1"]


def test_chapters_keep_their_words_and_order() -> None:
    chapters = [Chapter("first", "a", "x ="), Chapter("second", "b", "y =")]
    assert [(c["title"], c["text"]) for c in resolve(chapters, scene())] == [("first", "a"), ("second", "b")]
