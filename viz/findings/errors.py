"""Errors explained: the place, why, and the smallest fix, as edits where one mends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.trace.events import BackwardEnded, ErrorRaised, ModeChanged, OpCalled, VjpRun, WarningGiven

from ..graph.graph import Drawing
from ..reading import labels, text
from ..reading.facts import CallFact, Facts
from ..reading.values import shortest
from . import refusals
from .carried import carried
from .case import Answer, Case, Json
from .fixes import edited

MOST_NAMED = 4
"""Tensors that are named one by one; of more, the first and how many there are."""
MOST_NUMBERS = 16
"""Elements of a gradient up to which the one that an edit passes is written out."""


@dataclass(frozen=True, slots=True)
class Explained:
    """An error event with its place, reason and remedy; `edits` in the browser's form where an edit mends it."""

    event: ErrorRaised
    at: str | None
    why: str
    fix: str
    edits: Json | None = None


def explain(facts: Facts, drawing: Drawing, edits: Mapping[str, Any] | None = None) -> Explained | None:
    """The last error of a trace, explained; `edits` are those that made the trace."""
    if not facts.errors:
        return None
    event = facts.errors[-1]
    case = Case(facts, drawing, event, edits)
    answer = next((answer(case) for start, answer in _KNOWN if start in event.message), None)
    why, fix, mended = answer if answer is not None else _other(case)
    return Explained(event, _place(case), why, fix, mended)


def _place(case: Case) -> str | None:
    if case.event.node is not None and case.event.node in case.facts.op_of_node:
        return case.facts.ops[case.facts.op_of_node[case.event.node]].id
    places = (case.drawing.place(t) for t in case.event.tensors or refusals.about(case))
    return next((place for place in places if place is not None), None)


# -- what is known ------------------------------------------------------------------------------------------------


def _second_backward(case: Case) -> Answer:
    freed = [
        e for e in case.facts.trace.events
        if isinstance(e, VjpRun) and e.freed and e.node == case.event.node and e.index < case.event.index
    ]  # fmt: skip
    earlier = case.facts.calls.get(freed[-1].call) if freed else None
    saved = text.join([s.name for s in case.op.node.saved]) if case.op is not None and case.op.node is not None else ""
    name = case.op.node.name if case.op is not None and case.op.node is not None else "This node"
    by = case.written(earlier.event.stack) if earlier is not None else "an earlier backward call"
    why = (
        f"{name} needs what it saved in forward ({saved or 'its inputs'}), "
        f"but {by} has run through it already and freed it: "
        "a backward call frees saved values as it goes, because most graphs are used once."
    )
    fix = f"Pass retain_graph=True to the earlier call ({by}), or compute the result again before the second call."
    held = carried(case, earlier) if earlier is not None else None
    if held is None or earlier is None:
        return why, fix, edited(case, earlier, retain_graph=True) if earlier is not None else None
    node = case.op.node.name if case.op is not None and case.op.node is not None else "a node"
    where = f" (in {held.where})" if held.where else ""
    why = (
        f"{held.said} was computed before {by} and is used again after it{where}. "
        f"So this call goes back through a graph that was freed: {node} no longer has what it saved "
        f"({saved or 'its inputs'})."
    )
    name = held.name or "it"
    how = f"`{held.name} = {held.name}.detach()`" if held.name else "`.detach()`"
    fix = f"If {name} only carries a value over, cut it off after the call: {how}."
    updated = _was_updated(case, earlier)
    if updated:
        return why, f"{fix} retain_graph=True would not do: {updated} has another value since.", None
    fix += f" To go back through all of it, pass retain_graph=True to {by}."
    return why, fix, edited(case, earlier, retain_graph=True)


def _was_updated(case: Case, earlier: CallFact) -> str:
    """The name of a leaf that was written since an earlier backward call; "" where none was."""
    for op in case.facts.ops:
        leaf = op.event.inplace
        later = earlier.start < op.event.index < case.event.index
        if later and leaf is not None and leaf in case.facts.receives and case.facts.is_leaf(leaf):
            return case.named(leaf)
    return ""


