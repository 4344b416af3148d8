"""What the command line says of pictures that it cannot paint."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz import cli
from viz.server.export.painting import NAMED, Look


@pytest.fixture
def no_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAMED, str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "Install Chromium, Chrome or Edge, or name one in BACKSTEP_CHROMIUM"),
        (["--size", "big"], "'big' is not a size"),
    ],
)
def test_command_says_what_is_missing(
    options: list[str],
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(NAMED, str(tmp_path / "none"))
    assert cli.main(["export", *options, "-o", str(tmp_path / "a.png"), "weights"]) == 2
    assert expected in capsys.readouterr().err and not (tmp_path / "a.png").exists()


def test_look_is_the_job_of_a_page() -> None:
    assert Look(step=3).job("png") | {"theme": ""} == {
        "kind": "png", "part": "whole", "width": 1280, "height": 720, "theme": "", "step": 3, "from": None, "to": None,
    }  # fmt: skip
    assert Look(size="800x450").job("gif")["part"] == "seen" and Look().job("webm")["part"] == "slide"
