"""Errors explained: the place, why, and the smallest fix, as edits if an edit fixes it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.arrays.element_types import is_float, shortest
from engine.trace.events import (
    Accumulated,
    BackwardEnded,
    ErrorRaised,
    Escaped,
    ModeChanged,
    OpCalled,
    WarningGiven,
)
from engine.trace.messages import ErrorKind, warning_kind

from ...graph.graph import Drawing
from ...reading import labels, text
from ...reading.error_tensors import OF_OPERANDS, asks
from ...reading.facts import Facts
from ...reading.source_text import source
from ...schema.edits import Edits
from .. import nonfinite
from ..untrained.checkpoints import cutting_checkpoints
from . import arguments
from .case import Answer, Case
from .fixes import edited
from .graph_ends import leaves_behind, nearest_cut
from .graphs_of_earlier import saved_changed, second_backward

MOST_NAMED = 4
"""The most tensors that are named one by one; of more, the sentence names the first and counts the rest."""
MOST_NUMBERS = 16
"""The most elements of a gradient that is written out in a fix."""


@dataclass(frozen=True, slots=True)
class ErrorExplanation:
    """An error event with its place, reason and remedy; `edits`, in the browser's form, if an edit fixes it."""

    event: ErrorRaised
    at: str | None
    why: str
    fix: str
    edits: Edits | None = None


def explain(facts: Facts, drawing: Drawing, edits: Mapping[str, Any] | None = None) -> ErrorExplanation | None:
    """The last error of a trace, explained; `edits` are those with which the trace was replayed."""
    if not facts.errors:
        return None
    event = facts.errors[-1]
    case = Case(facts, drawing, event, edits)
    kind = case.message.kind
    has_own = event.note and kind in OF_OPERANDS  # the engine's, with the numbers of this call; PyTorch has none
    why, fix, mended = (_other if has_own else _ANSWERS[kind])(case)
    return ErrorExplanation(event, _place(case), why, fix, mended)


def _place(case: Case) -> str | None:
    if case.op is not None:
        return case.facts.ops[case.facts.op_at[case.op.index]].id
    places = (case.drawing.place(t) for t in case.tensors)
    return next((place for place in places if place is not None), None)


def _not_scalar(case: Case) -> Answer:
    shape, name = _root(case)
    why = (
        f"backward() without a gradient starts with the number 1, which only fits a scalar; "
        f"{name} has shape {list(shape)}. "
        "Several outputs have no single derivative: a gradient of the same shape says how much each element counts."
    )
    fix = (
        f"Pass a gradient of shape {list(shape)} (with ones, all elements count equally), "
        f"or reduce {name} first, as in {name}.sum()."
    )
    return why, fix, edited(case, case.call, gradient=np.ones(shape).tolist())


def _seed_shape(case: Case) -> Answer:
    shape, name = _root(case)
    gradient = (
        case.facts.trace.value(case.call.event.roots[0].gradient)
        if case.call is not None and case.call.event.roots
        else None
    )
    size = f" Here it has shape {list(gradient.shape)}." if gradient is not None else ""
    seed = np.ones(shape)
    if gradient is not None and gradient.array is not None:
        seed = fitted(gradient.array, shape)
    why = (
        f"The gradient passed says how much each element of {name} counts, "
        f"so it must have the shape of {name}, {list(shape)}.{size}"
    )
    fix = f"Pass a gradient of shape {list(shape)}."
    if seed.size <= MOST_NUMBERS:
        fix = f"Pass a gradient of shape {list(shape)}, for instance {text.listing(seed)}."
    return why, fix, edited(case, case.call, gradient=np.reshape(shortest(seed), seed.shape).tolist())


