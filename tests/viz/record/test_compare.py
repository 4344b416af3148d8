"""`backstep compare`: what it says without PyTorch, and of programs that cannot be compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.gallery import gallery
from viz.record import compare_command
from viz.record.compare_command import compare


def test_without_pytorch_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare_command, "has_torch", lambda: False)
    (tmp_path / "lesson.py").write_text("import engine as torch\n")
    assert compare(str(tmp_path / "lesson.py"), []) == 2
    assert "pip install torch" in capsys.readouterr().err


def test_program_of_an_old_pytorch_and_a_missing_one_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(compare_command, "has_torch", lambda: True)
    legacy = next(one.id for one in gallery() if one.legacy)
    assert compare(legacy, []) == compare(str(tmp_path / "none.py"), []) == 2
    said = capsys.readouterr().err.splitlines()
    assert "PyTorch 0.3" in said[0] and "There is no script" in said[1]
