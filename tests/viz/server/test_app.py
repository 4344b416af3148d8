"""The app as a WSGI application: pages, files, questions, and hostile requests on the real thing."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client, TestResponse

from tests.viz.helpers.fixtures import Fake, program
from viz.server.app import build, guarded
from viz.server.components.listeners import HEARD
from viz.server.front.page import front
from viz.server.http import compression, static
from viz.server.http.gzip_pieces import DeflatedText, pack
from viz.server.http.static import SCRIPTS, Assets, assets_folder
from viz.server.store import Catalogue, Store

OWN = {"Host": "127.0.0.1:8050"}


@pytest.fixture(scope="module")
def client() -> Client:
    store = Store(Catalogue([program(), program("watched", watched=True)]), Fake())
    return Client(guarded(build(store), ["my-laptop.local"]))


SENT = {
    **OWN, "Origin": "http://127.0.0.1:8050", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json",
}  # fmt: skip


def scene(client: Client, data: Any, **headers: str) -> TestResponse:
    return client.post("/scene", data=json.dumps(data), headers={**SENT, **headers})


def ask(client: Client, output: str, component: str, data: Any, **headers: str) -> TestResponse:
    body = {
        "output": output,
        "outputs": {"id": output.partition(".")[0], "property": "data"},
        "changedPropIds": [f"{component}.data"],
        "inputs": [{"id": component, "property": "data", "value": data}],
        "state": [],
    }
    return client.post("/_dash-update-component", data=json.dumps(body), headers={**SENT, **headers})


def test_page_is_served_with_a_policy_that_covers_every_inline_script(client: Client) -> None:
    answer = client.get("/", headers=OWN)
    text, rules = answer.text, answer.headers["Content-Security-Policy"]
    assert answer.status_code == 200 and 'lang="en"' in text
    inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.+?)</script>", text, re.DOTALL)
    scripts = [body for body in inline if not body.strip().startswith("{")]
    assert scripts and rules.count("'sha256-") >= len(scripts)
    assert "unsafe-inline" not in rules.split("script-src")[1].split(";")[0]


def test_page_names_nothing_outside(client: Client) -> None:
    text = client.get("/", headers=OWN).text
    addresses = set(re.findall(r"""(?:src|href)=["']([^"']+)""", text))
    assert addresses and not [a for a in addresses if re.match(r"(https?:)?//", a)]


def loaded(client: Client) -> list[str]:
    """The addresses of our own scripts in the page."""
    return re.findall(r"""src=["'](/assets/[^"'?]+)""", client.get("/", headers=OWN).text)


def test_modules_are_served_and_the_page_loads_the_front_door_and_the_app(client: Client) -> None:
    front, early, first = sorted(loaded(client))
    folder = first.removesuffix("viz.mjs")
    assert front == f"{folder}js/front/front.mjs"
    assert early == f"{folder}js/panels/shell/early.js" and re.fullmatch(r"/assets/[0-9a-f]{12}/", folder)
    for script in (front, first):
        with client.get(script, headers=OWN) as answer:
            assert answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/javascript")
            assert "immutable" in answer.headers["Cache-Control"] and b"\nimport {" not in answer.data


def test_front_door_stands_in_the_page_and_holds_the_app_back_until_a_program_is_asked_for(client: Client) -> None:
    gallery, program = (client.get(address, headers=OWN).text for address in ("/", "/?program=weights"))
    assert '<main id="gallery">' in gallery and '<main id="gallery">' in program
    (script,) = re.findall(r"<script [^>]*front\.mjs[^>]*>", gallery)
    assert 'type="module"' in script and "async" not in script, "a browser that has it must not run it before the cards"
    (held,) = re.findall(r'<template id="held">.*?</template>', gallery, re.DOTALL)
    assert "viz.mjs" in held and "new DashRenderer" in held and "front.mjs" not in held
    assert "<template" not in program


def test_front_door_shows_what_a_program_is_called_and_nothing_else_of_it() -> None:
    name = '<script>alert("{%scripts%}")</script>'
    about = {"title": name, "question": name, "crumbs": ["Gallery", "Yours", name]}
    page, other = (front([replace(program("a&b"), about=about)], takes_files) for takes_files in (True, False))
    assert 'type="file"' in page and 'type="file"' not in other
    assert "<script>" not in page and "&lt;script&gt;" in page and 'href="/?program=a%26b"' in page


def test_a_file_without_the_number_of_its_content_is_asked_about_again(client: Client) -> None:
    first = client.get("/assets/viz.mjs", headers=OWN)
    assert first.status_code == 200 and first.headers["Cache-Control"] == "no-cache"
    again = client.get("/assets/viz.mjs", headers={**OWN, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert client.get("/assets/viz.mjs", headers={**OWN, "If-None-Match": '"another"'}).data == first.data


def test_the_files_of_another_version_are_never_sent(client: Client) -> None:
    assert client.get("/assets/0123456789ab/viz.mjs", headers=OWN).status_code == 404


def test_the_number_of_the_files_is_another_where_one_of_them_is(tmp_path: Path) -> None:
    for script in SCRIPTS:
        (tmp_path / script).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / script).write_text("")
    (tmp_path / "app.css").write_text("1")
    versions = [Assets(tmp_path).version]
    (tmp_path / "app.css").write_text("2")
    versions.append(Assets(tmp_path).version)
    (tmp_path / "app.css").rename(tmp_path / "app.txt")
    versions.append(Assets(tmp_path).version)
    assert len(set(versions)) == 3


LARGE = ("/", "/_dash-layout", "/_dash-dependencies", "/assets/css/app.css", "/assets/js/front/front.mjs")


@pytest.mark.parametrize("path", LARGE)
def test_text_is_sent_compressed_to_who_reads_it(client: Client, path: str) -> None:
    plain = client.get(path, headers=OWN)
    packed = client.get(path, headers={**OWN, "Accept-Encoding": "gzip, br"})
    assert (plain.headers.get("Content-Encoding"), packed.headers["Content-Encoding"]) == (None, "gzip")
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
    assert int(packed.headers["Content-Length"]) == len(packed.data) < 0.5 * len(plain.data)
    if path != "/":  # the page has a number for each time it is loaded
        assert gzip.decompress(packed.data) == plain.data
        known = client.get(path, headers={**OWN, "If-None-Match": packed.headers["ETag"]})
        assert (known.status_code, known.data) == (304, b"")


def test_equal_answers_are_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Client(guarded(build(Store(Catalogue([program()]), Fake()))))
    sizes: list[int] = []

    def counted(text: bytes, level: int = 6) -> DeflatedText:
        sizes.append(len(text))
        return pack(text, level)

    for room in (compression, static):
        monkeypatch.setattr(room, "pack", counted)
    suites = re.findall(r'src="(/_dash-component-suites[^"]+)"', made.get("/", headers=OWN).text)
    sizes.clear()
    for path in [*suites, "/_dash-layout", "/assets/css/app.css"] * 2:
        made.get(path, headers={**OWN, "Accept-Encoding": "gzip"})
    assert len(suites) > 5 and len([size for size in sizes if size >= compression.COMMON]) <= len(suites) + 2


@pytest.mark.parametrize("path", ["/", "/assets/viz.mjs"])
def test_the_head_of_an_answer_has_no_body_and_its_length(client: Client, path: str) -> None:
    whole, head = client.get(path, headers=OWN), client.head(path, headers=OWN)
    assert (head.status_code, head.data) == (200, b"") and abs(head.content_length - len(whole.data)) < 100


def test_a_scene_is_sent_as_it_was_compressed(client: Client) -> None:
    question = {"request": 3, "program": "case", "edits": None}
    packed = scene(client, question, **{"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and packed.headers["Cache-Control"] == "no-store"
    assert gzip.decompress(packed.data) == scene(client, question).data


def test_scene_is_answered(client: Client) -> None:
    data: Any = scene(client, {"request": 3, "program": "case", "edits": None}).json
    assert data["request"] == 3 and data["scene"]["format"] == 1


def test_details_are_answered(client: Client) -> None:
    answer = ask(client, "details.data", "selection", {"request": 1, "program": "case", "edits": None, "element": "n0"})
    assert answer.json["response"]["details"]["data"]["details"]["kind"] == "op"  # type: ignore[index]  # there is one


def test_unknown_program_is_explained_and_no_error(client: Client) -> None:
    answer = scene(client, {"request": 4, "program": "../../etc/passwd"})
    problem = answer.json["problem"]  # type: ignore[index]  # there is an answer
    assert answer.status_code == 200 and problem["kind"] == "unknown-program"


@pytest.mark.parametrize("path", ["/", "/assets/viz.mjs", "/_dash-layout", "/_dash-dependencies", "/scene", "/nothing"])
def test_hostile_host_gets_nothing(client: Client, path: str) -> None:
    answer = client.get(path, headers={"Host": "evil.example"})
    assert answer.status_code == 400 and "Backstep does not accept this host name" in answer.text


def test_rebinding_cannot_run_a_callback(client: Client) -> None:
    evil = {"Host": "evil.example:8050", "Origin": "http://evil.example:8050"}
    assert scene(client, {"program": "case"}, **evil).status_code == 400
    assert ask(client, "details.data", "selection", {"program": "case", "element": "n0"}, **evil).status_code == 400


def test_allowed_host_is_answered(client: Client) -> None:
    assert client.get("/", headers={"Host": "my-laptop.local:8050"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:8050"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": ""}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": ""}, 415),
    ],
)
def test_cross_site_post_cannot_run_a_callback(client: Client, headers: dict[str, str], status: int) -> None:
    assert scene(client, {"program": "case"}, **headers).status_code == status
    about = {"program": "case", "element": "n0"}
    assert ask(client, "details.data", "selection", about, **headers).status_code == status
    own = {**OWN, "Origin": "http://127.0.0.1:8050", "Content-Type": "application/json", **headers}
    assert client.post("/export/backstep", data="{}", headers=own).status_code == status


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../viz/server/app.py",
        "/assets/%2e%2e/viz/server/app.py",
        "/assets/..%2fviz%2fapp.py",
        "/assets//etc/passwd",
        "/assets/....//viz/server/app.py",
        "/assets/%2fetc%2fpasswd",
        "/_dash-component-suites/dash/../../etc/passwd",
    ],
)
def test_static_files_cannot_be_left(client: Client, path: str) -> None:
    answer = client.get(path, headers=OWN)
    assert "import" not in answer.text[:400] and "root:" not in answer.text


def test_live_says_which_recording_is_newest(client: Client) -> None:
    assert client.get("/live?program=watched", headers=OWN).json == {"version": 1, "note": ""}
    assert client.get("/live?program=gone", headers=OWN).json == {"version": None, "note": ""}


def test_scene_of_a_program_as_it_was_recorded(client: Client) -> None:
    answer = client.get("/scene?program=case", headers=OWN).json
    assert answer is not None and answer["scene"]["program"]["id"] == "case"
    refused = client.get("/scene?program=gone", headers=OWN).json
    assert refused is not None and refused["problem"]["kind"] == "unknown-program"


def test_overview_of_a_run(client: Client) -> None:
    assert client.get("/run?program=case", headers=OWN).json == {
        "request": None,
        "overview": {"program": "case", "version": 1},
    }
    assert client.get("/run/graphs?program=case", headers=OWN).json == {"request": None, "graphs": {"findings": []}}
    for path in ("/run", "/run/graphs"):
        refused = client.get(f"{path}?program=gone", headers=OWN).json
        assert refused is not None and refused["problem"]["kind"] == "unknown-program"


def test_broken_json_is_refused_without_a_traceback(client: Client) -> None:
    own = {**OWN, "Origin": "http://127.0.0.1:8050", "Content-Type": "application/json"}
    answer = client.post("/export/backstep", data="{", headers=own)
    assert answer.status_code == 400 and "Traceback" not in answer.text


def test_heard_functions_are_all_in_the_page() -> None:
    text = (assets_folder() / "js/panels/shell/shell.mjs").read_text("utf-8")
    hears = text.split("window.backstepHears = {")[1].split("};")[0]
    assert {function for _, _, function in HEARD} == set(re.findall(r"(\w+):", hears))