def fitted(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A gradient in the wanted shape with the numbers of this one: broadcast, or else cut or padded with zeros.

    >>> fitted(np.array([1.0, 0.0]), (2, 2)).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    if gradient.size == text.size(shape):
        return gradient.reshape(shape)
    try:
        return np.broadcast_to(gradient, shape).copy()
    except ValueError:
        flat = np.zeros(text.size(shape), dtype=gradient.dtype)
        count = min(flat.size, gradient.size)
        flat[:count] = gradient.reshape(-1)[:count]
        return flat.reshape(shape)


def _no_history(case: Case) -> Answer:
    root = case.tensor
    name = case.named(root)
    again = _derivative(case, root)
    if again is not None:
        return again
    cut = nearest_cut(case.facts, root) if root is not None else None
    if cut is None:
        leaves = leaves_behind(case.facts, root) if root is not None else []
        frozen = [leaf for leaf in leaves if leaf in case.facts.tensors and case.facts.tensors[leaf].flags]
        if frozen:
            return _frozen(case, name, frozen)
        if leaves and not any(is_float(case.facts.tensors[leaf].dtype) for leaf in leaves):
            return _whole(name)
        left = _left_as(case, root) if leaves == [root] and root is not None else None
        if left is not None:
            why = (
                f"{name} is a new tensor with the number of {case.named(left.tensor)}, which {left.kind}() took out of "
                f"the graph ({case.code_at(left.stack)}). So no graph leads from it to a leaf."
            )
            return why, f"Call backward() on the tensor itself; use {left.kind}() for printing only.", None
        if leaves == [root]:
            why = f"{name} is not computed from anything, and does not require a gradient itself."
            return (
                why,
                f"Create {name} with requires_grad=True, or start from a tensor computed from a leaf that requires it.",
                None,
            )
        for leaf in leaves:
            if copied := _copied(case, leaf):
                return copied
        names = text.join([n for n in (case.facts.trace.names.get(t) for t in leaves) if n]) or "any of its inputs"
        why = f"Nothing that {name} was computed from requires a gradient, so no graph leads from it to a leaf."
        return why, f"Create {names} with requires_grad=True before {name} is computed.", None
    where = case.code_at(cut.stack) or labels.written_name(cut)
    if cut.name == "detach":
        return _ends(where, "detach() cuts it off", name), "Remove the detach().", None
    if case.facts.op_at[cut.index] in cutting_checkpoints(case.facts).values():
        how = "a checkpoint with use_reentrant=True lets gradients through only if one of its inputs requires one"
        return _ends(where, how, name), "Pass use_reentrant=False to checkpoint().", None
    if not all(is_float(out.dtype) for out in cut.outputs):
        whole = (
            f"{labels.written_name(cut)} returns {'True or False' if cut.outputs[0].dtype == 'bool' else 'a position'}"
        )
        how = f"{whole}, which jumps instead of changing smoothly and has no derivative"
        return (
            _ends(where, how, name),
            "Compute the loss from a differentiable quantity, such as log_softmax of the scores.",
            None,
        )
    return _switched_off(case, where, cut, name)


def _left_as(case: Case, leaf: int) -> Escaped | None:
    """The event in which Python read the numbers of which a leaf was made, out of a graph."""
    facts = case.facts
    creation = facts.tensors[leaf].leaf if leaf in facts.tensors else None
    array = None if creation is None else facts.trace.value(creation.value).array
    if creation is None or array is None:
        return None
    for event in reversed(facts.trace.events[: creation.index]):
        if isinstance(event, Escaped) and event.tensor in facts.tensors and asks(facts, event.tensor, event.index):
            values = facts.trace.value(event.value).array
            if values is not None and values.shape == array.shape and np.array_equal(values, array, equal_nan=True):
                return event
    return None


def _copied(case: Case, leaf: int) -> Answer | None:
    """A leaf made by torch.tensor() of a list of single numbers that have a history."""
    facts = case.facts
    creation = facts.tensors[leaf].leaf if leaf in facts.tensors else None
    if creation is None or not isinstance(case.argument(creation.stack), (ast.Name, ast.Attribute, ast.ListComp)):
        return None  # a list that is typed has the numbers that are seen there
    copy = facts.trace.value(creation.value).array if creation.source == "tensor" else None
    if copy is None or copy.size < 2 or not is_float(creation.dtype):
        return None
    single = (
        facts.trace.value(next(iter(fact.values.values()))).array
        for fact in facts.tensors.values()
        if fact.shape == () and fact.requires_grad and fact.values and fact.event < creation.index
    )
    numbers = {array.item() for array in single if array is not None}
    if not numbers.issuperset(copy.reshape(-1).tolist()):
        return None
    why = (
        f"{case.code_at(creation.stack)} copies the numbers of {copy.size} tensors that were computed, and a copy has "
        "no history. So no graph leads from it to a leaf."
    )
    return why, "Use `torch.stack()` of the list: it keeps the graph.", None


def _whole(name: str) -> Answer:
    """The root is computed from integers only."""
    why = f"{name} holds integers, or True and False: they cannot change a little, so they have no gradient."
    return why, "Start from a tensor computed from a floating-point leaf that requires a gradient.", None


def _switched_off(case: Case, where: str, cut: OpCalled, name: str) -> Answer:
    """Gradients were off at an op: the line that switched them off, and how to switch them on."""
    events = case.facts.trace.events[: cut.index]
    off = next((e for e in reversed(events) if isinstance(e, ModeChanged) and not e.grad_enabled), None)
    if off is None or case.called(off.stack) != "set_grad_enabled":
        how = "it was computed while gradients were switched off (no_grad)"
        return _ends(where, how, name), "Compute it outside of no_grad().", None
    how = f"{case.code_at(off.stack)} has switched gradients off, and they stay off until they are switched on again"
    fix = "Use `with torch.no_grad():`, which ends with its block, or call `torch.set_grad_enabled(True)` afterwards."
    return _ends(where, how, name), fix, None


def _frozen(case: Case, name: str, frozen: Sequence[int]) -> Answer:
    """All inputs of a root were frozen: the tensors, and the lines that froze them."""
    lines = dict.fromkeys(case.code_at(case.facts.tensors[leaf].flags[-1].stack) for leaf in frozen)
    leaves = [case.named(leaf) for leaf in frozen]
    names = text.join(leaves) if len(leaves) <= MOST_NAMED else f"{leaves[0]} and {len(leaves) - 1} more"
    switched = f"requires_grad was switched off for {names}: {text.join([line for line in lines if line])}"
    why = f"Nothing that {name} was computed from requires a gradient, so no graph leads from it to a leaf. {switched}."
    return why, "Leave requires_grad on for the parameters that should learn.", None


def _ends(where: str, how: str, name: str) -> str:
    return f"The graph ends at {where}: {how}, so no path leads from {name} to a leaf."


def _derivative(case: Case, root: int | None) -> Answer | None:
    """The root is what `grad()` returned without a graph of its own."""
    for event in case.facts.trace.events[: case.event.index]:
        if isinstance(event, BackwardEnded) and root is not None and root in event.results:
            call = case.facts.calls[event.call]
            by = case.code_at(call.event.stack) or "an autograd.grad call"
            why = (
                f"{case.named(root)} was returned by {by}. That call ran without create_graph=True, so its own steps "
                "were not recorded in a graph: backward cannot run through the derivative."
            )
            return why, "Pass create_graph=True to that call.", edited(case, call, create_graph=True)
    return None


def _leaf_changed(case: Case) -> Answer:
    name = case.first
    why = (
        f"{name} is a leaf that requires a gradient. Its gradient belongs to its original value, "
        "and a recorded in-place change would overwrite that value."
    )
    return why, f"Change {name} inside `with torch.no_grad():` (an update step), or work on {name}.clone().", None


def _seed_count(case: Case) -> Answer:
    parts = case.message.parts
    roots = [root.tensor for root in case.call.event.roots] if case.call is not None else []
    names = text.join([case.named(root) for root in roots]) or "the roots"
    passed = text.count(int(parts["gradients"]), "gradient")
    why = f"The call starts from {names}: {parts['roots']} tensors, but it passes {passed}. Each root needs its own."
    return why, "Pass one gradient per root, in a list; None stands for the implicit 1 of a single number.", None


def _constant_input(case: Case) -> Answer:
    name = case.first
    why = f"{name} did not require a gradient when it was used, so the forward pass recorded no edge to it."
    return why, f"Create {name} with requires_grad=True (or call {name}.requires_grad_()) before it is used.", None


def _unused_input(case: Case) -> Answer:
    name = case.first if case.tensors else "one of the inputs"
    why = f"autograd.grad was asked for {name}, but no path leads from the root to {name}, so it has no gradient."
    return why, "Pass allow_unused=True to get None for it, or leave it out of the inputs.", None


def _no_inputs(case: Case) -> Answer:
    why = "`inputs=` lists the leaves that should receive a gradient, but the list is empty: nothing would be computed."
    return why, "List the leaves, or omit `inputs=`: then all leaves receive a gradient.", None


def _integer_leaf(case: Case) -> Answer:
    """An integer leaf that should require a gradient.  Without a tensor, the call that creates it has failed."""
    why = (
        "A gradient says what happens when a number changes a little. Integers, and True and False, cannot change "
        "a little."
    )
    name = case.facts.names.get(case.tensor) if case.tensor is not None else None
    if name is None:
        return why, "Write one of its numbers with a decimal point, as in `1.`, or pass `dtype=torch.float32`.", None
    floats = f"call `{name} = {name}.float()` first, then `{name}.requires_grad_()`"
    return why, f"Write one of its numbers with a decimal point, or {floats}.", None


def _numpy_of_grad(case: Case) -> Answer:
    why = "The value would leave the graph through numpy, and gradients cannot follow it there."
    return why, f"Write `{case.first}.detach().numpy()` to say that no gradient should come back from there.", None


def _flag_of_inner(case: Case) -> Answer:
    name = case.first
    why = (
        f"{name} was computed from tensors that require a gradient, so it requires one too. Only the flag of a leaf "
        "can be switched off: the graph behind this tensor already exists."
    )
    return why, f"Use `{name}.detach()`: the same numbers, without the graph.", None


def _size_of_grad(case: Case) -> Answer:
    tensor = case.tensor
    fact = case.facts.tensors.get(tensor) if tensor is not None else None
    size = f" {list(fact.shape)}" if fact is not None else ""
    name = case.named(tensor)
    why = (
        f"`{name}.grad` has one element for each element of {name}, and gradients are added to it, so it must have the "
        f"same shape{size}."
    )
    return why, "Assign a tensor of this shape, or None: then the next backward call creates one.", None


def _retain_constant(case: Case) -> Answer:
    name = case.first
    why = f"{name} does not require a gradient, so none will ever reach it: there is nothing to retain."
    return why, f"Call `{name}.requires_grad_()` before it is used.", None


def _leaf_view_changed(case: Case) -> Answer:
    name = case.last
    why = (
        f"The written tensor is a view, a window onto the memory of {name}. {name} is a leaf that requires a gradient, "
        "and writing to the view writes to the leaf itself."
    )
    return why, f"Write inside `with torch.no_grad():`, or leave {name} alone and multiply by a mask.", None


def _several_views(case: Case) -> Answer:
    name = case.first
    base = case.last
    why = (
        f"{name} is one of several views that one op made of {base}. Autograd would have to apply the write "
        "to all of them, and does not support that."
    )
    return why, f"Write out of place, as in `{_out_of_place(case, name)}`, or write to {base} by index.", None


def _out_of_place(case: Case, name: str) -> str:
    """The refused write, as an assignment of a new tensor: `top = top * 10` for the program's `top *= 10`."""
    frame = case.facts.failing[case.event.index]
    code = source(case.facts.trace, frame) if frame is not None else ""
    try:
        (statement,) = ast.parse(code).body
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
        f"{name} is a view of {base} that was made under no_grad, so the graph has no edge between the two. This "
        f"write would be recorded, and autograd cannot tell whether it should affect the gradient of {base}."
    )
    return why, "Put the view and the write either both inside no_grad() or both outside.", None


