"""Run the same on PyTorch: what is answered where it cannot run, and that its recording joins the programs."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

import engine
from engine.trace.events import Trace
from viz.record.runner import SILENT, Script
from viz.server.app import build
from viz.server.front.local import LocalServer
from viz.server.front.uploads import DroppedFiles
from viz.server.library import on_torch
from viz.server.library.pair import Pair, page
from viz.server.programs import about_script
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Problem, Program, Store


def recorded(factor: float = 1.0) -> Trace:
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        (x * 2 * factor).sum().backward()
    return trace


def made(script: Script | None) -> Store:
    return Store(Catalogue([Program("lesson", about_script("lesson.py"), recorded, script=script)]), StoreComputation())


@pytest.fixture
def torch_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PyTorch that computes as the engine does, with a factor."""
    monkeypatch.setattr(on_torch, "has_torch", lambda: True)
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "2.13.0")

    def run(script: Script, trace_path: Path, **options: Any) -> None:
        assert options["on_torch"] and options["streams"] == SILENT and not script.module
        recorded(float(script.args[0])).save(str(trace_path))

    monkeypatch.setattr(on_torch, "run_script", run)


@pytest.mark.usefixtures("torch_is_there")
@pytest.mark.parametrize(
    ("factor", "said", "steps"),
    [
        ("1", "Backstep's engine and PyTorch 2.13.0 do the same", ()),
        ("3", "First difference, in step 2: in the op mul", (2, 2)),
    ],
)
def test_program_of_pytorch_joins_the_others_and_says_how_it_compares(
    factor: str, said: str, steps: tuple[int, ...]
) -> None:
    store = made(Script(Path("lesson.py"), (factor,)))
    pairs: dict[str, Pair] = {}
    answer = on_torch.on_torch(store, "lesson", pairs)
    assert answer["program"] == "lesson-on-pytorch" and answer["text"].startswith(said)
    twin = store.catalogue.find("lesson-on-pytorch")
    assert twin.about["title"] == "lesson.py on PyTorch 2.13.0"
    pair = pairs[twin.id]
    assert pair.programs == ("lesson", twin.id) and pair.steps == steps
    html = page(pair, "assets/1")
    assert "program=lesson&amp;pair=1" in html and "program=lesson-on-pytorch&amp;pair=1" in html
    assert ("Go to the first difference" in html) == bool(steps)
    assert len(store.recorded("lesson-on-pytorch").events) == len(recorded().events)


def test_reasons_why_a_program_cannot_run_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Problem, match="It is not a script that Backstep has run"):
        on_torch.on_torch(made(None), "lesson", {})
    monkeypatch.setattr(on_torch, "has_torch", lambda: False)
    with pytest.raises(Problem, match="pip install torch"):
        on_torch.on_torch(made(Script(Path("lesson.py"))), "lesson", {})


@pytest.mark.usefixtures("torch_is_there")
def test_server_of_one_person_runs_it_and_one_for_many_does_not() -> None:
    def asked(sender: str, is_many: bool = False) -> Any:
        store = made(Script(Path("lesson.py"), ("1",)))
        client = Client(build(store, local=None if is_many else LocalServer(DroppedFiles(store.catalogue))).server)
        return client.post(
            "/on-torch", data=json.dumps({"program": "lesson"}), content_type="application/json",
            headers={"Host": "127.0.0.1:8050"}, environ_base={"REMOTE_ADDR": sender},
        )  # fmt: skip

    assert asked("127.0.0.1").get_json()["program"] == "lesson-on-pytorch"
    for refused in (asked("10.0.0.3"), asked("127.0.0.1", is_many=True)):
        assert refused.status_code == 404 and "Only the machine" in refused.get_json()["problem"]["text"]
