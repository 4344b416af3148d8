"""A real JupyterLab: a cell is run, the player appears below it and plays, and the saved notebook keeps it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..conftest import ROOT, SETTLE

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext backstep",
    "%%backstep My cell\nimport engine as torch\nx = torch.ones(2, requires_grad=True)\n(2 * x).sum().backward()",
)
ARGUMENTS = (
    "--no-browser", "--allow-root", "--ip=127.0.0.1", "--IdentityProvider.token=", "--LabApp.news_url=",
)  # fmt: skip


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab with one notebook."""
    pytest.importorskip("jupyterlab")
    empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**empty, "id": f"c{number}", "source": text} for number, text in enumerate(CELLS)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    path = os.pathsep.join([str(ROOT), str(ROOT / "viz" / "public"), os.environ.get("PYTHONPATH", "")])
    settings = tmp_path / ".jupyter"
    own = {name: str(settings) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    # Dash comes with an extension, for which JupyterLab would ask to be built: a dialog over the cells.
    (settings / "labconfig").mkdir(parents=True)
    (settings / "labconfig" / "page_config.json").write_text(json.dumps({"buildCheck": False, "buildAvailable": False}))
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *ARGUMENTS, f"--ServerApp.root_dir={tmp_path}"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, **own, "PYTHONPATH": path},
    )  # fmt: skip
    assert process.stderr is not None
    found = (re.search(r"(http://127\.0\.0\.1:\d+)/lab", line) for line in process.stderr)
    address = next(filter(None, found))[1]
    # Its log is read on: with a full pipe it would stand still.
    log = threading.Thread(target=deque, args=[process.stderr, 0])
    log.start()
    yield address
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:  # it waits for its kernels, which end without it as well
        process.kill()
        process.wait()
    log.join()
    process.stderr.close()


def run(cell: Any) -> None:
    """Runs a cell, by keys.  Those before the kernel is ready are lost."""
    from playwright.sync_api import TimeoutError

    for _ in range(6):
        cell.locator(".jp-InputArea-editor").click()
        cell.page.keyboard.press("Control+Enter")
        with contextlib.suppress(TimeoutError):
            cell.locator(".jp-InputPrompt", has_text=re.compile(r"\d")).wait_for(timeout=SETTLE / 3)
            return
    raise AssertionError(f"the cell was not run: {cell.inner_text()}")


def test_cell_in_jupyterlab_has_the_player_and_the_saved_notebook_keeps_it(lab: str, context: Any) -> None:
    page = context.new_page()
    page.set_default_timeout(2 * SETTLE)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    # Others of JupyterLab's own have other buttons; all of them close with this key.
    page.add_locator_handler(page.locator("dialog.jp-Dialog"), lambda: page.keyboard.press("Escape"))
    page.goto(f"{lab}/lab/tree/book.ipynb")
    page.locator(".jp-Notebook .jp-CodeCell").nth(1).wait_for()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(state="attached")
    for number in range(len(CELLS)):
        run(page.locator(".jp-Notebook .jp-CodeCell").nth(number))
    player = page.frame_locator(".jp-OutputArea iframe")
    player.locator("#stage").click(position={"x": 40, "y": 90})
    page.keyboard.press("End")
    player.get_by_text("Step 5 of 5").first.wait_for()
    assert player.locator("#code").inner_text().count("import engine as torch") == 1
    assert player.locator(".files button").count() == 0
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "book.ipynb" in answer.url):
        page.locator("[data-command='docmanager:save']").click()
    page.reload()
    player.get_by_text("Nothing has run yet").first.wait_for()
    assert wrong == []
