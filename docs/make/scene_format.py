"""Writes what is said of the types in viz/schema: `python -m docs.make.scene_format`.  A test holds both files fresh.

The tables of docs/scene-format.md, and assets/js/scene/scene.d.ts, with which the browser's modules are checked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from docs.make.tables import escaped

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "viz" / "schema"
PAGE = ROOT / "docs" / "scene-format.md"
TYPES = ROOT / "assets" / "js" / "scene" / "scene.d.ts"
MODULES = ("scene", "story", "values", "edits", "details", "run")
"""In the order in which the page has them, each between marks of its name."""
ROOTS = ("Scene", "Edits", "Details", "RunOverview", "RunGraphs")
"""The documents; all other types are parts of one."""
HEAD = """// What the server sends, as types: made by `python -m docs.make.scene_format` from viz/schema; a test
// fails where this file is older.  For checks only (tests/js/tsconfig.json): the browser never asks for it.
"""
WIDTH = 120
PLAIN = {"str": "string", "int": "number", "float": "number", "bool": "boolean", "None": "null", "Any": "any", "T": "T"}


@dataclass(frozen=True)
class Field:
    """A key of a document."""

    name: str
    type: str
    optional: bool
    about: str


@dataclass(frozen=True)
class Type:
    """A declared type, in TypeScript's notation: a document with `fields`, else another name of `alias`."""

    name: str
    about: str
    fields: tuple[Field, ...] = ()
    alias: str = ""
    generic: bool = False
    values: tuple[tuple[str, str], ...] = ()
    """For a choice of texts: each with its meaning, if it has one."""


def types(module: str) -> dict[str, Type]:
    """The types of a module of the schema: a document before its parts, with the keys of those that it extends."""
    known, own = declared(), {name for name, *_ in _statements(module)}
    return {name: _explained(known[name], known) for root in ROOTS for name in _parts(root, known) if name in own}


def _explained(one: Type, known: Mapping[str, Type]) -> Type:
    """A document whose keys say at least what their type says."""
    fields = (field if field.about else replace(field, about=_sentence(field, known)) for field in one.fields)
    return replace(one, fields=tuple(fields))


def _sentence(field: Field, known: Mapping[str, Type]) -> str:
    """The first sentence about the type of a key; "" where there is none."""
    told = next((known[name].about for name in _words(field.type) if name in known and name != "Track"), "")
    return told.partition(". ")[0].rstrip(".") + "." if told else ""


def declared() -> dict[str, Type]:
    """All types of the schema by name."""
    found: dict[str, Type] = {}
    for module in ("values", "edits", "story", "scene", "details", "run"):  # those that others extend come first
        for name, node, about in _statements(module):
            if isinstance(node, ast.ClassDef):
                own = {field.name: field for field in _fields(node)}
                above = {f.name: f for base in node.bases for f in found.get(ast.unparse(base), Type("", "")).fields}
                found[name] = Type(name, about, tuple((above | own).values()))
            elif isinstance(node, ast.Call):
                found[name] = Type(name, about, tuple(_functional(node)))
            else:
                text = typescript(node)
                found[name] = Type(name, about, (), text, "T" in _words(text), tuple(_values(node, module)))
    return found


def _parts(root: str, known: Mapping[str, Type]) -> dict[str, None]:
    """A type and those that it is made of, each before its own parts."""
    found: dict[str, None] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found[name] = None
            words = _words(" ".join([known[name].alias, *(field.type for field in known[name].fields)]))
            waiting += reversed(words)
    return found


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def _statements(module: str) -> Iterator[tuple[str, ast.AST, str]]:
    """(name, declaration, what is said of it) of each type that a module declares."""
    body = ast.parse(_source(module)).body
    for place, node in enumerate(body):
        if isinstance(node, ast.ClassDef):
            yield node.name, node, " ".join((ast.get_docstring(node) or "").split())
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id != "T":
            yield node.targets[0].id, node.value, _said(body, place)


def _source(module: str) -> str:
    return (SCHEMA / f"{module}.py").read_text(encoding="utf-8")


def _said(body: list[ast.stmt], place: int) -> str:
    """The text that stands behind a declaration."""
    behind = body[place + 1] if place + 1 < len(body) else None
    if isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant) and isinstance(behind.value.value, str):
        return " ".join(behind.value.value.split())
    return ""


