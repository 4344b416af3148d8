"""Requests that the page never sends, made from the app's own callbacks: each gets one line, and nothing runs.

A callback that is added is covered: what it takes is read from its types.
"""

from __future__ import annotations

import copy
import inspect
import json
import logging
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest
from pydantic import TypeAdapter
from werkzeug.test import Client, TestResponse

from viz.server.app import build, guarded
from viz.server.callbacks.requests import EXPORT, NAMED, RERUN, SCENE
from viz.server.http.security import MAX_BODY, TRACE_PATH
from viz.server.programs import gallery_programs
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

PROGRAM = "constant_input"
POST = {"Host": "127.0.0.1:8050", "Origin": "http://127.0.0.1:8050", "Content-Type": "application/json"}
CALLBACKS, EXPORTS, PROGRESS = "/_dash-update-component", "/export/backstep", "/export/html/progress"
KNOWN = {"program": PROGRAM, "element": "t0", "revision": "", "layout": "", "kind": "backward"}
DEEP = "[" * 100_000
WRONG: tuple[Any, ...] = (
    None, True, -1, 0, 7, 1.5, 2**70, "", "x", "0", "x" * 5000, [], [None], [[[1]]], {}, {"x": 1}, {"0": [1.0, 2]},
)  # fmt: skip
MARKS = {"NaN": "NaN", "Infinity": "Infinity", "1e999": "1e999", "surrogate": '"\\ud800"', "deep": DEEP,
         "long": "9" * 5000}  # fmt: skip

app = build(Store(Catalogue(gallery_programs()), StoreComputation()))
ASKING = {output: inspect.unwrap(one["callback"]) for output, one in app.callback_map.items() if "callback" in one}


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(guarded(app))


def example(schema: Any, defs: Any, name: str = "") -> Any:
    """A value that fits a JSON schema, with all that may be in it."""
    if "$ref" in schema:
        return example(defs[schema["$ref"].rsplit("/", 1)[1]], defs, name)
    if "anyOf" in schema:
        return example(schema["anyOf"][0], defs, name)
    if "properties" in schema:
        return {key: example(part, defs, key) for key, part in schema["properties"].items()}
    kinds: dict[Any, Any] = {
        "string": KNOWN.get(name, "c0"),
        "boolean": False,
        "integer": 1,
        "object": {},
        "null": None,
        None: 1.0,
    }
    return [example(schema["items"], defs, name)] if schema.get("type") == "array" else kinds[schema.get("type")]


def example_of(kind: Any) -> Any:
    schema = TypeAdapter(kind).json_schema()
    return example(schema, schema.get("$defs", {}))


def body(output: str) -> dict[str, Any]:
    """The request of a callback as the page sends it."""
    listed, hints = app.callback_map[output], get_type_hints(ASKING[output], include_extras=True)
    component, _, prop = output.rpartition(".")
    kinds = [kind for name, kind in hints.items() if name != "return"]
    inputs = [{**spec, "value": example_of(kind)} for spec, kind in zip(listed["inputs"], kinds, strict=True)]
    changed = [f"{spec['id']}.{spec['property']}" for spec in listed["inputs"]]
    about = {"output": output, "outputs": {"id": component, "property": prop}}
    return {**about, "inputs": inputs, "changedPropIds": changed, "parsedChangedPropsIds": changed}


PLAIN: dict[str, Any] = {
    EXPORTS: EXPORT,
    PROGRESS: EXPORT,
    "/scene": SCENE,
    "/rerun": RERUN,
    "/rerun/stop": NAMED,
    "/on-torch": NAMED,
}
"""The other requests with a JSON body, and what it may have."""
REQUESTS = [
    *((CALLBACKS, body(output)) for output in ASKING),
    *((address, example_of(shape._type)) for address, shape in PLAIN.items()),
]
"""Every request that the page posts, with all that may be in it."""
NAMES = [*ASKING, *PLAIN]


