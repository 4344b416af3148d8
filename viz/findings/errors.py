"""Errors explained: the place, why, and the smallest fix, as edits where one mends it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.trace.events import BackwardEnded, ErrorRaised, Escaped, ModeChanged, OpCalled, VjpRun, WarningGiven
from engine.trace.messages import ErrorKind, gradients_passed, warning_kind

from ..graph.graph import Drawing
from ..reading import labels, text
from ..reading.facts import CallFact, Facts
from ..reading.source_text import source
from ..reading.values import shortest
from ..schema.edits import Edits
from . import nonfinite
from .carried import carried
from .case import Answer, Case
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
    edits: Edits | None = None


def explain(facts: Facts, drawing: Drawing, edits: Mapping[str, Any] | None = None) -> Explained | None:
    """The last error of a trace, explained; `edits` are those that made the trace."""
    if not facts.errors:
        return None
    event = facts.errors[-1]
    case = Case(facts, drawing, event, edits)
    why, fix, mended = _ANSWERS[case.message.kind](case)
    return Explained(event, _place(case), why, fix, mended)


def _place(case: Case) -> str | None:
    if case.event.node is not None and case.event.node in case.facts.op_of_node:
        return case.facts.ops[case.facts.op_of_node[case.event.node]].id
    places = (case.drawing.place(t) for t in case.event.tensors or _about(case))
    return next((place for place in places if place is not None), None)


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


def _seed_shape(case: Case) -> Answer:
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
    if off is None or case.called(off.stack) != "set_grad_enabled":
        how = "it was computed where gradients are switched off (no_grad)"
        return _ends(where, how, name), "Compute it outside of no_grad().", None
    how = f"{case.written(off.stack)} has switched gradients off, and they stay off until they are switched on again"
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


def _saved_changed(case: Case) -> Answer:
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


def _leaf_changed(case: Case) -> Answer:
    name = case.first
    why = (
        f"{name} is a leaf that requires a gradient: its gradient belongs to the value it began with, "
        "and after a recorded in-place change that value would be gone."
    )
    return why, f"Change {name} inside `with torch.no_grad():` (an update step), or work on {name}.clone().", None


def _about(case: Case) -> tuple[int, ...]:
    """The tensors that an error is about which does not name any itself."""
    passed = gradients_passed(case.event)
    if passed is None or case.call is None:
        return ()
    return tuple(root.tensor for root in case.call.event.roots[passed:])


def _seed_count(case: Case) -> Answer:
    parts = case.message.parts
    roots = [root.tensor for root in case.call.event.roots] if case.call is not None else []
    names = text.join([case.named(root) for root in roots]) or "the roots"
    passed = text.count(int(parts["gradients"]), "gradient")
    why = (
        f"The call starts from {names}: {parts['roots']} tensors, and {passed} came with them. Each root needs its own."
    )
    return why, "Pass one gradient for each, in a list; None stands for the 1 of a single number.", None


def _constant_input(case: Case) -> Answer:
    name = case.first
    why = (
        f"{name} did not require a gradient when it was used, so on the way forward nothing was noted that leads to it."
    )
    return why, f"Make {name} with requires_grad=True (or call {name}.requires_grad_()) before it is used.", None


def _unused_input(case: Case) -> Answer:
    name = case.named(case.event.tensors[0]) if case.event.tensors else "one of the inputs"
    why = f"autograd.grad was asked for {name}, but no path leads from the root to {name}, so it has no gradient."
    return why, "Pass allow_unused=True to get None for it, or leave it out of the inputs.", None


def _no_inputs(case: Case) -> Answer:
    why = "`inputs=` names the leaves that are to receive a gradient, and the list is empty: nothing would be computed."
    return why, "Name the leaves, or leave `inputs=` out: then all of them receive one.", None


def _integer_leaf(case: Case) -> Answer:
    """What is made so is not there yet, so that nothing can be called on it; what is asked later is there."""
    why = (
        "A gradient says what happens when a number moves a little. Whole numbers, and True and False, cannot move "
        "a little."
    )
    name = case.facts.name(case.event.tensors[0]) if case.event.tensors else None
    if name is None:
        return why, "Write one of its numbers with a dot, as in `1.`, or pass `dtype=torch.float32`.", None
    floats = f"`{name} = {name}.float()` first, and then `{name}.requires_grad_()`"
    return why, f"Write one of its numbers with a dot, or {floats}.", None


def _numpy_of_grad(case: Case) -> Answer:
    why = "The value would leave the graph with numpy, and gradients cannot follow it there."
    return why, f"Write `{case.first}.detach().numpy()`: so you say that no gradient is to come back from there.", None


def _flag_of_inner(case: Case) -> Answer:
    name = case.first
    why = (
        f"{name} was computed from tensors that require a gradient. That it requires one too is a consequence, "
        "not a switch: the way back is there already."
    )
    return why, f"Take `{name}.detach()`: the same numbers, without the way back.", None


def _size_of_grad(case: Case) -> Answer:
    tensor = case.event.tensors[0] if case.event.tensors else None
    fact = case.facts.tensors.get(tensor) if tensor is not None else None
    size = f" {list(fact.shape)}" if fact is not None else ""
    name = case.named(tensor)
    why = f"`{name}.grad` belongs to {name} element by element, and gradients are added to it: it has its shape{size}."
    return why, "Assign a tensor of this shape, or None: then the next backward call makes one.", None


def _retain_constant(case: Case) -> Answer:
    name = case.first
    why = f"{name} requires no gradient, so none will ever reach it: there is nothing to keep."
    return why, f"Make {name} require one: `{name}.requires_grad_()` before it is used.", None


def _leaf_view_changed(case: Case) -> Answer:
    name = case.last
    why = (
        f"What is written is a view, a window onto the memory of {name}. {name} is a leaf that requires a gradient: "
        "to write through the window is to write the leaf itself."
    )
    return why, f"Write inside `with torch.no_grad():`, or leave {name} alone and multiply by a mask.", None


def _several_views(case: Case) -> Answer:
    name = case.first
    base = case.last
    why = (
        f"{name} is one of several views that one op made of {base}. The graph would "
        "have to pass a write to it on to all of them, and that is not supported."
    )
    return why, f"Write out of place, as in `{_out_of_place(case, name)}`, or write {base} by index.", None


def _out_of_place(case: Case, name: str) -> str:
    """The write that was refused as an assignment of a new tensor: `top = top * 10` for the program's `top *= 10`."""
    frame = case.facts.frame_of(case.event)
    written = source(case.facts.trace, frame) if frame is not None else ""
    try:
        (statement,) = ast.parse(written).body
    except (SyntaxError, ValueError):
        return f"{name} = {name} * 2"
    sign = next((s for op, s in _SIGNS if isinstance(statement, ast.AugAssign) and isinstance(statement.op, op)), None)
    if sign is None or not isinstance(statement, ast.AugAssign) or ast.unparse(statement.target) != name:
        return f"{name} = {name} * 2"
    value = ast.unparse(statement.value)
    return f"{name} = {name} {sign} " + (f"({value})" if isinstance(statement.value, ast.BinOp) else value)


