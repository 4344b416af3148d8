"""Edits of a recording of PyTorch that only a run of the program can compute: made at their place, bounded, refused."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from werkzeug.test import Client

import backstep
from engine.replay.program import commands
from engine.trace.events import Accumulated, BackwardStarted, LeafCreated, Trace
from viz.cli import main
from viz.record.runner import Script
from viz.run.run import Run
from viz.server import scripts
from viz.server.app import build
from viz.server.callbacks.answers import rerun_answer, scene_answer
from viz.server.front.local import LocalServer
from viz.server.front.uploads import DroppedFiles
from viz.server.library.rerun import Reruns, script_of
from viz.server.library.run_changes import RunEditError, difference_elsewhere
from viz.server.programs import from_file
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Program, Revision, Store

pytestmark = pytest.mark.parity

torch = pytest.importorskip("torch")

SPECTRUM = """
import os, sys, threading
mode = open("mode").read()
if mode == "die":
    os._exit(3)
if mode == "ask":
    input("seed? ")
if mode == "hang":
    open("hangs", "w").close()  # a pipe: whoever waits for it goes on
    threading.Event().wait()
import torch
torch.manual_seed(0)
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
noise = torch.randn(3)
y = torch.fft.rfft(w * noise).abs()
y.backward(torch.ones(2), retain_graph=True)
y.backward(torch.ones(2))
(w * 2).sum().backward()
"""
LEAF, FIRST = "0", 0


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The program, recorded once, in its folder."""
    folder, before = tmp_path_factory.mktemp("spectrum"), Path.cwd()
    os.chdir(folder)
    Path("mode").write_text("once", "utf-8")
    Path("spectrum.py").write_text(SPECTRUM, "utf-8")
    try:
        yield scripts.add(Catalogue(), Script(Path("spectrum.py")), as_torch=False, watch=False, rerun=True)
    finally:
        os.chdir(before)


@pytest.fixture
def store(recorded: Program) -> Store:
    Path("mode").write_text("once", "utf-8")
    Path("spectrum.py").write_text(SPECTRUM, "utf-8")
    return Store(Catalogue([recorded]), StoreComputation())


