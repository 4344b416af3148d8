"""Errors about the arguments of an op, a layer or a loss: shapes, dtypes, devices, indices.  Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from engine.arrays.element_types import is_float
from engine.trace.events import GroupEntered, GroupLeft, OpCalled, WarningGiven
from engine.trace.messages import ErrorKind, warning_kind

from ...reading import labels, text
from ...reading.error_tensors import base, matrices
from ...reading.facts import TensorFact
from .case import Answer, Case

MOST_NAMED = 4
"""The most tensors whose shapes are listed."""


def _matrix_shapes(case: Case) -> Answer:
    """Two matrices, one of them often the weight of a layer."""
    (rows, columns), (others, results) = (case.message.parts[part].split("x") for part in ("first", "second"))
    first, second = matrices(case.facts, case.tensors, case.message)
    operand = _operand(case, first, "the first matrix")
    why = (
        f"{_upper(operand)} has shape [{rows}, {columns}], and "
        f"{_operand(case, second, 'the second one')} has [{others}, {results}]. "
        f"The first must have as many columns ({columns}) as the second has rows ({others})."
    )
    weight = _weight(case, second)
    if not weight:
        return why, "Transpose or reshape one of the two.", None
    fix = f"Give {weight} {columns} input features, as in nn.Linear({columns}, {results}), or give its input"
    return why, f"{fix} {others} in the last dimension.", None


def _weight(case: Case, tensor: int | None) -> str:
    """The name of the layer whose weight a tensor is a view of; "" if it is none."""
    weight = base(case.facts, tensor) if tensor is not None else None
    name = case.facts.names.get(weight) if weight is not None else None
    return name.removesuffix(".weight") if name is not None and name.endswith(".weight") else ""


def _operand(case: Case, tensor: int | None, unknown: str) -> str:
    """The name of an operand: its own, that of its base, or the expression that computed it."""
    if tensor is None:
        return unknown
    weight = _weight(case, tensor)
    if weight:
        return f"the transposed {weight}.weight"
    maker = case.facts.made_by(tensor, case.event.index)
    op = case.facts.ops[maker].event if maker is not None else None
    if op is None:
        return case.facts.names.get(tensor) or unknown
    frame, failing = case.facts.frames.get(op.stack), case.facts.failing[case.event.index]
    result = f"the result of {labels.written_name(op)}"
    expression = result if _goes_on(case, op) else case.code_at(op.stack)
    if frame is not None and failing is not None and frame.line == failing.line:  # it failed, so it has bound no name
        return expression if frame.col > failing.col else result
    return case.facts.names.get(tensor) or expression or unknown


def _goes_on(case: Case, op: OpCalled) -> bool:
    """Return whether the expression at an op's stack, such as `net(x)`, computes more after the op."""
    later = case.facts.trace.events[op.index + 1 : case.event.index]
    return any(isinstance(event, (OpCalled, GroupEntered)) and event.stack == op.stack for event in later)


def _at_line(case: Case) -> str:
    return f", in {case.line}" if case.line else ""


def _sizes(case: Case) -> Answer:
    first, second, dim = (case.message.parts[part] for part in ("first", "second", "dim"))
    why = (
        f"The two do not broadcast{_at_line(case)}.{_shapes(case)} Counted from the right, two sizes must be equal, or "
        f"one of them 1; in dimension {dim} they are {first} and {second}."
    )
    if _is_about_target(case):
        return (
            why,
            "Give both the same shape: often the last layer has a wrong number of outputs.",
            None,
        )
    return why, "Change the shapes so that they fit, for instance with unsqueeze(), transpose() or reshape().", None


def _is_about_target(case: Case) -> bool:
    """Whether a loss has just warned that its input and its target have different shapes."""
    before = case.facts.trace.events[: case.event.index]
    last = next((event for event in reversed(before) if not isinstance(event, (GroupEntered, GroupLeft))), None)
    return isinstance(last, WarningGiven) and warning_kind(last) == "target-shape"


