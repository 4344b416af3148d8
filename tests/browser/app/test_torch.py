"""Scripts on the real PyTorch in the browser: a nan is found, an edit computed by the engine or by a second run.  And
the other way: a script of the engine's is run on PyTorch, and both are seen beside each other."""

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


SPECTRUM = """import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.fft.rfft(w).abs()
y.sum().backward()
print(y[0].item())
"""


def opened(view_of: Callable[[App], View], app: App) -> View:
    view = view_of(app)
    view.open(app.address.removeprefix(app.origin).lstrip("/"))
    return view


def test_script_of_the_engine_is_run_on_pytorch_and_its_nan_found_and_an_edit_computed_there_too(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    (tmp_path / "lesson.py").write_text(ROOT_OF_ZERO.replace("import torch", "import engine as torch"), "utf-8")
    view = opened(view_of, start("run", str(tmp_path / "lesson.py"), cwd=tmp_path))
    view.page.locator("#act-export").click()
    view.page.get_by_role("menuitem", name="Run the same on PyTorch").click()
    link = view.page.locator("#doubt a")
    link.wait_for(timeout=60_000)  # it starts a process that imports torch
    assert "do the same: 3 forward ops and 3 VJPs" in view.page.locator("#doubt").inner_text()
    view.page.goto(f"{view.app.origin}{link.get_attribute('href')}")
    view.until("document.documentElement.dataset.ready === 'yes'")
    assert "do the same: 3 forward ops and 3 VJPs" in view.page.locator(".pair-verdict").inner_text()
    engines, torchs = view.page.frames[1:]
    for one, other in ((engines, torchs), (torchs, engines)):
        for step in (8, 3):
            one.evaluate(f"backstep.seek({step})")
            assert other.evaluate("backstep.t()") == step
    torchs.evaluate("backstep.select(backstep.scene().nodes[1].id)")
    assert engines.evaluate("backstep.selection()") == torchs.evaluate("backstep.selection()") is not None

    view.open(f"?program={torchs.evaluate('backstep.scene().program.id')}")
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


def test_edit_that_only_pytorch_can_compute_runs_the_script_again(
    start: Callable[..., App], view_of: Callable[[App], View], tmp_path: Path
) -> None:
    (tmp_path / "spectrum.py").write_text(SPECTRUM, "utf-8")
    view = opened(view_of, start("run", "--rerun", str(tmp_path / "spectrum.py"), cwd=tmp_path))
    edit = f"backstep.edit({{ leaf: {view.node('w')[1:]!r}, values: [4, 3] }})"
    view.js(edit)
    view.page.locator("#busy").get_by_role("button", name="Stop").click()
    view.page.locator("#notice").get_by_text("spectrum.py was stopped").wait_for(timeout=60_000)
    view.page.locator("#notice button").click()
    view.js(edit)
    view.page.locator("#doubt").get_by_text("Run again by PyTorch").wait_for(timeout=60_000)
    view.end()
    assert view.row("w", "value")[0] == 4 and view.row("w", "grad")[0] == 2
    assert view.page.locator("#code samp").inner_text() == "7.0"  # printed by this run
