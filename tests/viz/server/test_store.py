"""The store: what is computed once, what is forgotten, and what a person reads when something is unknown."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine as torch
from engine.trace.events import Trace
from tests.viz.helpers.fixtures import Fake, program
from viz.run.run import Run
from viz.run.window import Windows
from viz.scene import reading
from viz.server import store as server_store
from viz.server.callbacks.answers import details_answer, live_answer, scene_answer
from viz.server.programs import from_file
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Problem, Store, canonical, checked
from viz.tasks.lru import Lru

ONE_HOT = {
    "leaves": {},
    "commands": [{"id": "c0", "kind": "backward", "after": 1, "root": 1, "gradient": [[0, 1, 0, 0]]}],
}


def make() -> tuple[Store, Fake]:
    pure = Fake()
    return Store(Catalogue([program(), program("other")]), pure), pure


def ask(**more: object) -> dict[str, object]:
    return {
        "request": 1,
        "program": "case",
        "edits": None,
        "revision": None,
        "previous": None,
        "layout": "",
        "folds": {},
        **more,
    }


def test_lru_forgets_what_was_used_longest_ago() -> None:
    cache: Lru[int, str] = Lru(2)
    cache.put(1, "a")
    cache.put(2, "b")
    assert cache.get(1) == "a"
    cache.put(3, "c")
    assert (cache.get(1), cache.get(2), cache.get(3), len(cache)) == ("a", None, "c", 2)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A file of ten iterations."""
    w: Any = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    with torch.record() as trace:
        for _ in range(10):
            hidden = w
            for _ in range(20):
                hidden = hidden * 1.01
            optimizer.zero_grad()
            hidden.sum().backward()
            optimizer.step()
    trace.save(str(tmp_path / "run.backstep"))
    return tmp_path / "run.backstep"


