"""The house: folders of a size that one takes in, each of which says what lives there, and the page that shows them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from docs.make import architecture

ROOT = Path(__file__).resolve().parents[2]
MOST = 16
COLLECTIONS = {
    "engine/ops": "one file per kind of op",
    "benchmarks": "one file per claim",
    "docs/decisions": "one file per decision",
}
"""Folders that grow with what they collect, not with ideas."""
PROGRAMS = ROOT / "viz" / "gallery"
"""Each folder in it is a group of programs, and each folder in that a program: tests/viz/gallery has what they hold."""
FOLDERS = sorted(
    {
        file.parent.relative_to(ROOT).as_posix()
        for package in ("engine", "viz")
        for file in (ROOT / package).rglob("*.py")
        if PROGRAMS not in file.parent.parents
    }
)
TESTS = sorted(
    folder.relative_to(ROOT).as_posix()
    for folder in [ROOT / "tests", *(ROOT / "tests").rglob("*/")]
    if folder.is_dir() and not {"node_modules", "__pycache__"} & set(folder.parts)
)
CASES = {
    "tests/parity/scripts": "a program each, and what it prints",
    "tests/samples": "the sample rows of a kind of op each",
    "tests/viz/scenes": "a scene of the gallery each",
}
"""Folders of tests that collect cases."""
LONGEST = 800
ABSTRACT = {
    f"{name}.{method}"
    for name, methods in {
        "Constraint": "check",
        "Dataset": "__getitem__",
        "Distribution": "support mean variance mode rsample log_prob cdf icdf enumerate_support entropy",
        "Function": "forward setup_context backward jvp vmap",
        "IterableDataset": "__iter__",
        "LRScheduler": "get_lr",
        "LazyModuleMixin": "initialize_parameters",
        "Module": "forward",
        "Sampler": "__iter__",
        "Transform": "sign _call _inverse log_abs_det_jacobian",
    }.items()
    for method in methods.split()
}
"""PyTorch's own abstract classes, which programs derive from."""
BROWSER = ("lesson", "app", "panels", "front", "stage", "paint", "page", "geometry", "scene")
"""The folders of assets/js; each imports only from those behind it."""
ASKS_TORCH = re.compile(r'(importorskip|import_module)\("torch|^\s*(import torch$|from torch\b)', re.MULTILINE)
IMPORTED = re.compile(r'"(\.{1,2}/[^"\n]+\.mjs)"')


def entries(folder: Path) -> list[str]:
    """The names in a folder, without hidden files, the folder's own `__init__.py` and `__main__.py`, and caches."""
    return [path.name for path in folder.iterdir() if not path.name.startswith((".", "__"))]


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_says_what_lives_there_and_is_taken_in_at_a_glance(folder: str) -> None:
    text = ROOT / folder / "__init__.py"
    assert ast.get_docstring(ast.parse(text.read_text(encoding="utf-8"))), f"{folder} has no docstring"
    assert len(entries(ROOT / folder)) <= MOST or folder in COLLECTIONS


@pytest.mark.parametrize("place", ["benchmarks", "docs"])
def test_folder_beside_the_code_is_taken_in_at_a_glance(place: str) -> None:
    folders = [ROOT / place, *(path for path in (ROOT / place).rglob("*/") if path.name != "__pycache__")]
    sizes = {folder.relative_to(ROOT).as_posix(): len(entries(folder)) for folder in folders}
    assert {name: size for name, size in sizes.items() if size > MOST and name not in COLLECTIONS} == {}


@pytest.mark.parametrize("folder", TESTS)
def test_folder_of_tests_is_taken_in_at_a_glance(folder: str) -> None:
    assert 0 < len(entries(ROOT / folder)) <= MOST or folder in CASES
    if list((ROOT / folder).glob("*.py")):
        text = (ROOT / folder / "__init__.py").read_text(encoding="utf-8")
        assert ast.get_docstring(ast.parse(text)), f"{folder} has no docstring"


def test_all_that_compares_the_engine_with_pytorch_is_in_one_place() -> None:
    """The tests of the engine alone run where torch is not installed."""
    files = (ROOT / "tests" / "engine").rglob("*.py")
    assert [file.name for file in files if ASKS_TORCH.search(file.read_text("utf-8"))] == []
    assert any(ASKS_TORCH.search(file.read_text("utf-8")) for file in (ROOT / "tests" / "parity").rglob("*.py"))


def test_collections_are_there_and_large() -> None:
    for folder in (*COLLECTIONS, *CASES):
        assert len(entries(ROOT / folder)) > MOST, folder


@pytest.mark.parametrize("package", ["engine", "viz", "assets"])
def test_file_has_one_idea_of_at_most_eight_hundred_lines(package: str) -> None:
    files = [path for kind in ("*.py", "*.mjs") for path in (ROOT / package).rglob(kind)]
    lines = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8").count("\n") for path in files}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


def _raises_only(function: ast.AST) -> ast.Raise | None:
    """The `raise NotImplementedError` that a function consists of, beside its docstring; None where it has more."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    *text, last = function.body
    is_text = all(isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) for line in text)
    if not is_text or not isinstance(last, ast.Raise):
        return None
    error = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    return last if isinstance(error, ast.Name) and error.id == "NotImplementedError" else None


def test_nothing_stands_for_what_is_elsewhere() -> None:
    """No method, and no function without words of torch's, does nothing but raise NotImplementedError: a class that is
    half of another.  Classes that PyTorch's users derive from say so in its words, or as it does in none."""
    stubs = set()
    for package in ("engine", "viz"):
        for path in (ROOT / package).rglob("*.py"):
            for scope in ast.walk(ast.parse(path.read_text("utf-8"))):
                for function in ast.iter_child_nodes(scope):
                    error = _raises_only(function)
                    if error is not None and (isinstance(scope, ast.ClassDef) or isinstance(error.exc, ast.Name)):
                        stubs.add(f"{getattr(scope, 'name', path.stem)}.{getattr(function, 'name', '')}")
    assert stubs == ABSTRACT


