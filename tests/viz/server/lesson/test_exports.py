"""Graphs and tables of a scene, read back by those who understand the formats."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from engine.trace.file.tracefile import open_trace
from viz import cli, gallery
from viz.scene.scene import scene
from viz.server.export import formats, graphs, tables
from viz.server.export.formats import Exports, Format
from viz.server.programs import gallery_programs, record_source
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Revision, Store

from ...helpers.traces import recorded


@pytest.fixture(scope="module")
def document() -> Any:
    entry = gallery.find("weights")
    assert entry is not None
    return scene(record_source(entry.source, entry.path), program={"title": entry.title})


def test_graphs_have_the_nodes_and_edges_of_the_picture(document: Any) -> None:
    read = nx.read_graphml(io.BytesIO(graphs.graphml(document)), force_multigraph=True)
    assert set(read) == {node["id"] for node in document["nodes"]}
    ends = sorted((edge["source"], edge["target"]) for edge in document["edges"])
    assert sorted(read.edges()) == ends
    assert read.nodes["t0"]["label"] == "x" and json.loads(read.nodes["t0"]["shape"]) == [1, 4]
    said = graphs.dot(document)
    assert sorted(re.findall(r'"(\w+)" -> "(\w+)"', said)) == ends and '"x\\n1×4 · leaf"' in said


def test_table_and_timeline_have_every_step(document: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(tables.events(document))))
    assert [row["sentence"] for row in rows] == [step["say"] for step in document["steps"]]
    assert rows[0]["line"] == "4" and rows[0]["file"].endswith("weights.py")
    slices = [one for one in json.loads(tables.timeline(document))["traceEvents"] if one["ph"] == "X"]
    assert len(slices) == len(document["spans"]) + len(document["steps"])
    ends = [one["ts"] + one["dur"] for one in slices]
    assert min(one["ts"] for one in slices) == 0 and max(ends) == 1000 * len(document["steps"])


def test_costly_file_is_made_once_for_all_who_save_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def content(_store: object, revision: Revision, _folds: object, _tell: object) -> bytes:
        made.append(revision.id)
        return b"lesson"

    monkeypatch.setattr(formats, "FORMATS", {"html": Format("", "", content, True), "dot": Format("", "", content)})
    exports = Exports(Store(Catalogue([]), StoreComputation()))
    recorded, edited = (Revision(name, "weights", 1, "{}") for name in ("recorded", "edited"))
    for ending, revision in (
        ("html", recorded),
        ("html", recorded),
        ("html", edited),
        ("dot", edited),
        ("dot", edited),
    ):
        assert exports.content(ending, revision, {}) == b"lesson"
    assert made == ["recorded", "edited", "edited", "edited"]


def test_command_writes_what_the_ending_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "weights.dot"
    assert cli.main(["export", "weights", "-o", str(path)]) == 0
    assert path.read_text("utf-8").startswith("digraph") and "the graph for Graphviz" in capsys.readouterr().out


def test_command_counts_replays_on_a_terminal_and_says_how_a_page_shows_the_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lesson.html"
    assert cli.main(["export", "scaling", "-o", str(path)]) == 0
    said = capsys.readouterr()
    assert 'in a page in the same folder, write <iframe src="lesson.html" title="' in said.out and said.err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert cli.main(["export", "scaling", "-o", str(path)]) == 0
    assert "backstep: replaying the most likely changes: 1 so far" in capsys.readouterr().err


def test_file_that_is_written_tells_how_many_changes_were_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(Catalogue(gallery_programs()), StoreComputation())
    exports, revision, seen = Exports(store), store.revision("scaling", None), list[int]()
    made = store.scene

    def scene(*asked: Any) -> Any:
        seen.append(exports.replayed("html", revision))
        return made(*asked)

    monkeypatch.setattr(store, "scene", scene)
    exports.content("html", revision, {})
    assert seen[0] == 0 and max(seen) > 3 and exports.replayed("html", revision) == 0


RUN = """import engine as torch
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(60):
    optimizer.zero_grad()
    loss = ((weight * torch.arange(4.0) - 1) ** 2).sum()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace file of sixty iterations."""
    path = tmp_path_factory.mktemp("run") / "train.backstep"
    recorded(RUN, path.parent).save(str(path))
    return path


def test_iteration_of_a_run_is_chosen_and_the_trace_file_is_whole(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def written(name: str, *options: str) -> Path:
        assert cli.main(["export", str(run), "-o", str(tmp_path / name), *options]) == 0
        return tmp_path / name

    first, last = written("first.csv").read_text("utf-8"), written("last.csv", "--iteration", "59").read_text("utf-8")
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("of step = 0; --iteration chooses another") and said[1].endswith("of step = 59")
    assert first != last and "it now holds [1 1 0.6 -0.2]" in first
    assert len(open_trace(str(written("all.backstep"))).events) == len(open_trace(str(run)).events)
    assert len(open_trace(str(written("one.backstep", "--iteration", "3"))).events) < 60
    assert cli.main(["export", str(run), "-o", "x.csv", "--iteration", "60"]) == 2
    assert "there is no iteration 60: the recording has the iterations 0 to 59" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["weights", "-o", "x.pdf"], "'x.pdf' must end in one of .html, .backstep"),
        (["no-such", "-o", "x.dot"], "no program of the gallery called 'no-such'"),
        (["wieghts", "-o", "x.dot"], "called 'wieghts'; the gallery has 'weights'"),
        (["weights", "-o", "no-folder/x.html"], "There is no folder 'no-folder'. Make it first"),
        (["weights", "-o", "x.csv", "--iteration", "1"], "no separate iterations"),
        (["weights", "-o", "x.gif", "--from", "9", "--to", "3"], "would end after step 3, and begin after 9"),
        (["no-such.py", "-o", "x.dot"], "There is no script"),
        (["no-such.backstep", "-o", "x.dot"], "no-such.backstep"),
    ],
)
def test_command_refuses_in_words(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["export", *argv]) == 2
    assert words in capsys.readouterr().err
