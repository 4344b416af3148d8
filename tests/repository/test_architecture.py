"""Who imports whom: the contracts of pyproject.toml, and the rules that name the few that may."""

from __future__ import annotations

from pathlib import Path

import grimp
import networkx as nx
import pytest
from importlinter import cli

ROOT = Path(__file__).resolve().parents[2]

DASH = ("dash", "dash_ag_grid", "dash_mantine_components")
IMPORTERS = {
    # what is imported -> who may import it (a package stands for all in it)
    ("backstep",): {"viz.record.child"},  # the name that programs know
    ("cupy", "cupyx"): {"engine.arrays.array"},
    DASH: {"viz.server.app", "viz.server.callbacks", "viz.server.components", "viz.server.production", "viz.cli"},
    ("flask",): {"viz.server.app", "viz.server.callbacks", "viz.server.http.security"},
    ("waitress",): {"viz.server.server"},
    ("pygraphviz",): {"viz.layout.dot", "viz.layout.worker"},
    ("sqlite3",): {
        "engine.trace.file.database",
        "engine.trace.file.tracefile",
        "viz.server.production.revision_file",  # not a trace: edits, for the processes of one server
        "viz.server.front.search",  # the gallery, in memory
    },
    ("gunicorn",): {"viz.server.production"},
    ("diskcache", "psutil"): {"viz.server.production.on_disk"},
    ("celery", "redis"): {"viz.server.production.on_redis", "viz.server.production.celery_worker"},
    ("jinja2",): {"viz.server.front.page", "viz.server.library.pair"},
}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """Every import of the two packages, also those inside functions; not those for types alone."""
    return grimp.build_graph(
        "engine", "viz", include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )


def ours(imports: grimp.ImportGraph) -> set[str]:
    return {name for name in imports.modules if name.split(".")[0] in ("engine", "viz")}


def within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def test_contracts_of_the_layers_are_kept(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    status = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == 0, capsys.readouterr().out


@pytest.mark.parametrize("names", IMPORTERS, ids=" ".join)
def test_library_is_imported_only_where_it_is_hidden(imports: grimp.ImportGraph, names: tuple[str, ...]) -> None:
    found = {
        who for name in names if name in imports.modules for who in imports.find_modules_that_directly_import(name)
    }
    assert {who for who in found if not within(who, IMPORTERS[names])} == set()


def test_trace_is_plain_data(imports: grimp.ImportGraph) -> None:
    used = {
        name for name in imports.find_modules_directly_imported_by("engine.trace.events") if name.startswith("engine")
    }
    assert used <= {"engine.arrays.array", "engine.arrays.element_types"}


def test_modules_import_each_other_without_a_cycle(imports: grimp.ImportGraph) -> None:
    modules = ours(imports)
    graph = nx.DiGraph(
        (name, other)
        for name in modules
        for other in imports.find_modules_directly_imported_by(name)
        if other in modules
    )
    knots = [sorted(knot) for knot in nx.strongly_connected_components(graph) if len(knot) > 1]
    assert graph.number_of_edges() > len(modules)
    assert knots == []