def test_modules_of_the_browser_import_only_from_folders_behind_their_own() -> None:
    scripts = ROOT / "assets" / "js"
    assert {path.name for path in scripts.iterdir()} == set(BROWSER)
    against = [
        f"{path.relative_to(scripts)} imports {name}"
        for path in scripts.rglob("*.mjs")
        for name in IMPORTED.findall(path.read_text("utf-8"))
        if _place(path.relative_to(scripts)) > _place((path.parent / name).resolve().relative_to(scripts))
    ]
    assert against == []


def _place(file: Path) -> int:
    return BROWSER.index(file.parts[0])


@pytest.mark.parametrize("folder", sorted({p.parent for p in (ROOT / "assets").rglob("*.*")}), ids=lambda p: p.name)
def test_folder_of_the_browser_is_taken_in_at_a_glance(folder: Path) -> None:
    assert 0 < len(list(folder.iterdir())) <= MOST


DECLARED = re.compile(r"(?:export )?(const|let|var) (.+?) = (.*)")
"""A declaration of a module: what is indented belongs to a function or a class."""
FUNCTION = re.compile(r"(?:async )?(?:\((?!\(|async |function )|\w+ =>|function\b)")
"""How a function begins that is not called at once."""
EMPTY = re.compile(r"new (?:Weak)?(?:Map|Set)\(\)|\[\]|\{\}")
CHANGED = (
    r"\b{name}(?:\.\w+|\[[^\]]+\])+ *(?:[-+*/|&?]{{0,2}}=(?![=>])|\+\+|--)",
    r"\b{name}(?:\.\w+|\[[^\]]+\])*\.(?:set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill)\(",
    r"(?:Object\.assign\(|\bdelete ){name}\b",
)
"""The methods that change a constant's content, wherever it is imported."""


def state_of(module: str) -> list[str]:
    """The state of a browser module: its declarations that are neither functions nor constants."""
    found = []
    for kind, names, value in (one.groups() for one in map(DECLARED.match, module.splitlines()) if one):
        constant = all(re.fullmatch(r"[A-Z][A-Z0-9_]*|\w+: [A-Z_]+", name) for name in names.strip("{}[] ").split(", "))
        held = EMPTY.match(value) or value.startswith("new WeakMap")
        if kind != "const" or held or not (constant or FUNCTION.match(value)):
            found.append(f"{kind} {names}")
    found += re.findall(r"(?m)^(?:let|var) \w+;|^ +static (?!async )(?:#?\w+)(?: =|;).*", module)
    for name in re.findall(r"(?m)^(?:export )?const ([A-Z][A-Z0-9_]*) = ", module) + imported_constants(module):
        found += [one[0] for pattern in CHANGED for one in re.finditer(pattern.format(name=name), module)]
    return found


def imported_constants(module: str) -> list[str]:
    lists = re.findall(r"(?m)^import \{ (.+) \} from", module)
    return [name for one in lists for name in one.split(", ") if re.fullmatch(r"[A-Z][A-Z0-9_]+", name)]


def test_no_module_of_the_browser_remembers_anything_but_the_app() -> None:
    modules = (ROOT / "assets").rglob("*.mjs")
    found = {path.name: state_of(path.read_text("utf-8")) for path in modules}
    assert {name: state for name, state in found.items() if state} == {"viz.mjs": ["const app"]}


@pytest.mark.parametrize(
    "line",
    [
        "let timer = 0;",
        "let timer;",
        "export let shown = null;",
        "const kept = new Map();",
        "const KEPT = new WeakMap();",
        "export const state = { scene: null };",
        "const LIST = [];",
        "const session = new Session();",
        "const count = (() => { let calls = 0; return () => calls++; })();",
        "const cache = remembering(widthOf);",
        "class Painter {\n  static widths = new Map();\n}",
        "const SIZES = { a: 1 };\nexport const set = (b) => { SIZES.a = b; };",
        'import { NONE } from "./edits.mjs";\nfunction keep(one) {\n  NONE.leaves[one] = 1;\n}',
        'const WORDS = new Set(["a"]);\nconst more = (one) => WORDS.add(one);',
        "const ROWS = [1];\nconst more = (one) => ROWS.push(one);",
    ],
)
def test_what_a_module_remembers_is_found(line: str) -> None:
    assert state_of(f"const MOST = 3;\n\n{line}\n\nexport function first() {{\n  let i = 0;\n  return i;\n}}\n")


def test_page_shows_the_rooms_as_they_are() -> None:
    text = architecture.PAGE.read_text(encoding="utf-8")
    assert architecture.page(text) == text, "python -m docs.make.architecture"
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.picture()


def test_walk_and_places_of_changes_are_in_the_code() -> None:
    text = architecture.PAGE.read_text(encoding="utf-8")
    walk = re.findall(r"^\d+\. \[[^]]+\]\(\.\./([^)]+)\), ([^:]+):", text, re.MULTILINE)
    assert 10 <= len(walk) <= 15
    for path, names in walk:
        code = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^\s*(export )?(def|class|function) {name}\b", code, re.MULTILINE), f"{path}: {name}"
    places = re.findall(r"`((?:assets|docs|engine|viz)/[\w./]+)`", text)
    assert [place for place in places if not (ROOT / place).exists()] == []
