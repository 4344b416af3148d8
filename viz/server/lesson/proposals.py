"""The edits that chapters propose, as their authors write them: `gradient = [0, 1], retain_graph = False`.

`gradient` (`None`: none is passed), `retain_graph` and `create_graph` are those of the first backward call in the
chapter's lines, or else after them; every other name is a leaf, which gets new numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from engine.replay.program import NONE_PASSED, Command, commands
from viz.scene.reading import Reading
from viz.schema.edits import CommandSpec, Edits
from viz.schema.scene import Chapter
from viz.schema.story import Try

OF_CALL = ("gradient", "retain_graph", "create_graph")


def proposed(chapters: Sequence[Chapter], reading: Reading) -> Iterator[Chapter]:
    """The chapters with their proposals, each as edits of the recording, or with the reason why it cannot be one."""
    for chapter in chapters:
        if "tries" in chapter:
            yield {**chapter, "tries": [_try(one["text"], chapter["lines"], reading) for one in chapter["tries"]]}
        else:
            yield chapter


def _try(text: str, lines: tuple[int, int] | None, reading: Reading) -> Try:
    try:
        return {"text": text, "edits": _edits(values(text), lines, reading)}
    except ValueError as error:
        return {"text": text, "problem": str(error)}


def values(text: str) -> dict[str, Any]:
    """The names in a proposal and what each becomes.

    Raises ValueError that says how to write it.

    >>> values("gradient = [0, 1], retain_graph = False")
    {'gradient': [0, 1], 'retain_graph': False}
    """
    try:
        call = ast.parse(f"edit({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        numbers = {one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg is not None}
        if not call.args and numbers:
            return numbers
    except (SyntaxError, ValueError, AssertionError):
        pass
    raise ValueError(f"write `# ! gradient = [0, 1]` or `# ! x = 2.0`, with numbers; found `{text}`")


def _edits(changes: dict[str, Any], lines: tuple[int, int] | None, reading: Reading) -> Edits:
    program_commands = commands(reading.facts.trace)
    of_call = {name: changes[name] for name in OF_CALL if name in changes}
    leaves = {str(_leaf(name, reading)): value for name, value in changes.items() if name not in OF_CALL}
    if not of_call:
        return {"leaves": leaves, "commands": None}
    if "gradient" in of_call and of_call["gradient"] is None:
        of_call["gradient"] = NONE_PASSED
    if of_call.get("create_graph"):
        of_call.setdefault("retain_graph", True)  # as in PyTorch
    call = _call(program_commands, lines, reading)
    specs = [{**_spec(one), **(of_call if one is call else {})} for one in program_commands]
    return {"leaves": leaves, "commands": specs}  # type: ignore[typeddict-item]  # the names are those of OF_CALL


def _call(program_commands: Sequence[Command], lines: tuple[int, int] | None, reading: Reading) -> Command:
    """The first backward call in the lines, or after them; else the last one."""
    calls = [one for one in program_commands if one.kind == "backward"]
    if not calls:
        raise ValueError("the program has no backward call to change")
    return next((one for one in calls if lines is None or _line(one, reading) >= lines[0]), calls[-1])


def _line(call: Command, reading: Reading) -> int:
    trace = reading.facts.trace
    frame = reading.facts.frames.get(trace.events[call.base].stack) if call.base is not None else None
    return frame.line if frame is not None else 0


def _leaf(name: str, reading: Reading) -> int:
    facts = reading.facts
    named = (tensor for tensor, label in facts.trace.names.items() if label == name and tensor in facts.tensors)
    leaf = next((tensor for tensor in named if facts.tensors[tensor].leaf is not None), None)
    if leaf is None:
        raise ValueError(f"`{name}` is not a leaf of the program, and not one of {', '.join(OF_CALL)}")
    return leaf


def _spec(command: Command) -> CommandSpec:
    """A recorded command as it stands in edits."""
    return {
        "id": command.id, "kind": command.kind, "after": command.after,
        "root": command.roots[0] if command.roots else None, "gradient": None,
        "retain_graph": command.retain_graph, "create_graph": command.create_graph,
        "inputs": None if command.inputs is None else list(command.inputs), "leaf": command.leaf,
    }  # fmt: skip