def _dtypes(case: Case) -> Answer:
    if case.message.parts.get("wanted") == "Long":
        target = case.facts.tensors.get(case.tensors[-1]) if case.tensors else None
        kind = target.dtype if target is not None else "another dtype"
        why = f"A target that names classes must have integers{_at_line(case)}; here it is {kind}."
        return why, "Convert the target with `.long()`. For probabilities, give one for each class.", None
    dtypes = _properties(case, lambda fact: fact.dtype)
    kinds = f": {dtypes}" if dtypes else ""
    why = f"The tensors have dtypes that do not go together{_at_line(case)}{kinds}."
    wide = next((t for t in case.tensors if t in case.facts.tensors and case.facts.tensors[t].dtype == "float64"), None)
    if wide is not None:
        name = case.facts.names.get(wide) or "x"
        return (
            why,
            f"Convert the float64 tensor, as in `{name} = {name}.float()`: numpy arrays are float64 by default.",
            None,
        )
    return why, "Convert one of them, as in `x = x.to(weight.dtype)`.", None


def _devices(case: Case) -> Answer:
    places = _properties(case, lambda fact: f"on {fact.leaf.device}" if fact.leaf is not None else "")
    where = f": {places}" if places else ""
    why = f"The tensors are on different devices{_at_line(case)}{where}."
    return why, "Move the model and its data to one device: `model.to(device)`, `x = x.to(device)`.", None


def _properties(case: Case, say: Callable[[TensorFact], str]) -> str:
    """The tensors that the error is about, each once: its name and a property of it; "" if none has both."""
    properties: dict[str, str] = {}
    for tensor in case.tensors[:MOST_NAMED]:
        fact = case.facts.tensors.get(tensor)
        name = _operand(case, tensor, "")
        if fact is not None and name and say(fact):
            properties.setdefault(name, say(fact))
    return text.join([f"{name} {what}" for name, what in properties.items()])


# -- what a loss was given --------------------------------------------------------------------------------------------


def _target_size(case: Case) -> Answer:
    scores, target = _shape(case, "input"), _shape(case, "target")
    name = _sized(case, target, "the target")
    why = (
        "This loss compares each number with its target, so both must have the same shape. "
        f"{_upper(_sized(case, scores, 'the input'))} has shape {list(scores)}, and {name} has {list(target)}."
    )
    longer, shorter = (scores, target) if len(scores) > len(target) else (target, scores)
    dim = next((d for d, size in enumerate(longer) if size == 1 and longer[:d] + longer[d + 1 :] == shorter), None)
    if dim is None:
        return why, "Give both the same shape: often the last layer has a wrong number of outputs.", None
    target_call, other_call = ("unsqueeze", "squeeze") if longer is scores else ("squeeze", "unsqueeze")
    call = f"`{name}.{target_call}({dim})`" if name.isidentifier() else f"`{target_call}({dim})` of the target"
    return why, f"Use {call}, or call `{other_call}({dim})` on the input of the loss.", None


