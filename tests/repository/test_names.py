"""The names that the architecture's table keeps out: one idea has one name, whoever wrote the line."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

INSTEAD = {
    # word -> what it is called here
    "ctx": "the saved values are a rule's parameters",
    "delta": "cotangent, or what differs by its own name",
    "deltas": "cotangents",
    "tape": "trace",
    "tick": "`step`, or `t`",
    "ticks": "steps",
}

OTHERS = {
    # a name that somebody else gave -> who, and where alone it is used
    "ctx": ("the first parameter of a torch.autograd.Function; of Python's ast, how a name is used", ("engine", "viz")),
    "FunctionCtx": ("torch.autograd.function", ("engine/autograd",)),
    "delta": ("HuberLoss's argument", ("engine/ops/loss", "engine/nn")),
    "acc_delta": ("the state of torch.optim.Adadelta", ("engine/optim",)),
    "dtick": ("Plotly", ("assets/js/panels",)),
    "deltaMode": ("a wheel event", ("assets/js",)),
    "deltaX": ("a wheel event", ("assets/js",)),
    "deltaY": ("a wheel event", ("assets/js",)),
}

PARTICIPLES = {
    "asked", "begun", "born", "drawn", "found", "given", "held", "kept", "known", "listed", "made", "placed", "said",
    "shown", "taken", "told", "used", "wanted", "written",
}  # fmt: skip
"""They say how a value came about, and not what it is: write `gradients` or `nodes`."""
PARTICIPLES_IN_PYTHON = PARTICIPLES | {
    "answered", "come", "crowded", "halved", "harmed", "painted", "remembered", "timed", "unasked", "visited", "waited",
}  # fmt: skip
IN_FILES = {
    ("born", "engine/trace/file/outline.py"),
    ("given", "engine/trace/events.py"),
    ("held", "engine/trace/file/outline.py"),
    ("kept", "assets/js/panels/inspector/inspector.mjs"),
    ("known", "engine/ops/attention.py"),
    ("said", "viz/record/missing_recording.py"),
    ("written", "engine/trace/file/streaming.py"),
    ("written", "viz/record/missing_recording.py"),
}
"""Fields, an op's input and a state of saved tensors, by which trace files and scenes have them."""
CLASS_PARTICIPLES = PARTICIPLES | {"come", "gone", "living", "ran", "sent"}
CLASS_NOUNS = {
    "Binding", "Drawing", "Embedding", "Finding", "Grouping", "Loading", "Naming", "Opening", "Reading", "Recording",
    "Setting", "Training", "Wiring",
}  # fmt: skip
"""Words in -ing that the field or this project has for a thing."""
EVENTS = "engine/trace/events.py"
"""An event says what happened, under a name that trace files have: `Accumulated`, `Escaped`."""
BOUND = re.compile(
    r"(?:const|let|function)\s+(\w+)|(?:const|let)\s*[\[{]([^=]*)[\]}]\s*=|(\w+)\s*=>|\(([^()]*)\)\s*(?:=>|\{)"
    r"|this\.(\w+)\s*=(?!=)|^\s+(?:async\s+)?(\w+)\(.*\)\s*\{$|[{,]\s*(\w+):\s|(\w+)\s*=\s*new\b"
)
"""What a line of JavaScript declares: variables, functions, methods, parameters, attributes, keys."""

FUNCTION = re.compile(
    r"\bfunction\*?\s+(\w+)|\b(?:const|let)\s+(\w+)\s*=\s*(?:async\s+)?(?:\([^()]*\)|\w+)\s*=>"
    r"|^\s+(?:(?:async|static|get)\s+)*(?!if|for|while|switch|catch)(\w+)\(.*\)\s*\{"
    r"|[{,]\s*(\w+):\s*(?:\([^()]*\)|\w+)\s*=>"
)
"""How JavaScript declares a function: by its word, as a variable, as a method, under a key."""
FUNCTION_MODIFIERS = PARTICIPLES | {
    "above", "ahead", "aside", "beside", "besides", "best", "bigger", "brief", "come", "editable", "explicit",
    "fitting", "following", "fresh", "gone", "grown", "hidden", "inside", "later", "latest", "least", "legible",
    "linear", "local", "logarithmic", "long", "movable", "nearest", "own", "pressable", "quiet", "ready", "same",
    "scientific", "seen", "shorter", "shrunk", "small", "spoken", "straight", "thick", "together", "torn",
    "visible", "waiting", "whole", "within",
}  # fmt: skip
"""A function is named by what it returns or does, `growBox` or `isReady`, and a callback `onMove`, not `moved`."""
VERBS_IN_ED = {"embed", "feed", "need", "proceed", "seed", "speed"}