def _inference_tensor(case: Case) -> Answer:
    why = (
        "A tensor made under inference_mode() has no version counter, so a node cannot save it: a later change would "
        "go unnoticed."
    )
    return why, "Compute it under no_grad() instead, or use a clone() of it.", None


def _nan_found(case: Case) -> Answer:
    """The node that anomaly mode names, and an earlier one that produced an inf."""
    node = case.op.node.name if case.op is not None and case.op.node is not None else "This node"
    earlier = next((finding for finding in nonfinite.findings(case.facts) if finding.kind == "inf-gradient"), None)
    why = f"{node} is the first node of the backward pass to *show* a nan."
    if earlier is None:
        return why, "Look at its inputs: 0 times inf, or 0 / 0.", None
    return f"{why} The cause is earlier. {earlier.why}", earlier.fix or "Keep its input away from that value.", None


def _jacobian_mismatch(case: Case) -> Answer:
    name = case.last
    why = (
        f"gradcheck moved each element of {name} a little and measured how the result changed (numerical). It compared "
        "that with the result of backward (analytical). The two differ, so the backward pass does not match this "
        "function."
    )
    return (
        why,
        "Look for a path that is cut, for instance by detach(), .data or item(), or for a mistake in your own "
        "backward.",
        None,
    )


def _gradient_count(case: Case) -> Answer:
    expected, returned = int(case.message.parts["expected"]), int(case.message.parts["returned"])
    why = (
        f"forward was called with {text.count(expected, 'input')}, but backward returned "
        f"{text.count(returned, 'gradient')}. It must return one per input."
    )
    return why, "Return one gradient per argument of forward, in order, and None for arguments that need none.", None