_SIGNS = ((ast.Add, "+"), (ast.Sub, "-"), (ast.Mult, "*"), (ast.Div, "/"), (ast.Pow, "**"))


def _unrecorded_view(case: Case) -> Answer:
    name = case.first
    base = case.last
    why = (
        f"{name} is a view of {base} that was made under no_grad, so that nothing is recorded between the two. The "
        f"write is to be recorded. Whether it counts for the gradient of {base} cannot be known."
    )
    return why, "Put the view and the write both inside of no_grad(), or both outside.", None


def _inference_tensor(case: Case) -> Answer:
    why = (
        "A tensor made under inference_mode() keeps no version, so a node cannot save it: a change would go unnoticed."
    )
    return why, "Compute it under no_grad() instead, or use a clone() of it.", None


def _nan_found(case: Case) -> Answer:
    """The node that anomaly mode names, and the one before it where an infinity was born."""
    node = case.op.node.name if case.op is not None and case.op.node is not None else "This node"
    earlier = next((found for found in nonfinite.findings(case.facts) if found.kind == "inf-gradient"), None)
    why = f"{node} is the first to *show* a nan on the way back."
    if earlier is None:
        return why, "Look at what it was given: 0 times inf, or 0 / 0.", None
    return f"{why} The trouble begins before it. {earlier.why}", earlier.fix or "Keep its input away from there.", None