def test_a_long_section_is_cut_and_read_once_however_small_the_caches(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut, read = [], []
    trace_of, read_of = Windows.trace, reading._read

    def counted_cut(windows: Windows, number: int, *most: int) -> Trace:
        cut.append(number)
        return trace_of(windows, number, *most)

    def counted_read(trace: Trace) -> reading.Reading:
        read.append(trace)
        return read_of(trace)

    monkeypatch.setattr(Windows, "trace", counted_cut)
    monkeypatch.setattr(reading, "_read", counted_read)
    monkeypatch.setattr(reading, "_readings", Lru(48, 1, lambda _, one: 2))
    monkeypatch.setattr(server_store, "TRACES", (48, 1))
    asking, store = (Store(Catalogue([from_file(recording)]), StoreComputation()) for _ in range(2))
    revision = asking.revision("my-run", None)  # of the server; the other store is that of a process of its own
    first = store.scene(revision, None, {}, "").json()
    store.scene(revision, None, {group["id"]: True for group in first["groups"]}, "")
    store.details(revision, first["nodes"][0]["id"])
    assert (first["section"]["count"], first["section"]["iterations"]) == (10, 10)
    assert (len(cut), len(read)) == (1, 1)


def test_a_recording_without_iterations_is_the_same_trace_each_time(recording: Path) -> None:
    run = Run(Trace.open(str(recording)), most=50, is_told=True)
    assert run.trace(0) is run.trace(0) and len(run.trace(0).events) == 50


def test_revision_is_the_same_for_equal_edits_and_another_for_others() -> None:
    store, _ = make()
    again = {"commands": [dict(reversed(ONE_HOT["commands"][0].items()))], "leaves": {}}  # type: ignore[index]  # dicts
    assert store.revision("case", ONE_HOT).id == store.revision("case", again).id
    assert store.revision("case", ONE_HOT).id != store.revision("case", None).id
    assert store.revision("case", ONE_HOT).id != store.revision("other", ONE_HOT).id


def test_program_that_another_process_records_keeps_no_other_waiting() -> None:
    """The first lesson of a course may take seconds; the cards of the others are painted meanwhile."""
    begun, goes_on = threading.Event(), threading.Event()
    other = program("other")

    def slowly() -> Trace:
        begun.set()
        assert goes_on.wait(60)
        return other.record()

    store = Store(Catalogue([replace(program(), record=slowly), other]), Fake())
    waiting = threading.Thread(target=store.recorded, args=("case",))
    waiting.start()
    assert begun.wait(60)
    try:
        store.recorded("other")
        assert waiting.is_alive()
    finally:
        goes_on.set()
        waiting.join()


def test_scene_is_computed_once_for_a_revision() -> None:
    store, pure = make()
    for _ in range(3):
        scene_answer(store, ask(edits=ONE_HOT))
    assert (pure.scenes, pure.replays) == (1, 1)


def test_scene_is_computed_once_when_threads_ask_at_the_same_time() -> None:
    store, pure = make()
    threads = [threading.Thread(target=scene_answer, args=(store, ask())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pure.scenes == 1


def test_scene_answer_repeats_the_number_of_the_request() -> None:
    store, _ = make()
    answer = scene_answer(store, ask(request=41))
    assert answer["request"] == 41 and answer["scene"].json()["program"]["id"] == "case" and answer["edits"] is None


def test_scene_answer_finds_a_revision_by_its_id_while_it_is_known() -> None:
    store, _ = make()
    made = scene_answer(store, ask(edits=ONE_HOT))
    revision = made["scene"].json()["revision"]["id"]
    named = scene_answer(store, ask(revision=revision))
    assert named["scene"].json()["revision"]["id"] == revision
    assert named["edits"]["commands"] == ONE_HOT["commands"]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ({"program": "gone"}, "unknown-program"),
        ({"revision": "0123456789abcdef"}, "unknown-revision"),
        ({"program": None}, "bad-ask"),
        ({"edits": ["no"]}, "bad-edits"),
        ({"edits": {"leaves": [], "commands": "x"}}, "bad-edits"),
        ({"edits": {"leaves": {}, "commands": [1]}}, "bad-edits"),
    ],
)
def test_scene_answer_explains_what_it_cannot_show(question: dict[str, object], kind: str) -> None:
    store, _ = make()
    problem = scene_answer(store, ask(**question))["problem"]
    assert problem["kind"] == kind and problem["title"] and problem["text"] and problem["ways"]


def test_scene_answer_of_a_failure_is_a_sentence_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    store, pure = make()

    def broken(_job: object) -> dict[str, object]:
        raise KeyError("inner")

    monkeypatch.setattr(pure, "scene", broken)
    problem = scene_answer(store, ask())["problem"]
    assert problem["kind"] == "failed" and "KeyError" in problem["text"] and "File" not in problem["text"]


def test_details_answer_is_computed_once_for_an_element_of_a_revision() -> None:
    store, pure = make()
    question = {"request": 7, "program": "case", "edits": ONE_HOT, "revision": "r", "element": "n0"}
    first, second = details_answer(store, question), details_answer(store, question)
    assert first == second and first["request"] == 7 and first["element"] == "n0" and pure.asked == 1


def test_details_answer_of_a_failure_names_the_element_that_was_asked_for() -> None:
    store, _ = make()
    base = store.revision("case", None).id
    answer = details_answer(store, {"request": 7, "program": "case", "edits": {}, "revision": base, "element": "t9"})
    assert answer["problem"]["kind"] == "failed" and answer["element"] == "t9" and answer["revision"] == base


def test_live_answer_tells_of_a_new_recording_and_revisions_follow_it() -> None:
    store, _ = make()
    before = store.revision("case", None).id
    assert live_answer(store, "case")["version"] == 1
    store.catalogue.add(program())
    assert live_answer(store, "case")["version"] == 2
    assert store.revision("case", None).id != before
    assert live_answer(store, "gone")["version"] is None


def test_canonical_takes_missing_parts_as_empty() -> None:
    assert canonical(None) == canonical({}) == canonical({"leaves": {}, "commands": None})
    assert checked(None) == {"leaves": {}, "commands": None}
    with pytest.raises(Problem):
        checked({"leaves": {}, "commands": [{"id": "c0"}]})