def _batch_sizes(case: Case) -> Answer:
    rows, targets = int(case.message.parts["input"]), int(case.message.parts["target"])
    why = f"There must be one row of scores for each target: here there are {rows} rows and {targets} targets."
    if targets and rows % targets == 0:
        times = text.count(rows // targets, "row")
        why += (
            f" Earlier, each example was split into {times}, for instance by a view() or reshape() to too few columns."
        )
    return why, "Keep the first dimension for the examples: `x.flatten(1)` makes one row of each.", None


def _class_range(case: Case) -> Answer:
    index, classes = int(case.message.parts["index"]), _classes(case)
    ignored = f"To leave such targets out, pass `ignore_index={index}`."
    if classes is None:
        why = f"A target is the number of a class, counted from 0, and there is no class {index}."
        return why, ignored if index < 0 else "Give the last layer an output for each class.", None
    why = f"There are scores for {classes} classes, so a target is a number from 0 to {classes - 1}; one is {index}."
    if (position := _position_of_sample(case, classes)) is not None:
        return f"{why} {position}", "Write dim=1: the classes are along the last dimension.", None
    if index < 0:
        return why, ignored, None
    fix = f"Give the last layer an output for each class (at least {index + 1}), and number the classes from 0."
    return why, f"{fix} Labels that begin at 1 need `- 1`." if index == classes else fix, None


def _position_of_sample(case: Case, classes: int) -> str | None:
    """That the targets come from an argmax over the samples, not over the classes; None if they do not."""
    newest = next((op.index for op in reversed(case.facts.ops) if op.event.outputs[0].dtype == "int64"), None)
    todo, seen = [newest] if newest is not None else [], set[int]()
    while todo:
        event = case.facts.ops[index := todo.pop()].event
        before = case.facts.tensors.get(event.inputs[0].tensor or -1) if event.inputs else None
        shape = before.shape if before is not None else ()
        if event.name == "argmax" and len(shape) == 2 and shape[1] == classes and event.attrs.get("dim") in (0, -2):
            by = case.code_at(event.stack) or "argmax over dimension 0"
            return f"{by} gives the number of a sample for each class, not the number of a class for each sample."
        if event.outputs[0].dtype == "int64" and index not in seen:
            seen.add(index)
            inputs = (one.tensor for one in event.inputs if one.tensor in case.facts.tensors)
            makers = (case.facts.made_by(tensor, event.index) for tensor in inputs if tensor is not None)
            todo += [op for op in makers if op is not None]
    return None


def _classes(case: Case) -> int | None:
    """The number of classes that the scores of a cross entropy are for; None if it is not known."""
    shape = next((op.outputs[0].shape for op in _ops_here(case) if "log_softmax" in op.name), None)
    return None if shape is None else shape[1] if len(shape) > 1 else shape[0]


def _ops_here(case: Case) -> Iterator[OpCalled]:
    """The ops that the line of the error had computed, the newest first."""
    failing = case.facts.failing[case.event.index]
    for op in reversed(case.facts.ops):
        frame = case.facts.frames.get(op.event.stack)
        if frame is None or failing is None or (frame.file, frame.line) != (failing.file, failing.line):
            return
        yield op.event


def _class_dimension(case: Case) -> Answer:
    shape, target = _shape(case, "wanted"), _shape(case, "given")
    why = (
        "The classes belong in dimension 1 of the scores, right after the batch; the target has the shape of the "
        f"scores without it. That would be {list(shape)}, and the target has {list(target)}."
    )
    fix = (
        "If the classes are in the last dimension, move them, as in `scores.transpose(1, 2)`, or make one row of each "
        "position: `scores.flatten(0, 1)` with `target.flatten()`."
    )
    return why, fix, None


def _class_columns(case: Case) -> Answer:
    facts = case.facts.tensors
    wide = (one for one in _candidates(case) if len(facts[one].shape) > 1 and facts[one].dtype == "int64")
    target = next(wide, None)
    shape = f" shape {list(facts[target].shape)}" if target is not None else " more dimensions"
    why = (
        "A target that names classes has one number per row of scores, in one dimension; "
        f"{_operand(case, target, 'the target')} has{shape}."
    )
    if target is not None and facts[target].shape[-1] == 1:
        return why, "Call `squeeze(1)` on the target, which removes the dimension of size 1.", None
    return why, "For a one-hot encoding, pass the number of each class: `target.argmax(1)`.", None


def _soft_target(case: Case) -> Answer:
    """Integers in the shape of the scores: most often a one-hot encoding."""
    ops = (op.event for op in reversed(case.facts.ops) if op.event.name in ("one_hot", "scatter.value"))
    encoding = next((op for op in ops if op.outputs[0].dtype == "int64"), None)
    name = case.code_at(encoding.stack) if encoding is not None else ""
    why = (
        "A target in the shape of the scores stands for the probabilities of the classes, which are floats; these are "
        f"integers{f', from {name}' if name else ''}."
    )
    instead = "without the one-hot encoding, or by" if name else "as in"
    fix = (
        f"Pass the number of the class of each sample, {instead} `target.argmax(1)`. For probabilities, call "
        "`.float()` on the target."
    )
    return why, fix, None


def _probability_range(case: Case) -> Answer:
    which = case.message.parts["which"]
    name, least, most, wrong = _span(case)
    span = f"{name} goes from {least} to {most}" if name else f"a number of its {which} is outside this range"
    why = "binary_cross_entropy takes probabilities, numbers from 0 to 1; "
    if wrong:
        fix = "Look for the op that gives the first nan or inf: often the weights are nan after too large a step."
        return f"{why}of {name}, {wrong:,} are nan or inf.", fix, None
    fix = "Use binary_cross_entropy_with_logits (nn.BCEWithLogitsLoss), which takes scores and applies sigmoid itself."
    if which == "target":
        fix = "Divide the target so that it fits; for numbers of classes, use cross_entropy."
    return f"{why}{span}.", fix, None


def _span(case: Case) -> tuple[str, str, str, int]:
    """The name of the tensor of floats whose numbers are not all between 0 and 1, its least and its largest number, and
    how many are not finite; a name of "" if the line has no such tensor."""
    results = (out.tensor for op in _ops_here(case) for out in op.outputs)
    for tensor in (*results, *(one for one in case.tensors if one in case.facts.tensors)):
        fact = case.facts.tensors[tensor]
        content = case.facts.trace.value(fact.values[fact.last]) if fact.values else None
        if content is None or not is_float(fact.dtype):
            continue
        least, most = float(content.stats["min"]), float(content.stats["max"])
        wrong = sum(int(content.stats[part]) for part in ("nan", "inf"))
        if wrong or least < 0 or most > 1:
            return _operand(case, tensor, "its input"), text.number(least), text.number(most), wrong
    return "", "", "", 0


# -- what a layer was given -------------------------------------------------------------------------------------------


def _channels(case: Case) -> Answer:
    size, channels = int(case.message.parts["wanted"]), int(case.message.parts["found"])
    shape, layer = _shape(case, "input"), _layer(case)
    why = (
        f"{layer or 'The convolution'} takes {text.count(size, 'channel')}, and {_sized(case, shape, 'its input')} "
        f"has {channels}: its shape is {list(shape)}, with the channels in dimension 1."
    )
    if len(shape) == 4 and shape[-1] == size:
        return why, "The channels come last here: write `x.permute(0, 3, 1, 2)`.", None
    fix = f"Create {layer or 'it'} with in_channels={channels}, or give it an input of {text.count(size, 'channel')}."
    if (channels, size) == (1, 3):
        fix += " `x.expand(-1, 3, -1, -1)` gives a grey image three equal channels."
    return why, fix, None


def _features(case: Case) -> Answer:
    sizes, shape = _shape(case, "wanted"), _shape(case, "found")
    name = _sized(case, shape, "its input") if len(shape) > 1 else "its input"
    if len(sizes) > 1:
        why = (
            f"{_layer(case) or 'The layer'} was created for inputs that end in the shape {list(sizes)}; "
            f"{name} has shape {list(shape)}."
        )
        return why, "Create it for the shape of its input, or change the input to the shape of the layer.", None
    why = (
        f"{_layer(case) or 'The layer'} was created for {text.count(sizes[0], 'feature')} in the last dimension; "
        f"{name} has {shape[-1]} there."
    )
    return why, f"Create it for {shape[-1]}, or give its input {sizes[0]}.", None


def _one_per_channel(case: Case) -> Answer:
    shape = list(_shape(case, "input"))
    why = (
        "In training, batch normalisation computes mean and variance over the batch, and a single number has no "
        f"variance: {_layer(case) or 'this layer'} receives shape {shape}, one number per channel."
    )
    fix = (
        "Leave out a last batch of one example, with `DataLoader(…, drop_last=True)`; for a single example, call "
        "`eval()` first."
    )
    return why, fix, None


def _index_range(case: Case) -> Answer:
    """A row is asked for that is not there: most often of an embedding."""
    table, layer = _table(case)
    if table is None:
        why = "An index is counted from 0, and must be smaller than the size of its dimension; one index here is not."
        return why, "Look at the largest index, and at where it comes from.", None
    rows = table.shape[0]
    why = f"{layer or case.named(table.tensor)} has {rows} rows, for the indices 0 to {rows - 1}; "
    least, most = _indices(case)
    if least < 0:
        return f"{why}one index is {least}.", "Find out where the negative index comes from.", None
    if most < rows:
        return (
            f"{why}one index is not among these.",
            "Create it with more rows, or find out where the index comes from.",
            None,
        )
    fix = f"Create it with {most + 1} rows or more, or find out where the index comes from."
    return f"{why}the largest index is {most}.", fix, None


def _table(case: Case) -> tuple[TensorFact | None, str]:
    """The table of an embedding that is asked for a row, and the name of its layer.  index_select() and others have
    the same message: for them, and where the table is not known, there is none."""
    layer, facts = _layer(case), case.facts
    if layer:
        return next((fact for t, fact in facts.tensors.items() if facts.names.get(t) == f"{layer}.weight"), None), layer
    if "embedding" not in case.line:
        return None, ""
    arguments = (facts.tensors[t] for t in case.tensors if t in facts.tensors)
    return next((fact for fact in arguments if is_float(fact.dtype) and len(fact.shape) == 2), None), ""


def _indices(case: Case) -> tuple[int, int]:
    """The least and the largest of the indices: of the integers that the line names, or else of the newest ones;
    (0, -1) if there are none."""
    facts = case.facts
    tensors = [*case.tensors, *reversed(facts.tensors)]
    whole = (facts.tensors[t] for t in tensors if t in facts.tensors and facts.tensors[t].dtype in ("int64", "int32"))
    fact = next((one for one in whole if one.values), None)
    if fact is None:
        return 0, -1
    stats = facts.trace.value(fact.values[fact.last]).stats
    return int(stats["min"]), int(stats["max"])


def _layer(case: Case) -> str:
    """The name of the layer in which the error arose; "" if it arose in none."""
    path: list[GroupEntered] = []
    last: list[GroupEntered] = []
    for event in case.facts.trace.events[: case.event.index]:
        if isinstance(event, GroupEntered):
            path.append(event)
            last = [*path]
        elif isinstance(event, GroupLeft) and path:
            path.pop()
    frame, failing = case.facts.frames.get(last[-1].stack) if last else None, case.facts.failing[case.event.index]
    if frame is None or failing is None or (frame.file, frame.line) != (failing.file, failing.line):
        return ""
    return last[0].name if len(last) == 1 else f"{last[0].name}.{last[-1].name}"


# -- shapes and indices -----------------------------------------------------------------------------------------------


def _view_size(case: Case) -> Answer:
    size, target = int(case.message.parts["size"]), _shape(case, "shape")
    tensor = next((t for t in _candidates(case) if prod(case.facts.tensors[t].shape) == size), None)
    shape = case.facts.tensors[tensor].shape if tensor is not None else ()
    product = prod(n for n in target if n >= 0)
    name, count = _upper(_operand(case, tensor, "the tensor")), f"{size:,} elements"
    named = f"{name}, of shape {list(shape)}, has {count}" if shape else f"{name} has {count}"
    fill = f"and a tensor of shape {list(target)} has {product:,}"
    if -1 in target:
        fill = f"which cannot be divided into parts of {product:,}"
    why = f"The number of elements must stay the same. {named}, {fill}."
    if len(shape) < 2 or not shape[0]:
        return why, f"Choose sizes whose product is {size}; one of them may be -1.", None
    return why, f"To make one row of each example, write `flatten(1)`: it has {size // shape[0]:,} columns here.", None


def _view_strides(_: Case) -> Answer:
    why = (
        "view() only reads the same memory in another shape. After transpose(), permute() or a slice with steps, "
        "neighbours in the shape are no longer neighbours in memory."
    )
    return why, "Use `reshape()`, which copies where it must, or call `contiguous()` before view().", None


def _index_bounds(case: Case) -> Answer:
    index, size = (int(case.message.parts[part]) for part in ("index", "size"))
    dim = case.message.parts.get("dim") or "1"  # index_select() does not say it, and has this message for 1 only
    why = f"Dimension {dim} has size {size}, so an index there is a number from 0 to {size - 1}; {index} is not."
    return why, "Indices begin at 0. Look at the shape of the tensor, or at where the index comes from.", None


def _list_sizes(case: Case) -> Answer:
    dim = case.message.parts.get("dim")
    if dim is None:
        why = f"stack() puts tensors side by side in a new dimension, so all must have one shape.{_shapes(case)}"
        return why, "Give them one shape (pad_sequence pads sequences), or join them with `torch.cat`.", None
    first, other, number = (case.message.parts[part] for part in ("first", "other", "number"))
    why = (
        f"cat() joins tensors along dimension {dim}; in every other dimension they must have equal sizes. The first "
        f"has {first} there, and number {number} (counted from 0) has {other}.{_shapes(case)}"
    )
    return why, "Join them along the dimension in which they differ, or give that dimension one size.", None


def _batched_matrices(case: Case) -> Answer:
    sizes, second = _shape(case, "wanted"), _shape(case, "given")
    why = (
        f"Batches of matrices are multiplied pair by pair. The second batch must have {sizes[0]} matrices of "
        f"{sizes[1]} rows, as many as the first has columns; it has {second[0]} of {second[1]}.{_shapes(case)}"
    )
    return why, "Transpose one of the two, as in `b.transpose(1, 2)`, if that is what you mean.", None


def _subscript_sizes(case: Case) -> Answer:
    letter, size, operand, before = (case.message.parts[part] for part in ("letter", "size", "operand", "before"))
    why = (
        f"A letter stands for one size: {letter} is {before} in an earlier operand, and {size} in operand {operand} "
        f"(counted from 0).{_shapes(case)}"
    )
    return why, "Write the letters in the order of each operand's dimensions, or transpose the operand.", None


def _number_of_many(case: Case) -> Answer:
    tensor_facts = [case.facts.tensors[t] for t in case.tensors if t in case.facts.tensors]
    size = case.message.parts.get("size")
    several = [fact for fact in tensor_facts if (prod(fact.shape) == int(size) if size else prod(fact.shape) != 1)]
    why, name = "item(), float() and int() give one number; this tensor has several.", "x"
    if len(several) == 1:
        name = case.named(several[0].tensor)
        why = f"item(), float() and int() give one number; {name} has shape {list(several[0].shape)}."
    return why, f"Reduce it first, as in `{name}.mean()`, or use `tolist()`.", None


def _truth_of_many(_: Case) -> Answer:
    why = "A condition needs one True or False; a comparison of tensors has one for each element."
    return why, "Say which is meant, `.all()` or `.any()`; to choose element by element, use `torch.where`.", None


_TYPES = {"Long": "int64", "Int": "int32", "Short": "int16", "Byte": "uint8", "Char": "int8", "Bool": "bool",
          "Half": "float16", "BFloat16": "bfloat16", "Double": "float64", "Float": "float32"}  # fmt: skip
"""torch's dtypes by the names that messages of its kernels have."""


def _no_kernel(case: Case) -> Answer:
    dtype = _TYPES.get(case.message.parts["dtype"], case.message.parts["dtype"])
    dtypes = _properties(case, lambda fact: fact.dtype)
    kinds = f" The line has {dtypes}." if dtypes else ""
    why = f"PyTorch has no version of this op for tensors of {dtype}{_at_line(case)}.{kinds}"
    if is_float(dtype):
        return why, "Convert the tensor with `.float()`: on a CPU, many ops have no version for other floats.", None
    fix = "Convert the tensor with `.float()`. If this is a loss: the scores come first, and the target second."
    return why, fix, None


def _mean_of_integers(case: Case) -> Answer:
    named = case.facts.names.get(case.tensor) if case.tensor is not None else None
    why = "The mean of integers, or of True and False, is seldom one of them, so PyTorch asks for a dtype."
    return why, f"Convert first: `{named or 'x'}.float().mean()`.", None


# -- what an optimiser or a module was given --------------------------------------------------------------------------


def _nothing_to_clip(case: Case) -> Answer:
    call = case.facts.quoted(case.facts.failing.get(case.event.index)) or "This call"
    why = (
        f"{call} clips gradients, but none of these parameters has one: no backward() has run yet, or zero_grad() has "
        "cleared them."
    )
    return why, "Move it between backward() and step().", None


def _no_parameters(_: Case) -> Answer:
    why = (
        "The list of parameters is empty. A module lists an attribute only if it is an nn.Parameter or a module: it "
        "does not look into a plain list or dict. And a generator, such as parameters(), is used up after one pass."
    )
    return why, "Keep layers in nn.ModuleList or nn.ModuleDict, and make them before the optimiser.", None


def _before_init(_: Case) -> Answer:
    why = "A module must be set up before it can hold layers or parameters."
    return why, "Call `super().__init__()` in the first line of `__init__`.", None


# -- in words ---------------------------------------------------------------------------------------------------------


def _shape(case: Case, part: str) -> tuple[int, ...]:
    """A shape, or a single size, in the error's message."""
    return tuple(int(number) for number in re.findall(r"-?\d+", case.message.parts[part]))


def _candidates(case: Case) -> Iterator[int]:
    """The tensors that the error may be about: those that it or its line names, then all results, the newest first."""
    for tensor in case.tensors:
        if tensor in case.facts.tensors:
            yield tensor
    for op in reversed(case.facts.ops):
        yield from (out.tensor for out in op.event.outputs)


def _sized(case: Case, shape: Sequence[int], unknown: str) -> str:
    """The name of the tensor of this shape that the error is about."""
    tensor = next((t for t in _candidates(case) if case.facts.tensors[t].shape == tuple(shape)), None)
    return _operand(case, tensor, unknown)


def _shapes(case: Case) -> str:
    """A sentence with the shapes of the tensors that the error is about; "" if their names are not known."""
    shapes = _properties(case, lambda fact: str(list(fact.shape)))
    return f" Shapes here: {shapes}." if shapes else ""


def _upper(words: str) -> str:
    return f"The{words[3:]}" if words.startswith("the ") else words


ANSWERS: Mapping[ErrorKind, Callable[[Case], Answer]] = {
    "matrix-shapes": _matrix_shapes,
    "sizes": _sizes,
    "dtypes": _dtypes,
    "devices": _devices,
    "target-size": _target_size,
    "batch-sizes": _batch_sizes,
    "class-range": _class_range,
    "class-dimension": _class_dimension,
    "class-columns": _class_columns,
    "soft-target": _soft_target,
    "probability-range": _probability_range,
    "channels": _channels,
    "features": _features,
    "one-per-channel": _one_per_channel,
    "index-range": _index_range,
    "view-size": _view_size,
    "view-strides": _view_strides,
    "index-bounds": _index_bounds,
    "list-sizes": _list_sizes,
    "batched-matrices": _batched_matrices,
    "subscript-sizes": _subscript_sizes,
    "number-of-many": _number_of_many,
    "truth-of-many": _truth_of_many,
    "no-kernel": _no_kernel,
    "mean-of-integers": _mean_of_integers,
    "no-parameters": _no_parameters,
    "nothing-to-clip": _nothing_to_clip,
    "before-init": _before_init,
}
"""The function that explains an error, by its kind."""