def _jacobian_mismatch(case: Case) -> Answer:
    name = case.last
    why = (
        f"gradcheck moved each element of {name} a little and looked how the result changed (numerical), and asked "
        "backward for the same (analytical). The two differ, so the backward pass does not belong to this function."
    )
    return (
        why,
        "Look for a way that is cut, such as detach(), .data or item(), or for a wrong backward of your own.",
        None,
    )


def _gradient_count(case: Case) -> Answer:
    expected, returned = int(case.message.parts["expected"]), int(case.message.parts["returned"])
    why = (
        f"forward was called with {text.count(expected, 'input')}, and backward returned "
        f"{text.count(returned, 'gradient')}: it owes one to each input."
    )
    return why, "Return one gradient per argument of forward, in their order, and None for what needs none.", None


def _gradient_shape(case: Case) -> Answer:
    index, returned, expected = (case.message.parts[part] for part in ("index", "returned", "expected"))
    why = f"Input {index} of forward has shape {expected}, and backward returned a gradient of shape {returned}."
    return why, f"Return a gradient of shape {expected}: what did not take part receives zeros.", None


def _no_input(case: Case) -> Answer:
    asks = case.line or "input()"
    why = f"{asks} waits for a line that is typed, and none can come: the standard input is at its end."
    fix = (
        "`backstep run` hands on what is typed in its terminal, or piped into it (`echo 2 | backstep run script.py`); "
        "without a terminal, and where --watch records again, there is no keyboard. Write the value into the "
        "script, or give it as an argument, behind the script's name, and read `sys.argv`."
    )
    return why, fix, None


def _no_backward(case: Case) -> Answer:
    why = "This Function says how to go forward, and not how to go back."
    return why, "Give it a static method backward(ctx, grad) that returns one gradient per input.", None


_STEPS = {"floor_divide": "It rounds: as its input grows it stands still, then jumps. "}


def _no_derivative(case: Case) -> Answer:
    name = case.message.parts["op"]
    where = case.written(case.op.stack) if case.op is not None else name
    why = f"The way back comes to {where}, and PyTorch has no derivative for {name}. {_STEPS.get(name, '')}"
    fix = "Write it with an op that has one, or leave it out of the way back with .detach()."
    if name == "floor_divide":
        fix = "Write `/` where a fraction is meant; where rounding is, round `.detach()`: no gradient comes that way."
    return why.strip(), fix, None


def _once_differentiable(case: Case) -> Answer:
    why = (
        "This backward was marked @once_differentiable: what it computes is not noted, so it has no derivative itself."
    )
    return why, "Leave the mark out, and write backward in tensor ops.", None


def _number_backward(case: Case) -> Answer:
    left = _left(case)
    name = case.named(left.tensor if left is not None else None)
    where = f" ({case.written(left.stack)})" if left is not None else ""
    why = f"item() took the number of {name} out of the graph{where}. A Python float does not know how it was computed."
    return why, "Add up the tensors themselves and leave item() out; use it for printing.", None


def _left(case: Case) -> Escaped | None:
    before = case.facts.trace.events[: case.event.index]
    return next((e for e in reversed(before) if isinstance(e, Escaped) and e.kind == "item"), None)