def _not_scalar(case: Case) -> Answer:
    shape, name = _root(case)
    why = (
        f"backward() without a gradient starts with the number 1, which only fits a scalar; "
        f"{name} has shape {list(shape)}. "
        "For several outputs there is no one derivative: a gradient of its shape says how much each element counts."
    )
    fix = (
        f"Pass a gradient of shape {list(shape)} (ones count every element alike), "
        f"or reduce {name} first, as in {name}.sum()."
    )
    return why, fix, edited(case, case.call, gradient=np.ones(shape).tolist())


def _mismatch(case: Case) -> Answer:
    shape, name = _root(case)
    given = (
        case.facts.trace.value(case.call.event.roots[0].gradient)
        if case.call is not None and case.call.event.roots
        else None
    )
    size = f" Here it has shape {list(given.shape)}." if given is not None else ""
    wanted = np.ones(shape)
    if given is not None and given.array is not None:
        wanted = fitted(given.array, shape)
    why = (
        f"The gradient that is passed says how much each element of {name} counts, "
        f"so it has the shape of {name}, {list(shape)}.{size}"
    )
    fix = f"Pass a gradient of shape {list(shape)}."
    if wanted.size <= MOST_NUMBERS:
        fix = f"Pass a gradient of shape {list(shape)}, for instance {text.listing(wanted)}."
    return why, fix, edited(case, case.call, gradient=np.reshape(shortest(wanted), wanted.shape).tolist())


