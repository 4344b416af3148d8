"""Why a script recorded nothing, or less than expected, and what to do about it.  Pure: counts in, text out."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.trace.file.pausing import Refusal
from viz.reading.text import one_line

OURS = ("engine", "viz")


@dataclass(frozen=True, slots=True)
class Imports:
    """The lines (from 1; None: nowhere) in which a program imports the engine and torch."""

    engine: int | None
    torch: int | None


def imports(text: str) -> Imports:
    """Where a program imports the engine and torch; nowhere, if it does not parse.

    >>> imports("import torch.nn as nn").torch, imports("from backstep import engine as torch").engine
    (1, 1)
    """
    lines: dict[str, int] = {}
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return Imports(None, None)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
            if node.module == "backstep":
                names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            lines.setdefault(name.partition(".")[0], node.lineno)
    return Imports(lines.get("engine"), lines.get("torch"))


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a trace: forward ops, ops that are differentiable here, backward calls, tensors that no op computed."""

    ops: int
    nodes: int
    backwards: int
    leaves: int = 0


def nothing_recorded(script: str, text: str, counts: Counts, as_torch: bool, error: str) -> str:
    """The explanation for a script in which no gradient can be seen; "" if there is a backward call."""
    if counts.backwards or (error and counts.nodes):
        return ""
    imported = imports(text)
    if not counts.ops:
        return _no_ops(script, imported, as_torch, error, counts.leaves)
    if error:
        return (
            f"{script} stopped with {error} after {_count(counts.ops, 'op')}, before one of them had a gradient. The "
            "traceback names the line."
        )
    if not counts.nodes:
        return (
            f"{script} ran {_count(counts.ops, 'op')}, but no tensor requires a gradient, so backward has nothing "
            "to run through. Create a leaf with requires_grad=True, and do not run everything under no_grad()."
        )
    return (
        f"{script} ran {_count(counts.ops, 'op')} and never called backward. "
        "Add z.backward() (or autograd.grad), or add the call here, in the commands panel."
    )


def _no_ops(script: str, imported: Imports, as_torch: bool, error: str, leaves: int) -> str:
    if error in ("SyntaxError", "IndentationError", "TabError"):
        return f"{script} is not valid Python ({error}), so none of it ran. The message names the line."
    if error and leaves:
        it = "it" if leaves == 1 else "them"
        return (
            f"{script} had made {_count(leaves, 'tensor')} when it stopped with {error}, "
            f"and computed nothing from {it} yet. The traceback names the line."
        )
    if error:
        return f"{script} stopped with {error} before its first op. The traceback names the line."
    if not imported.engine and not imported.torch:
        return (
            f"{script} imports neither torch nor the engine, and no op ran. Write `import torch`, or "
            "`import engine as torch`, where the tensors are made. Ops that other processes run are not recorded."
        )
    line = imported.engine or imported.torch
    library = "torch" if imported.torch and not imported.engine and not as_torch else "the engine"
    return (
        f"{script} imports {library} (line {line}), but no op ran. If its work needs "
        "arguments, give them after the script's name. Ops that other processes run are not recorded."
    )


def exited(script: str, status: int, said: str, file: str, line: int) -> str:
    """How a script ended itself, by `sys.exit` or a parser of arguments; "" for status 0, an ordinary end.

    >>> exited("train.py", 1, "no data", "train.py", 9)
    'train.py exited in line 9 with status 1 and the message “no data”.'
    """
    if not status:
        return ""
    where = f" in line {line}" + (f" of {file}" if file != script else "") if line else ""
    words = one_line(said, 160)
    message = f" and the message “{words}”" if words else ""
    return f"{script} exited{where} with status {status}{message}."


def killed(script: str, how: str) -> str:
    """The explanation for a script that was ended from outside, by os._exit or by a crash."""
    return (
        f"{script} was ended before Python could finish ({how}). The recording contains everything up to less than a "
        "second before that."
    )


def cut(kind: str, written: int, of: int | None = None, reason: str = "") -> str:
    """The missing part of a recording that ends before its program, from `engine.trace.file.streaming.EarlyEnd`.

    >>> cut("unwritable", 512, None, "the disk is full")
    'The recording ends after 512 events: the disk is full. The script itself went on.'
    """
    if kind == "gone":
        return "The recording is lost: its file was deleted while the script ran."
    if kind == "stopped":
        return f"The recording ends after {written:,} of {of or written:,} events: Ctrl-C stopped the writing there."
    more = {
        "memory": " Use fewer iterations or smaller tensors.",
        "disk": " Free some space there, or keep the values of fewer iterations with --steps or --every.",
    }.get(kind, "")
    return f"The recording ends after {written:,} events: {reason}. The script itself went on.{more}"


def unpaused(refusal: Refusal) -> str:
    """The reason why a recording that should pause did not.

    >>> unpaused("no-update")
    'The recording did not pause, because the program calls no optimizer.step(): all of it is recorded.'
    """
    why = {
        "no-update": "the program calls no optimizer.step()",
        "inside": "each update runs inside a call of a module or of backward()",
    }[refusal]
    return f"The recording did not pause, because {why}: all of it is recorded."


def ended(meta: Mapping[str, Any]) -> str:
    """The same for a recording that was opened, from its own data; "" if it has none about that.

    >>> ended({"script": "train.py", "exit": {"status": 3, "said": "", "file": "train.py", "line": 9}})
    'train.py exited in line 9 with status 3.'
    >>> ended({"script": "train.py", "exit": "yes"})
    ''
    """
    sentences = []
    match meta:
        case {"cut": {"kind": str(kind), "written": int(count), "of": int() | None as of, "reason": str(reason)}}:
            sentences.append(cut(kind, count, of, one_line(reason, 160)))
        case {"incomplete": True}:
            sentences.append(
                "The recording was cut off: its script was killed or is still running. "
                "Everything written so far is here."
            )
    match meta:
        case {"missing": [*missing]}:  # what a fault of ours has cost
            sentences += [one_line(str(one), 240) for one in missing[:3]]
    match meta:
        case {
            "script": str(script),
            "exit": {"status": int(status), "said": str(words), "file": str(file), "line": int(line)},
        }:
            sentences.append(exited(script, status, words, file, line))
    return " ".join(text for text in sentences if text)


def shadows(folder: Path, root: Path) -> list[str]:
    """The user's own files or packages beside a script that have the name of one of ours."""
    names = []
    for name in OURS:
        for path in (folder / f"{name}.py", folder / name / "__init__.py"):
            ours = root / name / "__init__.py"
            if path.is_file() and not (ours.is_file() and path.samefile(ours)):
                names.append(str(path.relative_to(folder)))
    return names


def module_of(file: str) -> str:
    """The module that is imported from a file or a package.

    >>> module_of("engine.py"), module_of("viz/__init__.py")
    ('engine', 'viz')
    """
    return Path(file).parts[0].removesuffix(".py")


INSTEAD = {"engine": "`from backstep import engine as torch`", "viz": "`from backstep import show`"}
"""How a script imports ours where it has a module of the same name."""


def shadowed(script: str, files: Sequence[str]) -> str:
    """The explanation for files that `shadows` found; "" for none."""
    return " ".join(
        f"`import {module}` loads `{file}` beside {script}, as without Backstep. "
        f"If Backstep's own is meant, write {INSTEAD[module]}."
        for module, file in {module_of(file): file for file in files}.items()
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