def _gradient_shape(case: Case) -> Answer:
    index, returned, expected = (case.message.parts[part] for part in ("index", "returned", "expected"))
    why = f"Input {index} of forward has shape {expected}, and backward returned a gradient of shape {returned}."
    return why, f"Return a gradient of shape {expected}, with zeros for the elements that took no part.", None


def _no_input(case: Case) -> Answer:
    asks = case.line or "input()"
    why = f"{asks} waits for a line of input, but the standard input has ended."
    fix = (
        "`backstep run` passes on text typed in its terminal or piped into it (`echo 2 | backstep run script.py`). "
        "Without a terminal, and when --watch records again, there is no keyboard. Write the value into the "
        "script, or pass it as an argument after the script's name and read `sys.argv`."
    )
    return why, fix, None


def _no_backward(case: Case) -> Answer:
    why = "This Function defines forward but not backward."
    return why, "Give it a static method backward(ctx, grad) that returns one gradient per input.", None


_STEPS = {"floor_divide": "It rounds: as its input grows, the result stays constant, then jumps. "}


def _no_derivative(case: Case) -> Answer:
    name = case.message.parts["op"]
    where = case.code_at(case.op.stack) if case.op is not None else name
    why = f"The gradient reaches {where}, but PyTorch has no derivative for {name}. {_STEPS.get(name, '')}"
    fix = "Use an op that has a derivative, or exclude this one from the backward pass with .detach()."
    if name == "floor_divide":
        fix = "Write `/` if you mean a fraction. If you mean rounding, round `.detach()`: no gradient flows through it."
    return why.strip(), fix, None


