"""Modes at the wrong time: a model that is trained in evaluation mode, because an evaluation left it there, and dropout
that goes on in an evaluation.  Pure."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.trace.events import AnyEvent, Frame, GroupEntered, GroupLeft, ModeChanged, OpCalled, Trace
from engine.trace.file.database import TraceFileError
from engine.trace.source import Sources

from ..reading import text
from ..reading.source_text import source
from ..run.run import Run
from .finding import SectionFinding

Path = tuple[str, ...]
"""The names of a module and of those around it."""
MOST_NAMED = 2
MOST_SEEN = 12
"""Iterations before and after the change that are looked at: more would take longer than they tell."""


FUNCTIONAL = frozenset({"F", "functional", "nn.functional", "torch.nn.functional", "torch"})
"""What programs call the module of functions in which dropout is."""
DROPOUTS = frozenset({"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"})
"""Functions that are active unless their third argument, `training`, is False."""
BEFORE_TRAINING = 2
"""Their arguments before that."""


def left_in_eval(run: Run) -> SectionFinding | None:
    """The first iteration that trains in evaluation mode, if it follows the first evaluation, and all later ones do.

    The mode shows in BatchNorm, whose recorded arguments have it, and in modules such as Dropout, which compute nothing
    in evaluation mode.  Layers that are frozen have that mode from the start, or change while others do not, or after
    an evaluation from which training went on: none of these is a finding.  Cost: two
    iterations are read, and if their modes differ, some thirty more.
    """
    try:
        return _left(run)
    except TraceFileError:  # the file is damaged in one of them
        return None


def _left(run: Run) -> SectionFinding | None:
    columns = _of_last_loop(run)
    if len(columns) < 2:
        return None
    first, last = (_modes(run.trace(columns[place]).events) for place in (0, -1))
    changed = _in_eval(first, last)
    if not changed:
        return None
    low, high = 0, len(columns) - 1  # the last one that is known to train in training mode, the first that does not
    while high - low > 1:
        middle = (low + high) // 2
        modes = _modes(run.trace(columns[middle]).events)
        if _in_eval(first, modes).keys() == changed.keys():
            high = middle
        elif all(modes.is_training(path) for path in changed):
            low = middle
        else:
            return None
    evaluation = _evaluation(run, columns[low], columns[high], first, changed)
    if evaluation is None or _first_with(run, evaluation.stack) < run.sections[columns[low]].start:
        return None
    for place in _some(low):
        if not all(_modes(run.trace(columns[place]).events).is_training(path) for path in changed):
            return None
    for place in _some(len(columns) - high):
        if _in_eval(first, _modes(run.trace(columns[high + place]).events)).keys() != changed.keys():
            return None
    return _finding(run, columns, high, changed, evaluation)


def _some(count: int) -> list[int]:
    """A few numbers below a count, evenly spread.

    >>> _some(3), len(_some(1000))
    ([0, 1, 2], 12)
    """
    return sorted({int(place) for place in np.linspace(0, max(count - 1, 0), min(count, MOST_SEEN))})


def _of_last_loop(run: Run) -> list[int]:
    """The sections with a backward call that belong to the loop of the last one."""
    columns = [number for number in run.overview.first if run.sections[number].kind == "iteration"]
    loops = [run.sections[number].loop for number in columns]
    return [number for number, loop in zip(columns, loops, strict=True) if loop is not None and loop == loops[-1]]


@dataclass(slots=True)
class _Modes:
    """The modes of modules where gradients were enabled: by path, their class, whether an argument said that they train
    (None: some calls and some not), and the number of their ops."""

    kinds: dict[Path, str] = field(default_factory=dict)
    flags: dict[Path, bool | None] = field(default_factory=dict)
    ops: dict[Path, int] = field(default_factory=dict)

    def is_training(self, path: Path) -> bool:
        return self.flags[path] is True if path in self.flags else self.ops.get(path, 0) > 0


def _modes(events: Iterable[AnyEvent], *, with_grad: bool = True) -> _Modes:
    """The modes of the modules that contain no others, in some events.  Linear in these."""
    modes, around, inner = _Modes(), list[GroupEntered](), list[bool]()
    enabled = True
    for event in events:
        if isinstance(event, ModeChanged):
            enabled = event.grad_enabled
        elif isinstance(event, GroupEntered):
            inner[-1:] = [True] * len(inner[-1:])
            around.append(event)
            inner.append(False)
        elif isinstance(event, GroupLeft) and around:
            path = tuple(one.name for one in around)
            group, has_inner = around.pop(), inner.pop()
            if enabled is with_grad and not has_inner and not group.optimizer:
                modes.kinds[path] = group.kind
                modes.ops.setdefault(path, 0)
        elif isinstance(event, OpCalled) and around and enabled is with_grad and event.call is None:
            path = tuple(one.name for one in around)
            modes.ops[path] = modes.ops.get(path, 0) + 1
            flag = event.attrs.get("training")
            if isinstance(flag, bool):
                modes.flags[path] = flag if modes.flags.get(path, flag) is flag else None
    return modes


def _in_eval(first: _Modes, modes: _Modes) -> dict[Path, str]:
    """The modules that trained at first and are in evaluation mode now, with their classes; none if others of the same
    class still train."""
    shared = first.kinds.keys() & modes.kinds.keys()
    changed = {path: modes.kinds[path] for path in shared if first.is_training(path) and not modes.is_training(path)}
    kinds = set(changed.values())
    still = (path for path, kind in modes.kinds.items() if kind in kinds or modes.flags.get(path))
    return {} if any(modes.is_training(path) or path in _mixed(modes) for path in still) else changed


def _mixed(modes: _Modes) -> set[Path]:
    return {path for path, flag in modes.flags.items() if flag is None}


def _evaluation(run: Run, before: int, after: int, first: _Modes, changed: Mapping[Path, str]) -> GroupEntered | None:
    """The call that evaluates the model, without gradients, after one section and before another one trains it.

    All modules that it shows in evaluation mode, and that trained at first, must be those that changed.
    """
    names = {path[0] for path in changed}
    events, call, enabled = list[AnyEvent](), None, True
    entered: GroupEntered | None = None  # a call of the model, before its first op: PyTorch's mode is read with an op
    begin = run.sections[after].start
    for index in range(run.sections[before].start, run.sections[after].end):
        event = run.whole.events[index]
        if isinstance(event, ModeChanged):
            enabled = event.grad_enabled
        elif isinstance(event, GroupEntered) and event.name in names:
            entered = event
        elif isinstance(event, OpCalled) and entered is not None:
            if enabled and index >= begin:
                break
            call, entered = call or (None if enabled else entered), None
        events.append(event)
    modes = _modes(events, with_grad=False)
    evaluated = {path for path in modes.kinds if first.is_training(path) and not modes.is_training(path)}
    return call if evaluated and evaluated <= changed.keys() else None


def _first_with(run: Run, stack: int) -> int:
    """The first event of a call stack."""
    return int(np.argmax(run.outline.stacks == stack))


def _finding(
    run: Run, columns: list[int], place: int, changed: Mapping[Path, str], evaluation: GroupEntered
) -> SectionFinding:
    section, many = columns[place], len(columns) - place
    paths = sorted(changed)
    names = [f"{'.'.join(path)} ({changed[path]})" for path in paths[:MOST_NAMED]]
    if len(paths) > MOST_NAMED:
        names = [names[0], text.count(len(paths) - 1, "other module")]
    frames = run.whole.stacks[evaluation.stack] if 0 <= evaluation.stack < len(run.whole.stacks) else ()
    where = _place(run, frames[-1], 48) if frames else "a call without gradients"
    model = paths[0][0]
    why = (
        f"In {many:,} of {len(columns):,} iterations, from {run.sections[section].name} on, {text.join(names)} "
        f"{'run' if len(paths) > 1 else 'runs'} in evaluation mode, as in {where} just before. Earlier iterations "
        "run in training mode."
    )
    fix = f"Call {model}.train() after each evaluation, or at the beginning of each epoch."
    return SectionFinding(section, f"trained in evaluation mode, from {run.sections[section].name} on", why, fix)


def _place(run: Run, frame: Frame, most: int) -> str:
    """The expression at a frame, in at most so many characters, and its line; with the file if there are several."""
    place = f"`{source(run.whole, frame, most)}` in line {frame.line}"
    return f"{place} of {frame.file}" if len({one[-1].file for one in run.whole.stacks if one}) > 1 else place


def dropout_in_evaluation(run: Run) -> SectionFinding | None:
    """The first dropout in an evaluation: a call of the function without `training`, which is True by default.

    An evaluation is what runs without gradients in a program that calls eval(), if the same call also runs with
    gradients.  Where activations are computed again in backward, training runs without gradients too: then nothing is
    searched.  Cost: linear in the events, of which none is read.
    """
    whole, outline = run.whole, run.outline
    calls = _active_dropouts(whole)
    texts = whole.files.values()
    if not calls or not any(".eval()" in one for one in texts) or any("checkpoint(" in one for one in texts):
        return None
    events = np.intersect1d(np.flatnonzero(np.isin(outline.stacks, list(calls))), outline.where(OpCalled))
    changes = np.array([-1, *(event for event, _ in outline.modes)])
    modes = np.array([True, *(enabled for _, enabled in outline.modes)])
    enabled = modes[np.searchsorted(changes, events, side="right") - 1]
    trained = {calls[stack] for stack in outline.stacks[events[enabled]].tolist()}
    for event in events[~enabled].tolist():
        frame = calls[int(outline.stacks[event])]
        if frame in trained:
            return _dropout_finding(run, event, frame)
    return None


def _active_dropouts(trace: Trace) -> dict[int, Frame]:
    """By call stack, its innermost frame, if that calls dropout as a function without `training`."""
    if not any("dropout" in one for one in trace.files.values()):
        return {}
    sources = Sources(trace.files)
    return {
        number: stack[-1]
        for number, stack in enumerate(trace.stacks)
        if stack and _is_active_dropout(sources.node(stack[-1]), trace.files.get(stack[-1].file, ""))
    }


def _is_active_dropout(node: ast.AST | None, file: str) -> bool:
    """Return whether a node of a file calls dropout as a function, and not as a module such as `self.dropout`."""
    if not isinstance(node, ast.Call) or len(node.args) > BEFORE_TRAINING:
        return False
    if any(one.arg in ("training", None) for one in node.keywords):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in DROPOUTS and f"functional import {node.func.id}" in file
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in DROPOUTS
        and ast.unparse(node.func.value) in FUNCTIONAL
    )


def _dropout_finding(run: Run, event: int, frame: Frame) -> SectionFinding:
    starts = [section.start for section in run.sections]
    section = bisect_right(starts, event) - 1
    why = (
        f"{_place(run, frame, 60)} also runs without gradients, in an evaluation, and drops elements "
        "there: eval() does not reach it, because the function is active unless `training` is False."
    )
    fix = "Pass `training=self.training`, or use the module nn.Dropout, which has the mode of the model."
    where = f", in {run.sections[section].name}" if run.is_divided else ""
    return SectionFinding(max(section, 0), f"dropout in an evaluation{where}", why, fix)
