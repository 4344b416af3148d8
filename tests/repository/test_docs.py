"""Pages that are made from the code are as fresh as the code, and PyTorch's names are here or left out for a reason."""

from __future__ import annotations

import importlib
import re
import sqlite3
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import engine
from docs.make import left_out, ops, reference, scene_format, shared
from docs.make.left_out import names, sorted_out
from engine.ops.op import REGISTRY
from viz.graph import folds
from viz.layout import views
from viz.scene import visible_graph

ROOT = Path(__file__).resolve().parents[2]


def test_page_of_ops_is_what_the_registry_says() -> None:
    assert ops.FILE.read_text(encoding="utf-8") == ops.page(), "run python -m docs.make.ops"


def test_decisions_have_their_number_in_the_heading() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [page.name[:4] for page in pages]
    assert numbers == [f"{number:04}" for number in range(1, len(pages) + 1)]
    assert [page.name for page in pages if not page.read_text("utf-8").startswith(f"# {page.name[:4]}: ")] == []


def test_page_of_ops_names_every_op() -> None:
    text = ops.FILE.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in REGISTRY if not name.startswith("_doc"))


def test_names_that_are_missing_have_a_reason_and_reasons_a_name() -> None:
    _, unexplained, dead = sorted_out()
    assert unexplained == [], f"say why in {left_out.REASONS.name}, or add them"
    assert dead == [], f"these are here by now, or were never missing: take them out of {left_out.REASONS.name}"


def test_reference_is_what_the_code_says() -> None:
    assert reference.FILE.read_text(encoding="utf-8") == reference.page(), "run python -m docs.make.reference"


def test_reference_says_something_of_every_name() -> None:
    page = reference.page()
    assert [line for line in page.splitlines() if line.endswith("|  |")] == []
    assert "|---|---|\n\n" not in page, "a section has no names"


def test_page_of_the_scene_and_its_types_are_what_the_schema_says() -> None:
    text = scene_format.PAGE.read_text(encoding="utf-8")
    assert scene_format.page(text) == text, "run python -m docs.make.scene_format"
    assert scene_format.TYPES.read_text(encoding="utf-8") == scene_format.declarations(), "likewise"


def test_numbers_that_server_and_browser_share_are_those_of_the_server() -> None:
    assert shared.FILE.read_text(encoding="utf-8") == shared.module(), "run python -m docs.make.shared"


def test_every_type_of_the_schema_is_explained() -> None:
    named = [one for module in scene_format.MODULES for one in scene_format.types(module).values()]
    assert len(named) > 50
    assert [one.name for one in named if not one.alias and not one.about] == []
    assert [one.name for one in named if not one.alias and not one.fields] == []
    silent = [f"{one.name}.{field.name}" for one in named for field in one.fields if not field.about.strip(".")]
    assert silent == []


@pytest.mark.parity
def test_names_to_compare_with_are_names_of_torch() -> None:
    torch = pytest.importorskip("torch")
    gone = []
    for place, listed in names().items():
        holder = room_of_torch(torch, place)
        gone += [f"{place}.{name}" for name in listed if not hasattr(holder, name)]
    assert gone == []


@pytest.mark.parity
def test_names_to_compare_with_are_all_that_a_room_offers() -> None:
    torch = pytest.importorskip("torch")
    assert set(names()) - WITH_INNER >= {"torch.distributions", "torch.optim", "torch.masked", "torch.utils.data"}
    assert {
        f"{place}.{name}"
        for place, listed in names().items()
        if place not in WITH_INNER
        for name in offered(room_of_torch(torch, place))
        if name not in listed
    } == set()


WITH_INNER = {"torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.linalg"}
"""Rooms that offer names of the compiler's and of libraries' too, which no list of torch's tells apart."""


def room_of_torch(torch: Any, place: str) -> Any:
    """A module of torch, some of which have to be imported; or its class Tensor."""
    return torch.Tensor if place == "torch.Tensor" else importlib.import_module(place)


def offered(room: Any) -> list[str]:
    """The names in its `__all__`, or those that are defined in it, but for modules."""
    own = [name for name, thing in vars(room).items() if getattr(thing, "__module__", "") == room.__name__]
    listed = getattr(room, "__all__", None) or own
    return [n for n in listed if not n.startswith("_") and not isinstance(getattr(room, n), ModuleType)]


def test_page_of_dependencies_names_each_with_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    named = dict(re.findall(r"^\| ([\w-]+) \| (?:`([^`]+)`)?", page, re.MULTILINE))
    asked = dict(split(line) for line in project["dependencies"])
    assert {name: named.get(name) for name in asked} == asked
    for line in project["optional-dependencies"]["cuda"]:
        assert " ".join(split(line)) in page
    assert [line for line in project["optional-dependencies"]["test"] if split(line)[0] not in page] == []


def split(requirement: str) -> tuple[str, str]:
    """A requirement as (name, range)."""
    name, asked = re.match(r"([\w-]+)([^;]*)", requirement).groups()  # type: ignore[union-attr] # each begins with a name
    return name, asked.strip()


def test_questions_to_a_trace_file_are_answered(tmp_path: Path) -> None:
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
    trace.save(str(tmp_path / "run.backstep"))
    (block,) = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "trace-format.md").read_text("utf-8"), re.DOTALL)
    database = sqlite3.connect(tmp_path / "run.backstep")
    ops, arrived = (database.execute(question).fetchall() for question in block.split(";")[:2])
    database.close()
    assert [row[1:] for row in ops] == [("mul", "MulBackward0"), ("sum", "SumBackward0")]
    assert [row[1:] for row in arrived] == [("x", "[2]")]


def test_figures_of_what_begins_folded_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "scene-format.md").read_text(encoding="utf-8")
    part = page[page.index("## Groups that open folded") :].partition("\n## ")[0]
    wide, high = visible_graph.VIEW
    for figure in (
        f"With up to {folds.FOLD_ABOVE} nodes ({folds.FOLD_ABOVE_TOLD} in a program with chapters",
        f"at a zoom of {views.WHOLE} in a stage of {wide:.0f} × {high:.0f} px",
        f"more than {views.MOST_NODES} places",
        f"more than {folds.OPEN_UP_TO} places",
        f"edges to up to {visible_graph.MOST_USERS} of its uses",
    ):
        assert figure in part
