"""Calls that were refused, explained: what was asked for, why it cannot be, the smallest fix.  Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from engine.trace.events import Escaped, VjpRun

from ..reading import text
from ..reading.labels import COUNTED
from ..reading.source_text import source
from . import nonfinite
from .case import Answer, Case


def about(case: Case) -> tuple[int, ...]:
    """The tensors that an error is about which does not name any itself."""
    message = case.event.message
    counted = COUNTED.match(message)
    if counted is not None and case.call is not None:
        return tuple(root.tensor for root in case.call.event.roots[int(counted[2]) :])
    return ()


def counted(case: Case) -> Answer:
    found = COUNTED.match(case.event.message)
    assert found is not None
    roots = [root.tensor for root in case.call.event.roots] if case.call is not None else []
    names = text.join([case.named(root) for root in roots]) or "the roots"
    given = text.count(int(found[2]), "gradient")
    why = f"The call starts from {names}: {found[1]} tensors, and {given} came with them. Each root needs its own."
    return why, "Pass one gradient for each, in a list; None stands for the 1 of a single number.", None


def constant_input(case: Case) -> Answer:
    name = case.first
    why = (
        f"{name} did not require a gradient when it was used, so on the way forward nothing was noted that leads to it."
    )
    return why, f"Make {name} with requires_grad=True (or call {name}.requires_grad_()) before it is used.", None


def unused(case: Case) -> Answer:
    name = case.named(case.event.tensors[0]) if case.event.tensors else "one of the inputs"
    why = f"autograd.grad was asked for {name}, but no path leads from the root to {name}, so it has no gradient."
    return why, "Pass allow_unused=True to get None for it, or leave it out of the inputs.", None


def no_inputs(case: Case) -> Answer:
    why = "`inputs=` names the leaves that are to receive a gradient, and the list is empty: nothing would be computed."
    return why, "Name the leaves, or leave `inputs=` out: then all of them receive one.", None


def integers(case: Case) -> Answer:
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


def numpy(case: Case) -> Answer:
    why = "The value would leave the graph with numpy, and gradients cannot follow it there."
    return why, f"Write `{case.first}.detach().numpy()`: so you say that no gradient is to come back from there.", None


def flag_of_inner(case: Case) -> Answer:
    name = case.first
    why = (
        f"{name} was computed from tensors that require a gradient. That it requires one too is a consequence, "
        "not a switch: the way back is there already."
    )
    return why, f"Take `{name}.detach()`: the same numbers, without the way back.", None


def size_of_grad(case: Case) -> Answer:
    tensor = case.event.tensors[0] if case.event.tensors else None
    fact = case.facts.tensors.get(tensor) if tensor is not None else None
    size = f" {list(fact.shape)}" if fact is not None else ""
    name = case.named(tensor)
    why = f"`{name}.grad` belongs to {name} element by element, and gradients are added to it: it has its shape{size}."
    return why, "Assign a tensor of this shape, or None: then the next backward call makes one.", None


def retain_without(case: Case) -> Answer:
    name = case.first
    why = f"{name} requires no gradient, so none will ever reach it: there is nothing to keep."
    return why, f"Make {name} require one: `{name}.requires_grad_()` before it is used.", None


def view_of_leaf(case: Case) -> Answer:
    name = case.last
    why = (
        f"What is written is a view, a window onto the memory of {name}. {name} is a leaf that requires a gradient: "
        "to write through the window is to write the leaf itself."
    )
    return why, f"Write inside `with torch.no_grad():`, or leave {name} alone and multiply by a mask.", None


def several_views(case: Case) -> Answer:
    name = case.first
    base = case.last
    why = (
        f"{name} is one of several views that one op made of {base}. The graph would "
        "have to pass a write to it on to all of them, and that is not supported."
    )
    return why, f"Write out of place, as in `{out_of_place(case, name)}`, or write {base} by index.", None


def out_of_place(case: Case, name: str) -> str:
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


def unrecorded_view(case: Case) -> Answer:
    name = case.first
    base = case.last
    why = (
        f"{name} is a view of {base} that was made under no_grad, so that nothing is recorded between the two. The "
        f"write is to be recorded. Whether it counts for the gradient of {base} cannot be known."
    )
    return why, "Put the view and the write both inside of no_grad(), or both outside.", None


def inference(case: Case) -> Answer:
    why = (
        "A tensor made under inference_mode() keeps no version, so a node cannot save it: a change would go unnoticed."
    )
    return why, "Compute it under no_grad() instead, or use a clone() of it.", None


def anomaly(case: Case) -> Answer:
    """The node that anomaly mode names, and the one before it where an infinity was born."""
    node = case.op.node.name if case.op is not None and case.op.node is not None else "This node"
    events = case.facts.trace.events
    born = [found for found in nonfinite.findings(case.facts) if isinstance(events[found.event], VjpRun)]
    earlier = next((found for found in born if found.kind == "inf"), None)
    why = f"{node} is the first to *show* a nan on the way back."
    if earlier is None:
        return why, "Look at what it was given: 0 times inf, or 0 / 0.", None
    return f"{why} The trouble begins before it. {earlier.why}", earlier.fix or "Keep its input away from there.", None


def jacobians(case: Case) -> Answer:
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


def number_of_gradients(case: Case) -> Answer:
    found = re.search(r"expected (\d+), got (\d+)", case.event.message)
    wanted, given = (int(found[1]), int(found[2])) if found else (0, 0)
    why = (
        f"forward was called with {text.count(wanted, 'input')}, and backward returned "
        f"{text.count(given, 'gradient')}: it owes one to each input."
    )
    return why, "Return one gradient per argument of forward, in their order, and None for what needs none.", None


def shape_of_gradient(case: Case) -> Answer:
    found = re.search(
        r"at index (\d+) - got (\[.*?\]) but expected shape compatible with (\[.*?\])", case.event.message
    )
    if found is None:
        return "backward returned a gradient of another shape than its input.", "Return one of the input's shape.", None
    why = f"Input {found[1]} of forward has shape {found[3]}, and backward returned a gradient of shape {found[2]}."
    return why, f"Return a gradient of shape {found[3]}: what did not take part receives zeros.", None


def no_input(case: Case) -> Answer:
    asks = case.line or "input()"
    why = f"{asks} waits for a line that is typed, and none can come: the standard input is at its end."
    fix = (
        "`backstep run` hands on what is typed in its terminal, or piped into it (`echo 2 | backstep run script.py`); "
        "without a terminal, and where --watch records again, there is no keyboard. Write the value into the "
        "script, or give it as an argument, behind the script's name, and read `sys.argv`."
    )
    return why, fix, None


def no_backward(case: Case) -> Answer:
    why = "This Function says how to go forward, and not how to go back."
    return why, "Give it a static method backward(ctx, grad) that returns one gradient per input.", None


_STEPS = {"floor_divide": "It rounds: as its input grows it stands still, then jumps. "}


def no_derivative(case: Case) -> Answer:
    name = case.event.message.partition("aten::")[2].partition(" ")[0]
    where = case.written(case.op.stack) if case.op is not None else name
    why = f"The way back comes to {where}, and PyTorch has no derivative for {name}. {_STEPS.get(name, '')}"
    fix = "Write it with an op that has one, or leave it out of the way back with .detach()."
    if name == "floor_divide":
        fix = "Write `/` where a fraction is meant; where rounding is, round `.detach()`: no gradient comes that way."
    return why.strip(), fix, None


def once(case: Case) -> Answer:
    why = (
        "This backward was marked @once_differentiable: what it computes is not noted, so it has no derivative itself."
    )
    return why, "Leave the mark out, and write backward in tensor ops.", None


def float_has_no_past(case: Case) -> Answer:
    left = _left(case)
    name = case.named(left.tensor if left is not None else None)
    where = f" ({case.written(left.stack)})" if left is not None else ""
    why = f"item() took the number of {name} out of the graph{where}. A Python float does not know how it was computed."
    return why, "Add up the tensors themselves and leave item() out; use it for printing.", None


def _left(case: Case) -> Escaped | None:
    before = case.facts.trace.events[: case.event.index]
    return next((e for e in reversed(before) if isinstance(e, Escaped) and e.kind == "item"), None)


KNOWN: Sequence[tuple[str, Callable[[Case], Answer]]] = (
    (" tensors and ", counted),
    ("EOF when reading a line", no_input),
    ("One of the differentiated Tensors does not require grad", constant_input),
    ("appears to not have been used in the graph", unused),
    ("`inputs` argument to `backward()` cannot be empty", no_inputs),
    ("can require gradients", integers),
    ("Can't call numpy() on Tensor that requires grad", numpy),
    ("you can only change requires_grad flags of leaf variables", flag_of_inner),
    ("attempting to assign a gradient of size", size_of_grad),
    ("can't retain_grad on Tensor", retain_without),
    ("function that returns multiple views", several_views),
    ("Given that this use case is ambiguous and error-prone", unrecorded_view),
    ("Inference tensors cannot be saved for backward", inference),
    ("returned nan values in its", anomaly),
    ("Jacobian mismatch for output", jacobians),
    ("returned an incorrect number of gradients", number_of_gradients),
    ("returned an invalid gradient at index", shape_of_gradient),
    ("must implement either the backward", no_backward),
    ("marked with @once_differentiable", once),
    ("derivative for aten::", no_derivative),
)
"""By what the message contains."""
