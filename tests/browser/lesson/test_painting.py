"""Pictures and films from the command line, painted by the browser of this machine."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from viz import cli
from viz.server.export import painting


@pytest.fixture(autouse=True)
def same_browser(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser that the other tests start."""
    found = os.environ.get(painting.NAMED) or next(filter(None, map(shutil.which, painting.BROWSERS)), None)
    monkeypatch.setenv(painting.NAMED, found or browser.browser_type.executable_path)


@pytest.mark.parametrize(
    ("name", "options", "begins"),
    [
        ("a.svg", ["--step", "3", "--theme", "dark"], b"<svg"),
        ("a.png", ["--size", "400x300"], b"\x89PNG"),
        ("a.gif", ["--from", "2", "--to", "3", "--size", "320x180"], b"GIF89a"),
        ("a.webm", ["--from", "2", "--to", "3", "--size", "320x180"], b"\x1aE\xdf\xa3"),
    ],
)
def test_command_writes_what_the_app_paints(name: str, options: list[str], begins: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    assert cli.main(["export", *options, "-o", str(path), "weights"]) == 0
    content = path.read_bytes()
    assert content.startswith(begins)
    if name == "a.svg":
        ground = re.search(rb'<rect [^>]*fill="#(..)', content)
        assert b"Step 3 of 14. MulBackward0" in content and ground is not None and int(ground[1], 16) < 64
    if name == "a.png":
        assert [int.from_bytes(content[at : at + 4]) for at in (16, 20)] == [800, 600]
    if name == "a.gif":
        assert [int.from_bytes(content[at : at + 2], "little") for at in (6, 8)] == [320, 180]
