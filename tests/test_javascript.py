"""The browser's modules, tested by node itself: one test here for each file in tests/js."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.trace.events import Value
from viz.reading import text

FILES = sorted((Path(__file__).parent / "js").glob("*/*.test.mjs"))
NODE = shutil.which("node")
CHECKER = Path(__file__).parent / "js"
"""Where package.json names TypeScript, and tsconfig.json what it checks."""
MODULES = Path(__file__).parents[1] / "assets" / "js"


@pytest.mark.node
@pytest.mark.skipif(NODE is None, reason="needs node 20 or newer: install it to test the browser's modules")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_modules_pass_their_own_tests(file: Path) -> None:
    assert NODE is not None
    ran = subprocess.run([NODE, "--test", str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\n# pass 0\n" not in ran.stdout, "the file has no test"


WRITTEN = """
import { num, MINUS, normText, result, shapeText, truths } from "%s";
let read = "";
for await (const part of process.stdin) read += part;
const cases = JSON.parse(read);
const plain = (text) => text.replaceAll(MINUS, "-");
console.log(JSON.stringify({
  numbers: cases.numbers.map((one) => plain(num(one))), sums: cases.sums.map((one) => plain(result(...one))),
  shapes: cases.shapes.map(shapeText), truths: cases.truths.map(truths),
  norms: cases.norms.map((one) => plain(normText(one))),
}));
"""
"""What the browser writes for the cases that it is given."""


def drawn_numbers(rng: np.random.Generator) -> list[float]:
    """Numbers of all sizes, with many digits and with few, of both precisions."""
    long = rng.normal(size=3000) * 10.0 ** rng.integers(-9, 9, 3000)
    short = rng.integers(1, 100000, 3000) / 10.0 ** rng.integers(0, 8, 3000)
    return [float(n) for many in (long, short) for kind in (np.float64, np.float32) for n in many.astype(kind)]


@pytest.mark.node
@pytest.mark.skipif(NODE is None, reason="needs node 20 or newer: install it to test the browser's modules")
def test_numbers_are_written_alike_by_the_server_and_in_the_browser() -> None:
    assert NODE is not None
    rng = np.random.default_rng(7)
    numbers = drawn_numbers(rng)
    factors = rng.choice(numbers, (1000, 2, 2)).tolist()
    exact = [sum(a * b for a, b in terms) for terms in factors]
    cases: dict[str, list[Any]] = {
        "numbers": numbers,
        "sums": [[terms, value * off] for terms, value in zip(factors, exact, strict=True) for off in (1, 1.001)],
        "shapes": [[], [3], [1, 4], [2, 3, 4]],
        "truths": [{"size": 20, "zeros": 7}],
        "norms": [{"stats": {"norm": 1 / 3}}, {"stats": {"norm": "nan"}}, {"damaged": True, "stats": {"norm": None}}],
    }
    module = Path(__file__).parents[1] / "assets" / "js" / "scene" / "format.mjs"
    ran = subprocess.run(
        [NODE, "--input-type=module", "-e", WRITTEN % module.as_uri()], input=json.dumps(cases), capture_output=True,
        text=True, timeout=120, check=True,
    )  # fmt: skip
    flags = Value((20,), "bool", np.arange(20) >= 7, np.empty(0), {"zeros": 7})
    written = {
        "numbers": [text.number(one) for one in numbers],
        "sums": [text.result(terms, value) for terms, value in cases["sums"]],
        "shapes": [text.shape(one) for one in cases["shapes"]],
        "truths": [text.truths(flags)],
        "norms": ["norm 0.3333", "norm nan", text.DAMAGED],
    }
    for kind, told in json.loads(ran.stdout).items():
        pairs = zip(cases[kind], told, written[kind], strict=True)
        assert [one for one in pairs if one[1] != one[2]] == [], kind


def compiler() -> Path:
    """TypeScript, of the version in the lock file; npm fetches it where it is not there yet."""
    folder = CHECKER / "node_modules" / "typescript"
    wanted = json.loads((CHECKER / "package-lock.json").read_text("utf-8"))["packages"]["node_modules/typescript"]
    about = folder / "package.json"
    if not about.exists() or json.loads(about.read_text("utf-8"))["version"] != wanted["version"]:
        npm = shutil.which("npm")
        assert npm is not None, "npm is missing: it comes with node, and fetches TypeScript for this test"
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        ran = subprocess.run(command, cwd=CHECKER, capture_output=True, text=True, timeout=300, check=False)
        assert ran.returncode == 0, f"TypeScript could not be fetched:\n{ran.stdout}{ran.stderr}"
    return folder / "bin" / "tsc"


def faults(project: Path) -> str:
    """What TypeScript says of the modules that a tsconfig.json names; "" where all is well."""
    assert NODE is not None
    command = [NODE, str(compiler()), "--project", str(project), "--pretty", "false"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0 or "error TS" in ran.stdout, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.node
@pytest.mark.skipif(NODE is None, reason="needs node 20 or newer: install it to test the browser's modules")
def test_modules_read_scenes_as_the_schema_has_them_and_a_misspelled_key_is_found(tmp_path: Path) -> None:
    """Asked of the modules and of a copy of some, with the slip, in one go: what costs is TypeScript's own start."""
    shutil.copytree(MODULES / "scene", tmp_path / "scene")
    module = tmp_path / "scene" / "state.mjs"
    text = module.read_text("utf-8")
    assert "error?.node === node.id" in text
    module.write_text(text.replace("error?.node === node.id", "error?.nood === node.id"), "utf-8")
    own = CHECKER / "tsconfig.json"
    included = [str((CHECKER / one).resolve()) for one in json.loads(own.read_text("utf-8"))["include"]]
    project = {"extends": str(own), "include": [*included, str(tmp_path / "scene")]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(project), "utf-8")
    (fault,) = faults(tmp_path / "tsconfig.json").splitlines()
    assert "scene/state.mjs" in fault and "Property 'nood' does not exist on type 'Error'" in fault
