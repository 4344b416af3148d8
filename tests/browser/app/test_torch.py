"""A script on the real PyTorch in the browser: its nan is found, an edit is computed by the engine; and the other way,
a script of the engine's is run on PyTorch."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import App, View

pytestmark = [
    pytest.mark.parity,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

ROOT_OF_ZERO = """import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([0.0, 3.0], requires_grad=True)
y = torch.sqrt(w * x)
y.sum().backward()
"""


def opened(view_of: Callable[[App], View], app: App) -> View:
    view = view_of(app)
    view.open(app.address.removeprefix(app.origin).lstrip("/"))
    return view


def test_nan_of_a_script_on_pytorch_is_found_and_an_edit_computed(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    (tmp_path / "root.py").write_text(ROOT_OF_ZERO, "utf-8")
    view = opened(view_of, start("run", str(tmp_path / "root.py"), cwd=tmp_path))
    view.page.keyboard.press("ArrowRight")
    assert view.js("backstep.scene().steps.length") == 8
    view.end()
    assert view.row("x", "grad")[0] == "nan" and view.row("w", "grad")[0] == "inf"
    assert "SqrtBackward0" in view.js("backstep.scene().findings.map(one => one.label + one.why).join()")
    view.click("sqrt")
    view.until("document.querySelector('#inspect').textContent.includes('Compared with PyTorch')")
    assert "gives the recorded numbers" in view.page.locator("#inspect").inner_text()
    before = view.revision()
    view.js(f"backstep.edit({{ leaf: {view.node('w')[1:]!r}, values: [4, 3] }})")
    view.changed(before)
    view.end()
    assert view.row("x", "grad")[0] == 1 and view.row("w", "grad")[0] == 0.25
    said = view.page.locator("#doubt").inner_text()
    assert said.startswith("Recomputed by Backstep's engine, which agrees with the recording to")
    assert "Compared with" not in view.page.locator("#inspect").inner_text()


def test_script_of_the_engine_is_run_on_pytorch_from_the_menu(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    (tmp_path / "lesson.py").write_text(ROOT_OF_ZERO.replace("import torch", "import engine as torch"), "utf-8")
    view = opened(view_of, start("run", str(tmp_path / "lesson.py"), cwd=tmp_path))
    view.page.locator("#act-export").click()
    view.page.get_by_role("menuitem", name="Run the same on PyTorch").click()
    link = view.page.locator("#doubt a")
    link.wait_for(timeout=60_000)  # it starts a process that imports torch
    assert "do the same: 3 forward ops and 3 VJPs" in view.page.locator("#doubt").inner_text()
    assert link.get_attribute("href") == "/?program=my-lesson-on-pytorch"
    view.open("?program=my-lesson-on-pytorch")
    view.end()
    assert view.row("x", "grad")[0] == "nan" and "PyTorch" in view.page.locator("#crumbs").inner_text()
