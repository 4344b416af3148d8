"""The names that the architecture's table keeps out: one idea has one name, whoever wrote the line."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

INSTEAD = {
    # word -> what it is called here
    "ctx": "the saved values are a rule's parameters",
    "delta": "cotangent, or what differs by its own name",
    "deltas": "cotangents",
    "parent": "`within` for a group, `above` in a syntax tree, an edge's source in a graph",
    "parents": "as `parent`",
    "child": "`members` of a group, an edge's target in a graph",
    "children": "as `child`",
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
    "children": (
        "torch.nn.Module; the property of a Dash component",
        ("engine/nn", "engine/utils", "assets/js/page", "assets/js/panels"),
    ),
    "named_children": ("torch.nn.Module", ("engine/nn",)),
    "iter_child_nodes": ("Python's ast", ("engine/trace/loops", "engine/trace/source")),
    "child": (
        "the process that runs a script; an element's content",
        ("viz/record/child", "assets/js/page/dom"),
    ),
    "after_in_child": ("os.register_at_fork", ("engine/trace/file/streaming",)),
    "after_in_parent": ("os.register_at_fork", ("engine/trace/file/streaming",)),
    "_after_in_parent": ("what is given to os.register_at_fork", ("engine/trace/file/streaming",)),
    "dtick": ("Plotly", ("assets/js/panels",)),
    "deltaMode": ("a wheel event", ("assets/js",)),
    "deltaY": ("a wheel event", ("assets/js",)),
}

DOM = re.compile(r"(first|last|offset|append|replace|remove)?(Element)?(Child|Children|Parent)|parentElement|childList")
"""Names that the browser gave: `firstChild`, `replaceChildren`, `offsetParent` …"""
PATHS = {"parent", "parents"}
"""Of pathlib where they are attributes and a file uses it; of anything else they would be a group's."""


def names_in_python(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, identifier (or a string that is one: a key of JSON, an attribute of a graph) and what stands before it."""
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME or (
            token.type == tokenize.STRING and re.fullmatch(r"[\"'][A-Za-z_]+[\"']", token.string)
        ):
            yield token.start[0], token.string.strip("\"'"), before
        before = token.string


def names_in_javascript(text: str) -> Iterator[tuple[int, str, str]]:
    """The same of a module; of its comments too, which are short."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in re.finditer(r"[A-Za-z_$][\w$]*", line):
            yield number, found[0], line[: found.start()].rstrip()[-1:]


def words(name: str) -> set[str]:
    """
    >>> sorted(words("tickStride")), sorted(words("_after_in_parent"))
    (['stride', 'tick'], ['after', 'in', 'parent'])
    """
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def is_of_others(name: str, before: str, text: str, file: str) -> bool:
    if name in PATHS:
        return before == "." and "Path" in text
    _, places = OTHERS.get(name, ("", ()))
    return file.startswith(tuple(places)) or (file.endswith(".mjs") and bool(DOM.search(name)))


def kept_out(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    names = names_in_javascript(text) if path.suffix == ".mjs" else names_in_python(text)
    file = path.relative_to(ROOT).as_posix()
    return [
        f"{file}:{line} {name} (here: {INSTEAD[word]})"
        for line, name, before in names
        for word in sorted(words(name) & set(INSTEAD))
        if not is_of_others(name, before, text, file)
    ]


@pytest.mark.parametrize("folder", ["engine", "viz", "assets"])
def test_source_keeps_to_the_table_of_names(folder: str) -> None:
    files = [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.mjs")]
    assert len(files) > 20
    assert [found for path in files for found in kept_out(path)] == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("a.py", "self.parent = group"),
        ("a.py", 'found = group["parent"]'),
        ("a.py", "delta_of = 1"),
        ("a.py", "def record(tape): ..."),
        ("a.mjs", "for (let one = first; one; one = groups.get(one.parent)) open(one);"),
        ("a.mjs", "const ticksPerStep = 3;"),
    ],
)
def test_name_that_is_kept_out_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, line: str) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / file).write_text(line + "\n", "utf-8")
    assert kept_out(tmp_path / file) != []
