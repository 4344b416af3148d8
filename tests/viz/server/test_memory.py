"""What stays in memory: caches of so many bytes, and nothing of what was refused or forgotten."""

from __future__ import annotations

import gc
import gzip as library
import random
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

import engine as torch
from engine.trace.events import Trace
from tests.viz.helpers.fixtures import Fake, scene
from viz.scene.reading import READ, READINGS, reading_of, weight
from viz.server.callbacks.answers import details_answer, scene_answer
from viz.server.http.gzip_pieces import gzip, pack, pack_json
from viz.server.programs import from_trace, gallery_programs
from viz.server.revisions import StoreComputation
from viz.server.store import TRACES, Catalogue, Json, SceneJob, Store
from viz.tasks.lru import Lru

PROGRAM = "constant_input"


class CountedComputation(StoreComputation):
    """The pure side on a small scene, which notes each trace that it makes."""

    def __init__(self) -> None:
        self.made: weakref.WeakSet[Trace] = weakref.WeakSet()

    def replay(self, trace: Trace, edits: object, watch: object = None) -> Trace:
        made = super().replay(trace, edits)  # type: ignore[arg-type]  # what the store hands on
        self.made.add(made)
        return made

    def scene(self, job: SceneJob) -> Any:
        reading_of(job.trace)
        return scene(job.program.id, job.revision.id, "edited", (1, 0, 0, 0))


@pytest.fixture
def no_collection() -> Iterator[None]:
    """What lives is held: no cycle waits for the collector."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def edits(number: float) -> Json:
    return {"leaves": {"0": [number, 2.0, 3.0]}, "commands": None}


@pytest.mark.usefixtures("no_collection")
def test_a_thousand_edits_leave_as_many_traces_as_the_caches_hold() -> None:
    pure = CountedComputation()
    store = Store(Catalogue([from_trace(small(), "small")]), pure)
    for number in range(1000):
        answer = scene_answer(
            store, {"program": "my-small", "edits": edits(float(number)), "previous": {"edits": None}}
        )
        assert "scene" in answer
    assert len(pure.made) <= max(TRACES[0], READINGS[0])


@pytest.mark.usefixtures("no_collection")
def test_refused_edits_leave_nothing() -> None:
    store = Store(Catalogue(gallery_programs()), StoreComputation())
    row = [0.5] * 20_000
    refused = [{"leaves": {"0": [float(number), *row]}, "commands": None} for number in range(12)]
    for wrong in refused[:2]:
        assert scene_answer(store, {"program": PROGRAM, "edits": wrong})["problem"]["kind"] == "edit-refused"
    tracemalloc.start()
    try:
        for wrong in refused[2:]:
            scene_answer(store, {"program": PROGRAM, "edits": wrong, "previous": {"edits": wrong}})
        assert tracemalloc.get_traced_memory()[0] < 80_000  # the text of one of them alone has as many
    finally:
        tracemalloc.stop()


def small() -> Trace:
    x = torch.tensor([1.0, 2, 3], requires_grad=True)
    with torch.record() as trace:
        (x * x).sum().backward()
    return trace


def layers(count: int) -> Trace:
    with torch.record() as trace:
        x = torch.ones(40, 40, requires_grad=True)
        y = x
        for _ in range(count):
            y = torch.tanh(y @ x)
        y.sum().backward()
    return trace


def test_weight_of_a_trace_and_its_reading_is_about_what_they_take() -> None:
    pure, base = StoreComputation(), layers(12)
    reading_of(pure.replay(base, {}))  # what is made once
    tracemalloc.start()
    try:
        trace = pure.replay(base, {})
        first = tracemalloc.get_traced_memory()[0]
        found = reading_of(trace)
        second = tracemalloc.get_traced_memory()[0] - first
    finally:
        tracemalloc.stop()
    assert found.facts.trace is trace
    assert 0.5 < weight(trace) / first < 2 and 0.5 < READ * len(trace.events) / second < 2


def test_lru_keeps_what_was_used_last_within_its_bytes_and_its_number() -> None:
    cache: Lru[str, bytes] = Lru(3, 100, lambda _, value: len(value))
    for key in "abc":
        cache.put(key, b"." * 40)
    assert (cache.get("a"), len(cache), cache.weight) == (None, 2, 80)
    cache.put("b", b".")  # another value in the same place
    for key in "def":
        cache.put(key, b".")
    assert (len(cache), cache.weight, cache.get("b"), cache.get("f")) == (3, 3, None, b".")


def test_lru_keeps_the_entry_used_last_however_large_it_is() -> None:
    cache: Lru[str, bytes] = Lru(3, 100, lambda _, value: len(value))
    cache.put("a", b".")
    cache.put("b", b"." * 1000)
    assert (cache.get("a"), len(cache)) == (None, 1) and cache.get("b")
    cache.put("c", b".")
    assert (len(cache), cache.weight) == (1, 1)


def test_details_need_no_second_scene_of_an_edited_revision() -> None:
    pure = Fake()
    store = Store(Catalogue([from_trace(small(), "small")]), pure)
    asked = {"program": "my-small", "edits": edits(5.0), "previous": {"edits": None}, "folds": {"g": True}}
    scene_answer(store, asked)
    assert details_answer(store, {**asked, "element": "n0"})["details"].json()["element"] == "n0"
    assert pure.scenes == 1


@pytest.mark.parametrize("count", [1, 2, 5])
def test_packed_pieces_behind_each_other_are_one_gzip_file(count: int) -> None:
    draw = random.Random(count)  # noqa: S311  the same texts each time
    texts = [bytes(draw.choices(b"0123456789,[]", k=draw.randrange(5000))) for _ in range(count)] + [b""]
    assert library.decompress(gzip([pack(text) for text in texts])) == b"".join(texts)


def test_packed_json_refuses_what_json_has_not() -> None:
    assert pack_json({"a": [1, "x"]}).json() == {"a": [1, "x"]}
    with pytest.raises(ValueError, match="JSON"):
        pack_json(float("nan"))


def test_a_revision_of_an_older_recording_is_never_answered_with_a_newer_one() -> None:
    store = Store(Catalogue([from_trace(small(), "small")]), StoreComputation())
    old = store.revision("my-small", edits(5.0))
    store.catalogue.add(from_trace(layers(1), "small"))
    for _ in range(200):
        store.trace(store.revision("my-small", None))
    with pytest.raises(Exception, match="changed while"):
        store.scene(old, None, {}, "")
