"""The browser's modules, tested by node itself: one test here for each file in tests/js."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from viz.reading import text

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


@pytest.mark.node
@pytest.mark.skipif(NODE is None, reason="needs node 20 or newer: install it to test the browser's modules")
def test_a_number_is_written_alike_by_the_server_and_in_the_browser() -> None:
    assert NODE is not None
    rng = np.random.default_rng(7)
    drawn = rng.normal(size=3000) * 10.0 ** rng.integers(-9, 9, 3000)
    short = rng.integers(1, 100000, 3000) / 10.0 ** rng.integers(0, 8, 3000)
    numbers = [float(n) for many in (drawn, short) for kind in (np.float64, np.float32) for n in many.astype(kind)]
    module = Path(__file__).parents[1] / "assets" / "js" / "scene" / "format.mjs"
    asked = (
        f"import {{ num, MINUS }} from {json.dumps(module.as_uri())};\nlet read = '';\n"
        "for await (const part of process.stdin) read += part;\n"
        "console.log(JSON.stringify(JSON.parse(read).map((one) => num(one).replace(MINUS, '-'))));"
    )
    ran = subprocess.run(
        [NODE, "--input-type=module", "-e", asked], input=json.dumps(numbers), capture_output=True, text=True,
        timeout=120, check=True,
    )  # fmt: skip
    written = dict(zip(numbers, json.loads(ran.stdout), strict=True))
    assert {n: told for n, told in written.items() if told != text.number(n)} == {}
