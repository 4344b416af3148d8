"""The browser's modules, tested by node itself: one test here for each file in tests/js."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))
NODE = shutil.which("node")


@pytest.mark.node
@pytest.mark.skipif(NODE is None, reason="needs node 20 or newer: install it to test the browser's modules")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_modules_pass_their_own_tests(file: Path) -> None:
    assert NODE is not None
    ran = subprocess.run([NODE, "--test", str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\n# pass 0\n" not in ran.stdout, "the file has no test"