def calls(store: Store, changes: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """The commands of the program, some with other arguments."""
    listed = commands(store.recorded("my-spectrum"))
    return [
        {"id": one.id, "kind": "backward", "after": one.after, "gradient": None, "retain_graph": one.retain_graph,
         "create_graph": False, **changes.get(nr, {})}
        for nr, one in enumerate(listed)
    ]  # fmt: skip


def asked(leaves: dict[str, Any] | None = None, commands: Any = None) -> dict[str, Any]:
    return {"request": 1, "program": "my-spectrum", "edits": {"leaves": leaves or {}, "commands": commands}}


def run_again(store: Store, ask: dict[str, Any], seconds: float = 600) -> dict[str, Any]:
    """The scene once the program has run again; or the problem."""
    first = scene_answer(store, ask)["problem"]
    assert first["kind"] == "run-again" and first["title"] == "Running spectrum.py again …"
    problem = rerun_answer(store, Reruns(store, seconds), ask).get("problem")
    return {"problem": problem} if problem else scene_answer(store, ask)


def gradients(trace: Trace) -> list[Any]:
    return [trace.value(event.after).array for event in trace.events if isinstance(event, Accumulated)]


def plain(noise: Any, w: Any, first: Any) -> list[Any]:
    """The gradients that plain PyTorch gives: the values of w, and the gradient of the first call, are as asked."""
    w = torch.tensor(w, requires_grad=True)
    y = torch.fft.rfft(w * torch.tensor(noise)).abs()
    found = []
    for root, gradient in ((y, torch.tensor(first)), (y, torch.ones(2)), ((w * 2).sum(), None)):
        root.backward(gradient, retain_graph=True)
        found.append(w.grad.clone().numpy())
    return found


def test_edit_is_made_at_its_place_and_computed_by_pytorch(store: Store) -> None:
    ask = asked({LEAF: [3.0, -1.0, 0.5]}, calls(store, {FIRST: {"gradient": [2.0, -1.0]}}))
    scene = run_again(store, ask)["scene"].json()
    assert scene["revision"]["recomputed"] == f"Run again by PyTorch {torch.__version__.partition('+')[0]}."
    assert scene["error"] is None and {one["kind"] for one in scene["changes"]} == {"edited"}
    revision = store.revision("my-spectrum", ask["edits"])
    trace, base = store.trace(revision), store.recorded("my-spectrum")
    noise = next(e for e in base.events if isinstance(e, LeafCreated) and e.source == "randn")
    for one, other in zip(
        gradients(trace), plain(base.value(noise.value).array, [3.0, -1.0, 0.5], [2.0, -1.0]), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert [type(one) for one in trace.events] == [type(one) for one in base.events]
    tensors = [[getattr(one, "tensor", None) for one in made.events] for made in (trace, base)]
    assert tensors[0] == tensors[1]  # what is compared in the picture has the same numbers


@pytest.mark.newest
def test_error_of_the_program_is_shown_as_its_own(store: Store) -> None:
    scene = run_again(store, asked(commands=calls(store, {FIRST: {"retain_graph": False}})))["scene"].json()
    assert scene["error"]["message"].startswith("Trying to backward through the graph a second time")


@pytest.mark.newest
def test_program_that_does_not_repeat_itself_says_so() -> None:
    def recording(seed: int, is_longer: bool = False) -> Trace:
        with backstep.record() as trace:
            w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
            y = w * 2 if is_longer else w
            noise = torch.randn(3, generator=torch.Generator().manual_seed(seed))
            (y * noise).sum().backward()
        return trace

    run, same, other, longer = Run(recording(1)), recording(1), recording(2), recording(1, is_longer=True)
    start = next(event.index for event in run.whole.events if isinstance(event, BackwardStarted))
    assert difference_elsewhere(run, same, 0, {0}) == difference_elsewhere(run, same, start, set()) == ""
    said = difference_elsewhere(run, other, 0, {0})
    assert said.startswith("noise differs from the recording by") and "random numbers each time it runs" in said
    assert "before the edit: the program does not" in difference_elsewhere(run, other, start, set())
    assert "took another path even before the edit" in difference_elsewhere(run, longer, start, set())


@pytest.mark.parametrize(
    ("mode", "said", "seconds"),
    [("die", "ended in the middle of its run, with status 3", 600), ("ask", "reads its standard input", 600),
     ("hang", "ran for more than 0 s and was stopped", 0.1)],
)  # fmt: skip
@pytest.mark.newest
def test_run_that_does_not_come_to_its_end_changes_nothing(store: Store, mode: str, said: str, seconds: float) -> None:
    Path("mode").write_text(mode, "utf-8")
    problem = run_again(store, asked({LEAF: [1.0, 1.0, 1.0]}), seconds)["problem"]
    assert said in problem["text"] and problem["text"].endswith("the previous revision is still shown.")
    assert not store.again


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.newest
def test_run_that_hangs_is_stopped_from_the_page(store: Store) -> None:
    Path("mode").write_text("hang", "utf-8")
    os.mkfifo("hangs")
    reruns, answers = Reruns(store), []
    ask = asked({LEAF: [1.0, 1.0, 1.0]})
    runs = threading.Thread(target=lambda: answers.append(rerun_answer(store, reruns, ask)))
    runs.start()
    open("hangs").close()  # it hangs now
    reruns.stop()
    runs.join()
    assert "spectrum.py was stopped" in answers[0]["problem"]["text"]


@pytest.mark.newest
def test_run_that_has_not_begun_is_stopped_too_and_the_next_one_is_not(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    reruns, ask = Reruns(store), asked({LEAF: [1.0, 1.0, 1.0]})

    def whole(revision: Revision) -> Any:
        reruns.stop()
        return Store.whole(store, revision)

    with monkeypatch.context() as patch:
        patch.setattr(store, "whole", whole)
        answer = rerun_answer(store, reruns, ask)
    assert "spectrum.py was stopped" in answer["problem"]["text"] and not store.again
    assert "problem" not in rerun_answer(store, reruns, ask) and store.again


@pytest.mark.newest
def test_edits_that_a_run_cannot_make_are_refused_before_it(store: Store) -> None:
    all_calls = calls(store, {})
    for ask, said in (
        (asked(commands=all_calls[1:]), "To add, remove or move calls, change the script"),
        (asked({LEAF: [1.0, 2.0]}), r"expected numbers in shape [3]"),
        (asked({"2": [1.0, 2.0, 3.0]}), "only values of leaves can be changed"),
        (asked(commands=all_calls), "would not change a run"),
    ):
        text = run_again(store, ask)["problem"]["text"]
        assert said in text, text


@pytest.mark.newest
def test_script_that_has_changed_is_not_run(store: Store) -> None:
    Path("spectrum.py").write_text(SPECTRUM.replace("rfft", "hfft"), "utf-8")
    ask = asked({LEAF: [1.0, 1.0, 1.0]})
    assert "spectrum.py has changed since it was recorded" in run_again(store, ask)["problem"]["text"]
    Path("spectrum.py").unlink()
    assert "spectrum.py is no longer there" in run_again(store, ask)["problem"]["text"]


@pytest.mark.newest
def test_file_that_is_only_opened_runs_nothing(
    store: Store, recorded: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recorded.file is not None
    opened = from_file(Path(recorded.file.path))
    own = Store(Catalogue([opened]), StoreComputation())
    ask = {**asked({LEAF: [1.0, 1.0, 1.0]}), "program": opened.id}
    monkeypatch.setattr("viz.server.library.rerun.run_script", None)  # nothing may come so far
    assert scene_answer(own, ask)["problem"]["kind"] == "not-recomputed"
    for local, text in ((LocalServer(DroppedFiles(own.catalogue)), "only with `--rerun`"), (None, "Only the machine")):
        answer = Client(build(own, local=local).server).post(
            "/rerun", data=json.dumps({"program": opened.id, "edits": ask["edits"]}), content_type="application/json",
            headers={"Host": "127.0.0.1:8050"}, environ_base={"REMOTE_ADDR": "127.0.0.1"},
        )  # fmt: skip
        assert text in answer.get_json()["problem"]["text"]
    assert script_of(opened.record()).path.name == "spectrum.py"
    for forged, said in (
        (replace(opened.record(), files={}), "does not have the text of spectrum.py"),
        (replace(opened.record(), argv=("mode",)), "does not have the text of mode"),
    ):
        with pytest.raises(RunEditError, match=said):
            script_of(forged)
    monkeypatch.chdir(tmp_path)  # a file from elsewhere
    with pytest.raises(RunEditError, match="recorded in another folder"):
        script_of(opened.record())
    assert main(["open", "--rerun", "--no-browser", recorded.file.path]) == 2
    assert "Nothing to run again" in capsys.readouterr().err
