"""A recording in a notebook, with a shell that stands for IPython's, and in a real kernel where there is one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import backstep
import engine
import viz
from viz.server.lesson.notebook import Cell

BODY = "import engine\nx = engine.ones(2, requires_grad=True)\n(2 * x).sum().backward()\n"


class Shell:
    """What is asked of an IPython shell in a kernel."""

    kernel = object()

    def __init__(self) -> None:
        self.magics: dict[str, Callable[..., Any]] = {}

    def register_magic_function(self, function: Callable[..., Any], kind: str, name: str) -> None:
        assert kind == "cell"
        self.magics[name] = function

    def run_cell(self, body: str) -> Any:
        try:
            exec(compile(body, "<cell>", "exec"), {})
        except Exception:  # noqa: BLE001  # IPython has shown it
            return SimpleNamespace(success=False)
        return SimpleNamespace(success=True)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    made, module = Shell(), ModuleType("IPython")
    module.get_ipython = lambda: made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    return made


def test_show_in_a_notebook_is_the_player_below_the_cell(shell: Shell, tmp_path: Any) -> None:
    with engine.record() as trace:
        shell.run_cell(BODY)
    found = viz.show(trace, "a <title>")
    assert isinstance(found, Cell)
    frame = found._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;') and "sandbox=" in frame and frame.count("<") == 2
    found.save(str(tmp_path / "lesson.html"))
    assert (tmp_path / "lesson.html").read_text("utf-8") == found.html and "&lt;title&gt; · Backstep" in found.html


def test_magic_records_a_cell_and_shows_nothing_where_nothing_ran(shell: Shell) -> None:
    backstep.load_ipython_extension(shell)
    assert isinstance(shell.magics["backstep"]("my cell", BODY), Cell)
    assert shell.magics["backstep"]("", "1 / 0") is None


def test_notebook_keeps_the_player() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = ["%load_ext backstep", f"%%backstep\n{BODY}"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(book, timeout=120).execute()
    (output,) = book.cells[1].outputs
    assert output.data["text/html"].startswith("<iframe srcdoc=")