def _once_differentiable(case: Case) -> Answer:
    why = (
        "This backward is marked @once_differentiable: its ops are not recorded in a graph, so it cannot be "
        "differentiated again."
    )
    return why, "Remove the decorator, and write backward with tensor ops.", None


def _number_backward(case: Case) -> Answer:
    left = _left(case)
    name = case.named(left.tensor if left is not None else None)
    where = f" ({case.code_at(left.stack)})" if left is not None else ""
    why = f"item() took the number of {name} out of the graph{where}. A Python float has no history."
    return why, "Add up the tensors themselves, without item(); use item() for printing.", None


def _left(case: Case) -> Escaped | None:
    before = case.facts.trace.events[: case.event.index]
    return next((e for e in reversed(before) if isinstance(e, Escaped) and e.kind == "item"), None)


def _other(case: Case) -> Answer:
    note = case.event.note.strip().removeprefix("Backstep: ")
    why = note[:1].upper() + note[1:] or f"The program stopped{_at(case)}{case.recorded}."
    fix = "Change the program at this line; the traceback shows how it got there."
    return why, fix + case.to_record, None


def _at(case: Case) -> str:
    return f" at {case.line}" if case.line else ""


def _syntax(case: Case) -> Answer:
    why = f"The file is not valid Python{_at(case)}, so none of it ran."
    return why, "Fix this line, or the one above it.", None


