"""What the command line says of pictures that it cannot paint."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from viz import cli
from viz.server.export.painting import NAMED, Look, running


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


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_browser_that_a_script_starts_ends_with_it(tmp_path: Path) -> None:
    """`/usr/bin/chromium` is such a script on Debian: its browser went on for ever."""
    script, told = tmp_path / "chromium", tmp_path / "told"
    os.mkfifo(told)
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    script.write_text(f'#!/bin/sh\n{sys.executable} -c "{code}" > {told}\n')
    script.chmod(0o755)
    with running(str(script), "about:blank"), told.open() as line:
        browser = psutil.Process(int(line.readline()))
    psutil.wait_procs([browser], timeout=30)
    assert not browser.is_running() or browser.status() == psutil.STATUS_ZOMBIE