def _other(case: Case) -> Answer:
    note = case.event.note.strip().removeprefix("Backstep: ")
    why = note[:1].upper() + note[1:] or f"The program stopped{_at(case)}; everything up to there is in the graph."
    return why, "Change the program at this line; the traceback, under Commands, says how it came there.", None


def _at(case: Case) -> str:
    return f" at {case.line}" if case.line else ""


def _syntax(case: Case) -> Answer:
    why = f"The file is no valid Python{_at(case)}, so nothing of it ran."
    return why, "Mend this line, or the one above it.", None


def _no_file(case: Case) -> Answer:
    why = f"The program stopped{_at(case)}: there is no such file where it looked."
    fix = "A path without a leading folder is looked for in the folder in which Backstep was started, as by Python."
    return why, f"{fix} Start it in the folder of the file, or write the whole path.", None


def _interrupted(case: Case) -> Answer:
    why = f"The program was ended from outside (Ctrl-C){_at(case)}; everything up to there is in the graph."
    return why, "Nothing has to be mended. Run it again, and longer, for what comes behind.", None


def _no_module(case: Case) -> Answer:
    name = case.message.parts["name"]
    why = f"The program stopped{_at(case)}: the Python that runs Backstep has no module {name}."
    return why, f"Install {name} where Backstep is installed, or leave the import out here.", None


def _none_used(case: Case) -> Answer:
    before = case.facts.trace.events[max(0, case.event.index - 3) : case.event.index]
    if not any(isinstance(e, WarningGiven) and warning_kind(e) == "grad-of-inner" for e in before):
        return _other(case)
    why = (
        "`.grad` is None here: the tensor was computed, so it is no leaf, and backward() fills in `.grad` of leaves "
        "only."
    )
    fix = "Call `.retain_grad()` on that tensor before backward(), or take torch.autograd.grad(root, tensor)."
    return why, fix, None


_ANSWERS: Mapping[ErrorKind, Callable[[Case], Answer]] = {
    "second-backward": _second_backward,
    "not-scalar": _not_scalar,
    "seed-shape": _seed_shape,
    "seed-count": _seed_count,
    "no-history": _no_history,
    "constant-input": _constant_input,
    "unused-input": _unused_input,
    "no-inputs": _no_inputs,
    "saved-changed": _saved_changed,
    "leaf-changed": _leaf_changed,
    "leaf-view-changed": _leaf_view_changed,
    "several-views": _several_views,
    "unrecorded-view": _unrecorded_view,
    "inference-tensor": _inference_tensor,
    "integer-leaf": _integer_leaf,
    "numpy-of-grad": _numpy_of_grad,
    "flag-of-inner": _flag_of_inner,
    "size-of-grad": _size_of_grad,
    "retain-constant": _retain_constant,
    "nan-found": _nan_found,
    "jacobian-mismatch": _jacobian_mismatch,
    "gradient-count": _gradient_count,
    "gradient-shape": _gradient_shape,
    "no-backward": _no_backward,
    "once-differentiable": _once_differentiable,
    "no-derivative": _no_derivative,
    "number-backward": _number_backward,
    "none-used": _none_used,
    "syntax": _syntax,
    "no-module": _no_module,
    "no-file": _no_file,
    "no-input": _no_input,
    "interrupted": _interrupted,
    "other": _other,
}
"""Who explains an error of a kind."""


def _root(case: Case) -> tuple[tuple[int, ...], str]:
    """Shape and name of the root that the error is about."""
    tensor = case.event.tensors[0] if case.event.tensors else None
    if tensor is None and case.call is not None and case.call.event.roots:
        tensor = case.call.event.roots[0].tensor
    fact = case.facts.tensors.get(tensor) if tensor is not None else None
    return (fact.shape if fact is not None else ()), (
        case.facts.name(tensor) if tensor is not None else None
    ) or "the result"