def _no_file(case: Case) -> Answer:
    why = f"The program stopped{_at(case)}: the file that it opens does not exist."
    fix = "As in Python, a relative path starts in the folder where Backstep was started."
    return why, f"{fix} Start Backstep in the folder of the file, or write the whole path.", None


def _interrupted(case: Case) -> Answer:
    why = f"The program was interrupted (Ctrl-C){_at(case)}{case.recorded}."
    return why, "There is nothing to fix. Run it again, and let it run longer to record more.", None


def _no_module(case: Case) -> Answer:
    name = case.message.parts["name"]
    why = f"The program stopped{_at(case)}: the Python that runs Backstep has no module {name}."
    return why, f"Install {name} where Backstep is installed, or remove the import.", None


def _none_used(case: Case) -> Answer:
    """Often `.grad`, of a tensor that has none."""
    facts = case.facts
    before = facts.trace.events[: case.event.index]
    reached = {event.tensor for event in before if isinstance(event, Accumulated)}
    tensor = next((one for one in case.tensors if one not in reached), case.tensor)
    fact = facts.tensors.get(tensor) if tensor is not None else None
    name = facts.names.get(tensor, "") if tensor is not None else ""
    warned = any(isinstance(e, WarningGiven) and warning_kind(e) == "grad-of-inner" for e in before[-3:])
    if (fact is not None and fact.leaf is None) or warned:
        why = (
            f"`{name}.grad` is None here: {name or 'the tensor'} was computed, so it is not a leaf, and "
            "backward() fills in `.grad` of leaves only."
        )
        maker = facts.made_by(tensor, case.event.index) if tensor is not None else None
        by = case.code_at(facts.ops[maker].event.stack) if maker is not None else ""
        if name and f"{name}.grad" in by:
            why = f"{by} has computed a new {name}. {why[0].upper()}{why[1:]}"
            return why, f"Update {name} in place: `with torch.no_grad(): {name} -= …`. Then it stays a leaf.", None
        fix = (
            "To look at its gradient, call `.retain_grad()` on it before backward(). To train it, make it a leaf: "
            "compute its first values before requires_grad is set, and update it in place under no_grad(), as in "
            f"`{name or 'w'} -= …`."
        )
        return why, fix, None
    if fact is None:
        return _other(case)
    if not fact.requires_grad:
        why = f"`{name}.grad` is None: {name} does not require a gradient."
        return why, f"Create {name} with requires_grad=True.", None
    if tensor in reached:
        why = f"`{name}.grad` was set to None before this line, as zero_grad() does."
        return why, "Read the gradient after a backward call and before it is cleared.", None
    why = f"`{name}.grad` is None until a backward call brings {name} its first gradient."
    fix = (
        f"Call backward() of something computed from {name} first. To clear gradients, set `{name}.grad = "
        "None` or call zero_grad() of the optimiser: both also work if there is no gradient."
    )
    return why, fix, None


_ANSWERS: Mapping[ErrorKind, Callable[[Case], Answer]] = {
    "second-backward": second_backward,
    "not-scalar": _not_scalar,
    "seed-shape": _seed_shape,
    "seed-count": _seed_count,
    "no-history": _no_history,
    "constant-input": _constant_input,
    "unused-input": _unused_input,
    "no-inputs": _no_inputs,
    "saved-changed": saved_changed,
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
    **arguments.ANSWERS,
}
"""The function that explains an error, by its kind."""


def _root(case: Case) -> tuple[tuple[int, ...], str]:
    """Shape and name of the root that the error is about."""
    fact = case.facts.tensors.get(case.tensor) if case.tensor is not None else None
    name = case.facts.names.get(case.tensor) if case.tensor is not None else None
    return fact.shape if fact is not None else (), name or "the result"
