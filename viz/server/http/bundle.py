"""The browser's modules as one script: each becomes a function that runs after those that it imports.

A page from a server gets them in one answer instead of a hundred; a page that was opened from a file may not load
modules at all.  They need no build step for that, because all of them import and export in one of four forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from |\* as (\w+) from )?"([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function\*?|class|const) (\w+))", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def bundle(entry: Path) -> str:
    """One classic script that does what the module `entry` does.

    Raises ValueError naming a module that imports itself, or that imports or exports in an unknown form.
    """
    modules: dict[Path, str] = {}
    _add(entry.resolve(), modules, [])
    names = {path: f"$m{number}" for number, path in enumerate(modules)}
    bodies = (_function(path, text, names) for path, text in modules.items())
    return "\n".join(['"use strict";', *bodies])


def _add(path: Path, modules: dict[Path, str], above: list[Path]) -> None:
    """Adds a module after those that it imports."""
    if path in above:
        raise ValueError(f"{path.name} imports itself by way of {above[-1].name}")
    if path in modules:
        return
    text = path.read_text("utf-8")
    for other in _imports(path, text):
        _add(other, modules, [*above, path])
    modules[path] = text


def _imports(path: Path, text: str) -> Iterator[Path]:
    return ((path.parent / match[3]).resolve() for match in _IMPORT.finditer(text))


def _function(path: Path, text: str, names: dict[Path, str]) -> str:
    """A module as a function of no arguments, called at once, that returns what the module exports."""

    def imported(match: re.Match[str]) -> str:
        some, everything, address = match.groups()
        name = names[(path.parent / address).resolve()]
        if everything:
            return f"const {everything} = {name};"
        return f"const {{ {some.replace(' as ', ': ').strip()} }} = {name};" if some else ""

    exports = [match[1] for match in _EXPORT.finditer(text)]
    body = _EXPORT.sub("", _IMPORT.sub(imported, text))
    if left := _LEFT.search(body):
        raise ValueError(f"{path.name}: this line is not in a form that one script can hold: {left[0]}")
    return f"// {path.name}\nconst {names[path]} = (() => {{\n{body}\nreturn {{ {', '.join(exports)} }};\n}})();"