def _fields(node: ast.ClassDef) -> Iterator[Field]:
    for place, one in enumerate(node.body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            yield _field(one.target.id, one.annotation, _said(node.body, place))


def _values(node: ast.AST, module: str) -> Iterator[tuple[str, str]]:
    """The texts of a choice with the comments behind them; none of a choice without comments."""
    match node:
        case ast.Subscript(ast.Name("Literal"), ast.Tuple(values)):
            lines = _source(module).splitlines()
            told = [(ast.literal_eval(one), lines[one.lineno - 1].partition("  # ")[2]) for one in values]
            yield from told if any(about for _, about in told) else ()


def _functional(node: ast.Call) -> Iterator[Field]:
    """Keys that Python reserves are written in a dict, with what is said of them beside their type."""
    keys = node.args[1]
    assert isinstance(keys, ast.Dict)
    for key, value in zip(keys.keys, keys.values, strict=True):
        assert isinstance(key, ast.Constant) and isinstance(key.value, str)
        yield _field(key.value, value, "")


def _field(name: str, annotation: ast.expr, about: str) -> Field:
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "NotRequired":
        return replace(_field(name, annotation.slice, about), optional=True)
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        assert isinstance(annotation.slice, ast.Tuple)
        inner, told = annotation.slice.elts
        return _field(name, inner, ast.literal_eval(told))
    return Field(name, typescript(annotation), False, about)


def typescript(node: ast.AST) -> str:
    """A type as TypeScript writes it.

    >>> typescript(ast.parse("Track[ValueId | None]", mode="eval").body)
    'Track<ValueId | null>'
    >>> typescript(ast.parse("dict[str, list[Literal['a', 1] | None]]", mode="eval").body)
    'Record<string, ("a" | 1 | null)[]>'
    """
    match node:
        case ast.Name(name) | ast.Constant(str(name)):
            return PLAIN.get(name, name)
        case ast.Constant(None):
            return "null"
        case ast.BinOp(left, ast.BitOr(), right):
            return f"{typescript(left)} | {typescript(right)}"
        case ast.Subscript(ast.Name("Literal"), inner):
            values = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return " | ".join(_literal(ast.literal_eval(value)) for value in values)
        case ast.Subscript(ast.Name("list"), inner):
            element = typescript(inner)
            return f"({element})[]" if " | " in element and "<" not in element else f"{element}[]"
        case ast.Subscript(ast.Name(name), inner):
            parts = [typescript(part) for part in (inner.elts if isinstance(inner, ast.Tuple) else [inner])]
            if name == "tuple":
                return f"[{', '.join(parts)}]"
            return f"{'Record' if name == 'dict' else name}<{', '.join(parts)}>"
    raise TypeError(f"no form of this in TypeScript: {ast.unparse(node)}")


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def page(text: str) -> str:
    """The page with its tables made anew."""
    for module in MODULES:
        marks = f"<!-- {module} -->\n", f"<!-- /{module} -->"
        before, _, rest = text.partition(marks[0])
        after = rest.partition(marks[1])[2]
        text = before + marks[0] + "\n".join(map(_section, types(module).values())) + marks[1] + after
    return text


def _section(one: Type) -> str:
    head = f"### {one.name}\n{one.about}\n"
    if one.values:
        meanings = [f"| `{value}` | {escaped(about)} |" for value, about in one.values]
        return "\n".join([head, "| value | meaning |", "|---|---|", *meanings, ""])
    if one.alias:
        return f"{head}\n`{_named(one)} = {one.alias}`\n"
    rows = [
        f"| `{field.name}{'?' if field.optional else ''}` | `{escaped(field.type)}` | {escaped(field.about)} |"
        for field in one.fields
    ]
    return "\n".join([head, "| key | type | meaning |", "|---|---|---|", *rows, ""])


def _named(one: Type) -> str:
    return f"{one.name}<T>" if one.generic else one.name


def declarations() -> str:
    """The declaration file."""
    parts = [HEAD]
    for one in (one for module in MODULES for one in types(module).values()):
        lines = _comment(one.about, "")
        if one.values:
            choices = [f'  | "{value}"{f" // {about}" if about else ""}' for value, about in one.values]
            lines += [f"export type {one.name} =", *choices, ";"]
        elif one.alias:
            lines.append(f"export type {_named(one)} = {one.alias};")
        else:
            lines.append(f"export interface {one.name} {{")
            for field in one.fields:
                lines += [*_comment(field.about, "  "), f"  {field.name}{'?' if field.optional else ''}: {field.type};"]
            lines.append("}")
        parts.append("\n".join([*lines, ""]))
    return "\n".join(parts)


def _comment(text: str, indent: str) -> list[str]:
    if not text:
        return []
    if len(text) + len(indent) + 7 <= WIDTH:
        return [f"{indent}/** {text} */"]
    lines, line = [], f"{indent} *"
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = f"{indent} *"
        line += f" {word}"
    return [f"{indent}/**", *lines, line, f"{indent} */"]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    TYPES.write_text(declarations(), encoding="utf-8")
    print(PAGE, TYPES, sep="\n")
