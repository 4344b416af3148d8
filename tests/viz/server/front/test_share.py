"""Sharing from a loopback address: the line and the code, and to whom they are said."""

from __future__ import annotations

import pytest
from werkzeug.test import Client

from viz.server.app import build, guarded
from viz.server.front.local import LocalServer, is_local
from viz.server.front.share import Launch, line, network, qr, share
from viz.server.front.uploads import MOST, DroppedFiles
from viz.server.programs import gallery_programs
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

pytest.importorskip("segno", reason="needs segno, which Backstep depends on")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ([], "backstep --host 10.0.0.2 --port 9000"),
        (["--port", "1", "--no-browser"], "backstep --host 10.0.0.2 --port 9000 --no-browser"),
        (["open", "--host=127.0.0.1", "a.backstep"], "backstep open --host 10.0.0.2 --port 9000 a.backstep"),
        (["run", "train.py", "--port", "7"], "backstep run --host 10.0.0.2 --port 9000 train.py --port 7"),
        (["course", "lessons", "--port", "7"], "backstep course --host 10.0.0.2 --port 9000 lessons"),
        (
            ["serve", "--workers", "2", "lessons", "--host", "::1"],
            "backstep serve --host 10.0.0.2 --port 9000 --workers 2 lessons",
        ),
    ],
)
def test_line_is_the_command_with_another_address_and_leaves_a_scripts_own_arguments(
    argv: list[str], expected: str
) -> None:
    assert line(argv, "10.0.0.2", 9000) == expected


def test_code_is_a_picture_and_a_long_address_has_none() -> None:
    assert (qr("http://10.0.0.2:8050/?program=weights") or "").startswith("data:image/svg+xml")
    assert qr("x" * 4000) is None
    assert share(Launch(["backstep"]), 1, "/", None) == share(Launch(), 1, "/", "10.0.0.2")


def test_address_that_is_served_already_needs_no_line() -> None:
    found = share(Launch(["backstep"], everywhere=True), 8050, "/?step=3", "10.0.0.2")
    assert (found["line"], found["address"]) == (None, "http://10.0.0.2:8050/?step=3")
    assert found["code"].startswith("data:image/svg+xml")


def test_only_this_machine_is_told_how_the_server_was_started() -> None:
    app = build(
        Store(Catalogue(gallery_programs()[:1]), StoreComputation()), started=Launch(["backstep", "serve", "lessons"])
    )
    client = Client(guarded(app, ["class.example"]))
    if network() is not None:
        own = client.get("/share?path=/", environ_base={"REMOTE_ADDR": "127.0.0.1"}).json
        assert own is not None and str(own["line"]).endswith(" lessons")
    for sender, host in (("10.0.0.3", "localhost"), ("127.0.0.1", "class.example")):
        other = client.get("/share?path=/", headers={"Host": host}, environ_base={"REMOTE_ADDR": sender}).json
        assert other == {"line": None, "address": None, "code": None}


@pytest.mark.parametrize(
    ("sender", "host", "expected"),
    [
        ("127.0.0.1", "localhost:8050", True),
        ("::1", "[::1]:8050", True),
        ("10.0.0.3", "localhost:8050", False),
        ("127.0.0.1", "class.example:80", False),
    ],
)
def test_who_sits_at_this_machine(sender: str, host: str, expected: bool) -> None:
    assert is_local({"REMOTE_ADDR": sender, "HTTP_HOST": host}) is expected


def test_nothing_is_opened_for_others_or_without_end() -> None:
    catalogue = Catalogue(gallery_programs()[:1])
    store = Store(catalogue, StoreComputation())
    dropped = DroppedFiles(catalogue)
    sent = {"Content-Type": "application/vnd.sqlite3"}
    for local, sender in ((None, "127.0.0.1"), (LocalServer(dropped), "10.0.0.3")):
        client = Client(guarded(build(store, local=local)))
        answer = client.post("/open?name=a", data=b"x", headers=sent, environ_base={"REMOTE_ADDR": sender})
        assert answer.json is not None and "Only the machine" in answer.json["problem"]["text"]
    client = Client(guarded(build(store, local=LocalServer(dropped))))
    mine = {"REMOTE_ADDR": "127.0.0.1"}
    refused = client.post("/open?name=a", data=b"x", headers=sent, environ_base=mine)
    assert refused.json is not None and "not a trace" in refused.json["problem"]["text"]
    json = client.post("/open?name=a", data=b"x", headers={"Content-Type": "application/json"}, environ_base=mine)
    assert json.status_code == 415
    dropped._count = MOST
    assert f"opened {MOST} files" in dropped.open("a", b"x")["problem"]["text"]