def fitted(given: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A gradient in the wanted shape that keeps what was given: broadcast, or cut or filled with zeros.

    >>> fitted(np.array([1.0, 0.0]), (2, 2)).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    if given.size == text.size(shape):
        return given.reshape(shape)
    try:
        return np.broadcast_to(given, shape).copy()
    except ValueError:
        flat = np.zeros(text.size(shape), dtype=given.dtype)
        count = min(flat.size, given.size)
        flat[:count] = given.reshape(-1)[:count]
        return flat.reshape(shape)


def _no_history(case: Case) -> Answer:
    root = case.event.tensors[0] if case.event.tensors else None
    name = case.named(root)
    again = _derivative(case, root)
    if again is not None:
        return again
    cut = _cut(case.facts, root) if root is not None else None
    if cut is None:
        leaves = _leaves(case.facts, root) if root is not None else []
        frozen = [leaf for leaf in leaves if leaf in case.facts.tensors and case.facts.tensors[leaf].flags]
        if frozen:
            return _frozen(case, name, frozen)
        if leaves and not any(case.facts.tensors[leaf].dtype.startswith("float") for leaf in leaves):
            return _whole(name)
        if leaves == [root]:
            why = f"{name} is not computed from anything, and does not require a gradient itself."
            return (
                why,
                f"Create {name} with requires_grad=True, or start from what is computed from a leaf that has it.",
                None,
            )
        names = text.join([n for n in (case.facts.trace.names.get(t) for t in leaves) if n]) or "any of its inputs"
        why = f"Nothing that {name} was computed from requires a gradient, so no graph leads from it to a leaf."
        return why, f"Create {names} with requires_grad=True before {name} is computed.", None
    where = case.written(cut.stack) or labels.written_name(cut)
    if cut.name == "detach":
        return _ends(where, "detach() cuts it off", name), "Leave out the detach().", None
    if not all(out.dtype.startswith("float") for out in cut.outputs):
        made = (
            f"{labels.written_name(cut)} answers with {'yes or no' if cut.outputs[0].dtype == 'bool' else 'a position'}"
        )
        how = f"{made}, which jumps instead of changing smoothly and has no slope"
        return (
            _ends(where, how, name),
            "Compute the loss from something smooth, such as log_softmax of the scores.",
            None,
        )
    return _switched_off(case, where, cut, name)


def _whole(name: str) -> Answer:
    """The root is made of whole numbers alone."""
    why = f"{name} is made of whole numbers, or True and False: they cannot move a little, so they have no gradient."
    return why, "Start from what is computed from a leaf of floating point numbers that requires a gradient.", None


def _switched_off(case: Case, where: str, cut: OpCalled, name: str) -> Answer:
    """Gradients were off at an op: by which line, and how they come back."""
    events = case.facts.trace.events[: cut.index]
    off = next((e for e in reversed(events) if isinstance(e, ModeChanged) and not e.grad_enabled), None)
    by = case.written(off.stack) if off is not None else ""
    if "set_grad_enabled" not in by:
        how = "it was computed where gradients are switched off (no_grad)"
        return _ends(where, how, name), "Compute it outside of no_grad().", None
    how = f"{by} has switched gradients off, and they stay off until they are switched on again"
    fix = (
        "Use `with torch.no_grad():` there, which ends with its block, or call `torch.set_grad_enabled(True)` after it."
    )
    return _ends(where, how, name), fix, None


def _frozen(case: Case, name: str, frozen: Sequence[int]) -> Answer:
    """All that a root was computed from was frozen: which tensors, and by which lines."""
    lines = dict.fromkeys(case.written(case.facts.tensors[leaf].flags[-1].stack) for leaf in frozen)
    known = [case.named(leaf) for leaf in frozen]
    names = text.join(known) if len(known) <= MOST_NAMED else f"{known[0]} and {len(known) - 1} more"
    switched = f"requires_grad was switched off for {names}: {text.join([line for line in lines if line])}"
    why = f"Nothing that {name} was computed from requires a gradient, so no graph leads from it to a leaf. {switched}."
    return why, "Leave requires_grad on for what is to learn.", None


def _ends(where: str, how: str, name: str) -> str:
    return f"The graph ends at {where}: {how}, so nothing leads from {name} to a leaf."


def _derivative(case: Case, root: int | None) -> Answer | None:
    """The root is what `grad()` returned without a graph of its own."""
    for event in case.facts.trace.events[: case.event.index]:
        if isinstance(event, BackwardEnded) and root is not None and root in event.results:
            call = case.facts.calls[event.call]
            by = case.written(call.event.stack) or "an autograd.grad call"
            why = (
                f"{case.named(root)} is what {by} returned. That call ran without create_graph=True, so its own steps "
                "were not noted: the derivative is a plain number, with no way back."
            )
            return why, "Pass create_graph=True to that call.", edited(case, call, create_graph=True)
    return None


def _cut(facts: Facts, root: int) -> OpCalled | None:
    """The nearest op behind `root` that had an input with gradient and gave none on."""
    todo, seen = [root], {root}
    while todo:
        tensor = todo.pop(0)
        fact = facts.tensors.get(tensor)
        op = facts.producer(tensor, fact.last) if fact is not None and fact.versions else None
        if op is None:
            continue
        event = facts.ops[op].event
        inputs = [i.tensor for i in event.inputs if i.tensor is not None]
        if event.node is None and any(facts.asks(t, event.index) for t in inputs if t in facts.tensors):
            return event
        todo += [t for t in inputs if t not in seen]
        seen.update(inputs)
    return None


def _leaves(facts: Facts, root: int) -> list[int]:
    todo, seen, found = [root], {root}, []
    while todo:
        tensor = todo.pop()
        fact = facts.tensors.get(tensor)
        if fact is None:
            continue
        op = fact.producers.get(max(fact.producers)) if fact.producers else None
        if op is None:
            found.append(tensor)
            continue
        fresh = [i.tensor for i in facts.ops[op].event.inputs if i.tensor is not None and i.tensor not in seen]
        seen.update(fresh)
        todo += fresh
    return sorted(found)


_TYPED = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
"""Ops with an augmented assignment, as it is typed."""


def _in_place(case: Case) -> Answer:
    tensor = case.event.tensors[0] if case.event.tensors else None
    writer = next(
        (op.event for op in reversed(case.facts.ops)
         if op.event.inplace is not None and op.event.index < case.event.index
         and (tensor is None or case.facts.shares(tensor, op.event.inplace))),
        None,
    )  # fmt: skip
    name = case.part(tensor if tensor is not None or writer is None else writer.inplace)
    node = case.op.node.name if case.op is not None and case.op.node is not None else "A node"
    by = case.written(writer.stack) or labels.written_name(writer) if writer is not None else "an in-place operation"
    why = (
        f"{node} saved {name} in forward and needs that value for its derivative, but {by} has overwritten it since: "
        "with the new value the gradient would be wrong, so the engine refuses."
    )
    if tensor is not None and writer is not None and tensor != writer.inplace:
        why = (
            f"{node} saved {name}. Since then {by} wrote into the same memory. One version counts for all of it, "
            "so what was saved counts as changed even where other places were written, and the engine refuses."
        )
        return why, "Keep the parts as tensors of their own, in a list, and put them together with torch.stack().", None
    if tensor is not None and tensor in case.facts.tensors and case.facts.is_leaf(tensor):
        return why, f"Run every backward call before {name} is updated, or compute the loss again after it.", None
    plain = labels.written_name(writer).rstrip("_") if writer is not None else "the operation"
    sign = _TYPED.get(plain)
    instead = f"`{name} = {name} {sign} …`" if sign else f"`{plain}`"
    return (
        why,
        f"Use the form that makes a new tensor, {instead}, without the underscore or the augmented assignment.",
        None,
    )


def _leaf_in_place(case: Case) -> Answer:
    name = case.first
    why = (
        f"{name} is a leaf that requires a gradient: its gradient belongs to the value it began with, "
        "and after a recorded in-place change that value would be gone."
    )
    return why, f"Change {name} inside `with torch.no_grad():` (an update step), or work on {name}.clone().", None


def _other(case: Case) -> Answer:
    where = case.line
    at = f" at {where}" if where else ""
    if case.event.type in ("SyntaxError", "IndentationError", "TabError"):
        return f"The file is no valid Python{at}, so nothing of it ran.", "Mend this line, or the one above it.", None
    if case.event.type == "ModuleNotFoundError" and "No module named" in case.event.message:
        return _not_installed(case, at)
    if case.event.type == "FileNotFoundError":
        why = f"The program stopped{at}: there is no such file where it looked."
        fix = "A path without a leading folder is looked for in the folder in which Backstep was started, as by Python."
        return why, f"{fix} Start it in the folder of the file, or write the whole path.", None
    if case.event.type == "KeyboardInterrupt":
        return (
            f"The program was ended from outside (Ctrl-C){at}; everything up to there is in the graph.",
            ("Nothing has to be mended. Run it again, and longer, for what comes behind."),
            None,
        )
    if "'float' object has no attribute 'backward'" in case.event.message:
        return refusals.float_has_no_past(case)
    if "'NoneType' object" in case.event.message and _asked_inner_grad(case):
        return (
            "`.grad` is None here: the tensor was computed, so it is no leaf, "
            "and backward() fills in `.grad` of leaves only.",
            "Call `.retain_grad()` on that tensor before backward(), or take torch.autograd.grad(root, tensor).",
            None,
        )
    note = case.event.note.strip().removeprefix("Backstep: ")
    why = note[:1].upper() + note[1:] or f"The program stopped{at}; everything up to there is in the graph."
    return why, "Change the program at this line; the traceback, under Commands, says how it came there.", None


def _not_installed(case: Case, at: str) -> Answer:
    name = case.event.message.rpartition("No module named ")[2].strip("'\"").partition(".")[0]
    why = f"The program stopped{at}: the Python that runs Backstep has no module {name}."
    return why, f"Install {name} where Backstep is installed, or leave the import out here.", None


def _asked_inner_grad(case: Case) -> bool:
    """Whether the program was warned just before that it looks at .grad of an inner tensor."""
    before = case.facts.trace.events[max(0, case.event.index - 3) : case.event.index]
    return any(isinstance(e, WarningGiven) and "not a leaf Tensor" in e.message for e in before)


_KNOWN: Sequence[tuple[str, Callable[[Case], Answer]]] = (
    ("Trying to backward through the graph a second time", _second_backward),
    ("grad can be implicitly created only for scalar outputs", _not_scalar),
    ("Mismatch in shape: grad_output", _mismatch),
    ("does not require grad and does not have a grad_fn", _no_history),
    ("modified by an inplace operation", _in_place),
    ("a view of a leaf Variable that requires grad", refusals.view_of_leaf),
    ("a leaf Variable that requires grad", _leaf_in_place),
    *refusals.KNOWN,
)


def _root(case: Case) -> tuple[tuple[int, ...], str]:
    """Shape and name of the root that the error is about."""
    tensor = case.event.tensors[0] if case.event.tensors else None
    if tensor is None and case.call is not None and case.call.event.roots:
        tensor = case.call.event.roots[0].tensor
    fact = case.facts.tensors.get(tensor) if tensor is not None else None
    return (fact.shape if fact is not None else ()), (
        case.facts.name(tensor) if tensor is not None else None
    ) or "the result"