def test_every_address_that_takes_a_body_is_here() -> None:
    routes = [rule for rule in app.server.url_map.iter_rules() if "POST" in (rule.methods or ())]
    known = {
        CALLBACKS,
        TRACE_PATH,
        "/export/<ending>",
        "/export/<ending>/progress",
        *PLAIN,
    }  # of a trace file: `test_crafted`
    assert {rule.rule for rule in routes} - known == set()


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each value."""
    if path:
        yield path
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(data)
    part = made
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return made


def without(data: Any, path: tuple[Any, ...]) -> Any:
    made = copy.deepcopy(data)
    part = made
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]
    return made


def holder(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def refused(answer: TestResponse) -> bool:
    return answer.status_code == 400 and answer.text.count("\n") == 1 and len(answer.text) < 400


def is_faultless(answer: TestResponse, caplog: pytest.LogCaptureFixture) -> bool:
    """Whether it is answered, with a problem that is explained, or refused, and nobody is told of a fault."""
    loud = [record for record in caplog.records if record.levelno >= logging.WARNING]
    explained = answer.status_code in (200, 204, 404) and b'"kind":"failed"' not in answer.data
    return not loud and (refused(answer) or explained)


@pytest.fixture(params=REQUESTS, ids=NAMES)
def sent(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    found: tuple[str, dict[str, Any]] = request.param
    return found


Sent = tuple[str, dict[str, Any]]


def test_the_example_of_each_request_is_one_that_the_app_reads(client: Client, sent: Sent) -> None:
    address, whole = sent
    assert client.post(address, data=json.dumps(whole), headers=POST).status_code != 400


def test_any_other_value_anywhere_is_refused_or_explained(
    client: Client, sent: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    address, whole = sent
    bad = []
    for path in places(whole):
        for value in WRONG:
            answer = client.post(address, data=json.dumps(changed(whole, path, value)), headers=POST)
            if not is_faultless(answer, caplog):
                bad.append((path, str(value)[:40], answer.status_code, answer.data[:300]))
                caplog.clear()
    assert bad == []


def test_numbers_that_json_has_not_and_endless_depth_are_refused_anywhere(
    client: Client, sent: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    address, whole = sent
    for path in places(whole):
        for name, text in MARKS.items():
            forged = json.dumps(changed(whole, path, "MARK")).replace('"MARK"', text)
            answer = client.post(address, data=forged, headers=POST)
            assert refused(answer), (path, name, answer.status_code, answer.data[:300])
    assert caplog.records == []


def test_anything_more_is_refused_anywhere(client: Client, sent: Sent, caplog: pytest.LogCaptureFixture) -> None:
    address, whole = sent
    free = {"leaves", "folds"}  # their keys are tensors and groups
    for path in ((), *places(whole)):
        if isinstance(holder(whole, path), dict) and not free & {*path[-1:]}:
            answer = client.post(address, data=json.dumps(changed(whole, (*path, "more"), 1)), headers=POST)
            assert refused(answer), (path, answer.text[:300])
    assert caplog.records == []


def test_anything_less_is_refused_or_read_as_not_given(
    client: Client, sent: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    address, whole = sent
    for path in places(whole):
        answer = client.post(address, data=json.dumps(without(whole, path)), headers=POST)
        assert is_faultless(answer, caplog), (path, answer.status_code, answer.data[:300])
    for key in ("output", "outputs", "inputs") if address == CALLBACKS else ("program",):
        assert refused(client.post(address, data=json.dumps(without(whole, (key,))), headers=POST))


@pytest.mark.parametrize(
    "raw",
    [b"", b"null", b"[]", b"1", b'"x"', b"{", b"{}", b"\xff\xfe", b"NaN", b'{"output": "x"', DEEP.encode(),
     b'{"a":' * 100_000, b'{"output": "lazy.data", "inputs": []}', b'{"output": "..details.data..", "inputs": []}'],
    ids=range(14),
)  # fmt: skip
@pytest.mark.parametrize("address", [CALLBACKS, *PLAIN])
def test_what_is_no_request_at_all_is_refused(
    client: Client, address: str, raw: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert refused(client.post(address, data=raw, headers=POST)) and caplog.records == []


def test_more_than_a_leaf_of_a_million_numbers_is_not_read(client: Client) -> None:
    answer = client.post(CALLBACKS, data=b"[" * (MAX_BODY + 1), headers=POST)
    assert (answer.status_code, answer.text) == (413, "Request Entity Too Large.\n")


UNKNOWN = ({"program": "no such"}, {"revision": "0123456789abcdef", "edits": None}, {"element": "t999"},
           {"edits": {"leaves": {"999": [1.0]}, "commands": None}},
           {"edits": {"leaves": {}, "commands": [{"id": "c0", "kind": "backward", "root": 999, "after": 0}]}},
           {"edits": {"leaves": {}, "commands": [{"id": "new1", "kind": "backward", "root": 1, "after": 999}]}},
           {"edits": {"leaves": {}, "commands": [{"id": "new1", "kind": "zero", "leaf": 999, "after": 1}]}},
           {"edits": {"leaves": {}, "commands": [{"id": "n", "kind": "set", "leaf": 0, "after": 1, "gradient": []}]}},
           {"edits": {"leaves": {}, "commands": [{"id": "c", "kind": "backward", "roots": [1, 999], "inputs": [999]}]}},
           {"layout": "no such"}, {"folds": {"no such": True}})  # fmt: skip


@pytest.mark.parametrize("unknown", UNKNOWN, ids=str)
def test_an_unknown_id_is_explained(
    client: Client, sent: Sent, unknown: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    address, whole = sent
    ask = copy.deepcopy(whole["inputs"][0]["value"] if address == CALLBACKS else whole)
    if not ask.keys() >= unknown.keys():
        return
    ask.update({**{key: None for key in ("edits", "revision") if key in ask}, **unknown})
    forged = changed(whole, ("inputs", 0, "value"), ask) if address == CALLBACKS else ask
    answer = client.post(address, data=json.dumps(forged), headers=POST)
    assert not refused(answer) and is_faultless(answer, caplog), answer.data[:300]


@pytest.mark.parametrize(
    "path",
    ["/scene", "/scene?program=%00", "/scene?program=no", "/live", "/live?program=%ff",
     "/run", "/run?program=%00", "/run?program=no", "/run/graphs", "/run/graphs?program=no",
     "/search", "/search?q=%00%ff", "/search?q=" + "x%20" * 1000, "/pair", "/pair?program=%00",
     "/share?path=%00", "/share?path=//no.example", "/share?path=" + "x" * 5000,
     "/_dash-component-suites/no/x.js", "/_dash-component-suites/dash/no.js",
     "/_dash-component-suites/dash/dcc/%00.js", "/assets/%00", "/assets/no.js",
     "/_reload-hash", "/_dash-layout/x", "/no/such"],
)  # fmt: skip
def test_any_address_is_answered_without_a_fault(client: Client, path: str, caplog: pytest.LogCaptureFixture) -> None:
    with client.get(path, headers=POST) as answer:
        assert answer.status_code < 500 and not [r for r in caplog.records if r.levelno >= logging.WARNING]
