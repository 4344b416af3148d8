"""The store: what is computed once, what is forgotten, and what a person reads when something is unknown."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from engine.trace.events import Trace
from tests.viz.helpers.fixtures import Fake, program
from viz.server.callbacks.answers import details_answer, live_answer, scene_answer
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