def names_in_python(text: str) -> Iterator[tuple[int, str]]:
    """Line and identifier (or a string that is one: a key of JSON, an attribute of a graph)."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME or (
            token.type == tokenize.STRING and re.fullmatch(r"[\"'][A-Za-z_]+[\"']", token.string)
        ):
            yield token.start[0], token.string.strip("\"'")


def names_in_javascript(text: str) -> Iterator[tuple[int, str]]:
    """The same of a module; of its comments too, which are short."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in re.finditer(r"[A-Za-z_$][\w$]*", line):
            yield number, found[0]


def bound_in_python(text: str) -> Iterator[tuple[int, str]]:
    """Line and name of each variable, parameter, attribute and function."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield node.lineno, name
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield node.lineno, name


def bound_in_javascript(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for match in BOUND.finditer(line):
            for part in ",".join(filter(None, match.groups())).split(","):
                yield number, part.partition("=")[0].rpartition(":")[2].strip(" .{}[]")


def classes_in_python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            yield node.lineno, node.name


def classes_in_javascript(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for match in re.finditer(r"^\s*(?:export )?(?:default )?class (\w+)", line):
            yield number, match[1]


def functions_in_javascript(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for match in FUNCTION.finditer(line):
            yield number, next(filter(None, match.groups()))


def words(name: str) -> set[str]:
    """
    >>> sorted(words("tickStride")), sorted(words("_after_in_parent"))
    (['stride', 'tick'], ['after', 'in', 'parent'])
    """
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def is_of_others(name: str, file: str) -> bool:
    _, places = OTHERS.get(name, ("", ()))
    return file.startswith(tuple(places))


def kept_out(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    names = names_in_javascript(text) if path.suffix == ".mjs" else names_in_python(text)
    file = path.relative_to(ROOT).as_posix()
    return [
        f"{file}:{line} {name} (here: {INSTEAD[word]})"
        for line, name in names
        for word in sorted(words(name) & set(INSTEAD))
        if not is_of_others(name, file)
    ]


@pytest.mark.parametrize("folder", ["engine", "viz", "assets"])
def test_source_keeps_to_the_table_of_names(folder: str) -> None:
    files = [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.mjs")]
    assert len(files) > 20
    assert [found for path in files for found in kept_out(path)] == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("a.py", 'found = step["tick"]'),
        ("a.py", "delta_of = 1"),
        ("a.py", "def record(tape): ..."),
        ("a.mjs", "for (const delta of deltas) add(delta);"),
        ("a.mjs", "const ticksPerStep = 3;"),
    ],
)
def test_name_that_is_kept_out_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, line: str) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / file).write_text(line + "\n", "utf-8")
    assert kept_out(tmp_path / file) != []


def _word(name: str) -> str:
    """A name without what marks it as private or as a constant."""
    return name.lstrip("_").lower() if name.isupper() else name.lstrip("_")


def participles(path: Path) -> list[str]:
    is_javascript = path.suffix == ".mjs"
    bound = bound_in_javascript if is_javascript else bound_in_python
    words = PARTICIPLES if is_javascript else PARTICIPLES_IN_PYTHON
    file = path.relative_to(ROOT).as_posix()
    return [
        f"{file}:{line} {name}"
        for line, name in bound(path.read_text("utf-8"))
        if _word(name) in words and (_word(name), file) not in IN_FILES
    ]


def is_modifier(name: str) -> bool:
    """Whether the name of a function is one participle or adjective: it says how something is, and not what.

    >>> is_modifier("changed"), is_modifier("fresh"), is_modifier("shown")
    (True, True, True)
    >>> is_modifier("seed"), is_modifier("growBox"), is_modifier("onChange")
    (False, False, False)
    """
    return name in FUNCTION_MODIFIERS or (re.fullmatch("[a-z]+ed", name) is not None and name not in VERBS_IN_ED)


def modifier_functions(path: Path) -> list[str]:
    file = path.relative_to(ROOT).as_posix()
    functions = functions_in_javascript(path.read_text("utf-8"))
    return [f"{file}:{line} {name}" for line, name in functions if is_modifier(name)]


def is_participle(name: str) -> bool:
    """Whether the name of a class is one participle, and no noun is in it.

    >>> is_participle("_Recomputed"), is_participle("Waiting"), is_participle("Given")
    (True, True, True)
    >>> is_participle("PendingArray"), is_participle("Recording"), is_participle("Seed")
    (False, False, False)
    """
    name = name.lstrip("_")
    if not re.fullmatch("[A-Z][a-z]+", name) or name in CLASS_NOUNS:
        return False
    return name.lower() in CLASS_PARTICIPLES or re.fullmatch(r"\w{3,}(?<!e)(?:ed|ing)", name) is not None


def participle_classes(path: Path) -> list[str]:
    declared = classes_in_javascript if path.suffix == ".mjs" else classes_in_python
    file = path.relative_to(ROOT).as_posix()
    return [f"{file}:{line} {name}" for line, name in declared(path.read_text("utf-8")) if is_participle(name)]


@pytest.mark.parametrize("folder", ["engine", "viz", "assets/js", "benchmarks", "docs"])
def test_classes_are_things_and_not_participles(folder: str) -> None:
    files = [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.mjs")]
    ours = [path for path in files if ROOT / "viz" / "gallery" not in path.parents[1:] and path != ROOT / EVENTS]
    assert [place for path in ours for place in participle_classes(path)] == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("a.py", "class Given: ..."),
        ("a.py", "class _Recomputed(Base): ..."),
        ("a.py", "def f():\n    class Arriving: ..."),
        ("a.mjs", "export class Choosing {"),
        ("a.mjs", "class Sent extends Base {"),
    ],
)
def test_participle_class_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, line: str) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / file).write_text(line + "\n", "utf-8")
    assert participle_classes(tmp_path / file) != []


def test_functions_of_the_browser_are_named_by_their_result_or_action() -> None:
    files = sorted((ROOT / "assets/js").rglob("*.mjs"))
    assert sum(1 for path in files for _ in functions_in_javascript(path.read_text("utf-8"))) > 1000
    assert [place for path in files for place in modifier_functions(path)] == []


@pytest.mark.parametrize(
    "line",
    [
        "export function changed(old, difference) {",
        "async function painted({ kind }) {",
        "function* joined(a) {",
        "const spoken = (step) => step.say;",
        "export const grown = ([x0, y0, x1, y1], by) => [x0 - by, y0 - by, x1 + by, y1 + by];",
        "  const scaled = value => value * 2;",
        "  pressed(event) {",
        "  get hidden() {",
        "new Stage(host, { painted: () => { frames += 1; }, moved: (t) => look(t) });",
    ],
)
def test_function_with_a_participle_or_adjective_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / "a.mjs").write_text(line + "\n", "utf-8")
    assert modifier_functions(tmp_path / "a.mjs") != []


@pytest.mark.parametrize("folder", ["engine", "viz", "assets/js"])
def test_names_are_things_and_not_participles(folder: str) -> None:
    files = [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.mjs")]
    ours = [path for path in files if ROOT / "viz" / "gallery" not in path.parents[1:]]  # a program's names are its own
    assert [place for path in ours for place in participles(path)] == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("a.py", "found = 1"),
        ("a.py", "_KEPT = 3"),
        ("a.py", "def record(*given): ..."),
        ("a.py", "self.made = []"),
        ("a.py", "def _told(): ..."),
        ("a.py", "def visited(node): ..."),
        ("a.py", "class A:\n    told: int = 0"),
        ("a.py", "def made(): ..."),
        ("a.py", "[found for found in range(3)]"),
        ("a.mjs", "const found = find();"),
        ("a.mjs", "const KEPT = 3;"),
        ("a.mjs", "const { given: made, ...rest } = values;"),
        ("a.mjs", "ask().then((told) => told);"),
        ("a.mjs", "rows.map(found => found);"),
        ("a.mjs", "function add(scene, given = 1) {"),
        ("a.mjs", "this.told = null;"),
        ("a.mjs", "  async made({ problem }) {"),
        ("a.mjs", "export function listed(scene, edits, known = new Map()) {"),
        ("a.mjs", "wires.push({ op, given: 1 });"),
    ],
)
def test_participle_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, line: str) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / file).write_text(line + "\n", "utf-8")
    assert participles(tmp_path / file) != []
