"""The facts of a trace in tables, with queries: shared by graph, timeline, details and findings.

`collect` fills them, in one pass over the events.
"""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from engine.trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    Damaged,
    DataSet,
    ErrorRaised,
    FlagChanged,
    Frame,
    GradSet,
    Input,
    LeafCreated,
    NodeRecord,
    OpCalled,
    Refreshed,
    Trace,
    Value,
    VjpRun,
)
from engine.trace.messages import places_of
from engine.trace.source import Sources

from .own_code import OwnCode, own_code
from .source_text import lines_of, source

MET = frozenset({"seen", "parameter"})
"""Sources of leaves that existed before an op first used them: that line did not make them."""


class Source(NamedTuple):
    """Where an input of an op comes from: the `version` of its tensor in the tables, the op that computed its value,
    and the leaf whose `.grad` the tensor was then (None: there is none)."""

    version: int | None
    op: int | None
    leaf: int | None


@dataclass(slots=True)
class OpFact:
    """The `index`-th op event.  `order`: 0 the user's own, else of the backward call that recorded it.

    `writes` is the leaf whose `.grad` (or whose own data) the op changes in place: such an op is an action of the
    user, not a node of the graph, when it writes a gradient.
    """

    index: int
    event: OpCalled
    order: int
    id: str = ""
    writes_grad: int | None = None
    vjps: list[int] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    """Where its inputs come from, in their order."""


NO_VERSION = range(0)
NO_OP: Mapping[int, int | None] = {}


@dataclass(slots=True)
class TensorFact:
    """A tensor: its origin, and the value and the op of each version of it (None: it began as a leaf).

    `requires_grad`: whether it ever did; `was_switched_on`: whether the program said so with `requires_grad_()`;
    `flags` are the changes of it.  `since` has the event that began each version, `replaced` the versions that
    `x.data = y` gave it, `data_sources` the tensor and its version from which a version comes through `.data`.
    """

    tensor: int
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    leaf: LeafCreated | None
    first: int
    event: int
    values: dict[int, int] = field(default_factory=dict)
    producers: dict[int, int | None] = field(default_factory=dict)
    was_switched_on: bool = False
    since: dict[int, int] = field(default_factory=dict)
    flags: list[FlagChanged] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    data_sources: dict[int, tuple[int, int]] = field(default_factory=dict)
    versions: list[int] = field(default_factory=list)
    recorded: int | None = None
    """The first version from an op that is recorded for backward."""
    differentiable: int | None = None
    """The first version with `requires_grad`."""
    leaf_versions: range = NO_VERSION
    """The versions in which it is a leaf, where gradients end: it requires one, and no op behind its values is recorded
    for backward."""
    history: Mapping[int, int | None] = field(default_factory=lambda: NO_OP)
    """By version, the op behind it in autograd's graph: the last recorded one that gave it its values.  An unrecorded
    write changes the values and not the history."""

    def hold(self, version: int, value: int, event: int) -> None:
        """The tensor has a value in a version, from an event on; versions come in order, with rare exceptions."""
        if version not in self.values:
            insort(self.versions, version)
        self.values[version] = value
        self.since.setdefault(version, event)

    @property
    def last(self) -> int:
        """The newest version; for a tensor without a value, the first one."""
        return self.versions[-1] if self.versions else self.first

    @property
    def is_leaf(self) -> bool:
        """Whether its newest version is a leaf; after a recorded op wrote to it, it is not."""
        return self.last in self.leaf_versions

    def before(self, event: int) -> Iterator[int]:
        """The versions that there were before an event, the newest first."""
        count = bisect_left(self.versions, event, key=lambda version: self.since[version])
        return (self.versions[place] for place in range(count - 1, -1, -1))


@dataclass(slots=True)
class CallFact:
    """A backward call: its events from `start` to `end`, and the order of derivative that it computes."""

    call: int
    event: BackwardStarted
    start: int
    end: int
    order: int
    completed: bool = False
    vjps: list[int] = field(default_factory=list)


@dataclass
class Facts:
    """Tables for everything that is looked up more than once. `uses` has (op, input position) per (tensor, version) as
    resolved."""

    trace: Trace
    ops: list[OpFact] = field(default_factory=list)
    op_at: dict[int, int] = field(default_factory=dict)
    op_of_node: dict[int, int] = field(default_factory=dict)
    tensors: dict[int, TensorFact] = field(default_factory=dict)
    calls: dict[int, CallFact] = field(default_factory=dict)
    owner: dict[int, int] = field(default_factory=dict)
    """The leaf whose `.grad` a tensor is, or last was."""
    handed: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    """For a gradient: the leaves that it belonged to, each with the event from which on it did."""
    grads: dict[int, int] = field(default_factory=dict)
    """Per leaf the tensor that its `.grad` is, at the end."""
    holders: dict[int, list[tuple[int, tuple[int, ...]]]] = field(default_factory=lambda: defaultdict(list))
    """For a gradient: the leaves that have it from each event on; after `b.grad = a.grad` there are two."""
    before: set[int] = field(default_factory=set)
    """Gradients that ops used before they belonged to a leaf."""
    behind: dict[int, int] = field(default_factory=dict)
    """The result of `x.data` -> x: a write to it changes x, without a new version."""
    retained: dict[int, int] = field(default_factory=dict)
    """The event of `retain_grad()`, by tensor."""
    roots: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    seeds: set[int] = field(default_factory=set)
    """Leaves that a backward call made itself: the gradient from which it starts."""
    errors: list[ErrorRaised] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    """The user's names of tensors; `x.grad` for the gradient of a leaf that has one."""
    frames: dict[int, Frame] = field(default_factory=dict)
    """The user's innermost frame of each stack number of an event."""
    failing: dict[int, Frame | None] = field(default_factory=dict)
    """The same by event of an error; for one from another library, the line in its traceback."""
    derived: bool = False
    """Whether a backward call recorded ops of its own."""
    uses: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    receives: set[int] = field(default_factory=set)
    own: OwnCode = field(default_factory=OwnCode)
    counted: dict[int | None, int] = field(default_factory=dict)
    writers: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    storages: dict[int, int] = field(default_factory=dict)

    def elsewhere(self, what: str) -> frozenset[int]:
        """The leaves of one section of a run for which the other sections have an entry: `updated` before it since
        their gradient arrived, `taught` by a gradient in any of them."""
        match self.trace.meta.get("section"):  # a file may say anything
            case {**parts} if isinstance(numbers := parts.get(what), (list, tuple)):
                return frozenset(one for one in numbers if type(one) is int)
        return frozenset()

    def changed_in(self, leaf: int) -> str:
        """In a section of a run, the name of the earlier section that last changed the values of a leaf that requires a
        gradient; "" if none did."""
        match self.trace.meta.get("section"):  # a file may say anything
            case {"changed": {**names}}:
                sections = (
                    name for name, leaves in names.items() if isinstance(leaves, (list, tuple)) and leaf in leaves
                )
                return str(next(sections, ""))
        return ""

    @property
    def resumed(self) -> int | None:
        """Of a section of a run before which the recording had paused, the number of the iteration in which it goes
        on."""
        match self.trace.meta.get("section"):  # a file may say anything
            case {"resumed": int(number)}:
                return number
        return None

    @property
    def carried(self) -> Mapping[int, int]:
        """In a section of a run, by tensor through which its graph goes on into earlier sections: the call stack of the
        op that made it."""
        match self.trace.meta.get("section"):  # a file may say anything
            case {"carried": [*pairs]}:
                return {one[0]: one[1] for one in pairs if len(one) == 2 and type(one[0]) is type(one[1]) is int}
        return {}

    @cached_property
    def sources(self) -> Sources:
        """The program's files, each parsed once, when it is first asked for."""
        return Sources(self.trace.files)

    @cached_property
    def letters(self) -> frozenset[str]:
        """The short names that tensors of the program have, which no other tensor should be called by."""
        return frozenset(name for name in self.trace.names.values() if len(name) <= len("x1"))

    def resolve(self, tensor: int, version: int) -> int | None:
        """The version of `tensor` in the tables for one that an op names (a write to a base bumps its views)."""
        fact = self.tensors.get(tensor)
        if fact is None:
            return None
        if version in fact.values:
            return version
        place = bisect_right(fact.versions, version)
        return fact.versions[place - 1] if place else fact.first

    def value(self, tensor: int, version: int) -> int | None:
        """The trace value of a tensor in a version."""
        own_version = self.resolve(tensor, version)
        return None if own_version is None else self.tensors[tensor].values[own_version]

    def read(self, argument: Input) -> Value | None:
        """The value that an op read as an input; None for a number."""
        index = self.value(argument.tensor, argument.version) if argument.tensor is not None else None
        return None if index is None else self.trace.value(index)

    def producer(self, tensor: int, version: int) -> int | None:
        """The op that computed the value of `tensor` in `version`, also if a view of it was written.

        Values from before `x.data = y` are gone.
        """
        fact = self.tensors[tensor]
        own = fact.producers.get(version)
        fresh = bisect_right(fact.replaced, version)
        since = fact.replaced[fresh - 1] if fresh else fact.first
        writers = self.writers.get(self.storages.get(tensor, -1), [])
        place = bisect_right(writers, version, key=itemgetter(0))
        last_write, op = writers[place - 1] if place else (since, -1)
        return op if last_write > since and (own is None or op > own) else own

    def following(self, event: int) -> Iterator[AnyEvent]:
        """The events after an event, one at a time."""
        events = self.trace.events
        return (events[place] for place in range(event + 1, len(events)))

    def owner_at(self, gradient: int, event: int) -> int | None:
        """The leaf whose `.grad` a tensor was before an event: the last one that received it."""
        handed = self.handed.get(gradient, ())
        place = bisect_left(handed, event, key=itemgetter(0))
        return handed[place - 1][1] if place else None

    def holding(self, gradient: int | None, event: int) -> tuple[int, ...]:
        """The leaves whose `.grad` a tensor was before an event: none after all of them have dropped it."""
        holders = self.holders.get(gradient, ()) if gradient is not None else ()
        return next((leaves for since, leaves in reversed(holders) if since < event), ())

    def begun_at(self, tensor: int | None) -> int:
        """The stack of the line that made a tensor; -1 if the recording only met it later."""
        fact = self.tensors.get(tensor) if tensor is not None else None
        met = fact is None or (fact.leaf is not None and fact.leaf.source in MET)
        return -1 if fact is None or met else self.trace.events[fact.event].stack

    def made_by(self, tensor: int, before: int) -> int | None:
        """The op that computed the value of `tensor` before an event; None for a leaf."""
        fact = self.tensors.get(tensor)
        if fact is None:
            return None
        if fact.leaf is not None and len(fact.producers) == 1 and self.storages.get(tensor) not in self.writers:
            return None
        producers = (self.producer(tensor, version) for version in fact.before(before))
        return next((op for op in producers if op is not None and self.ops[op].event.index < before), None)

    def mark(self, tensor: int | None, version: int) -> str:
        """The suffix of the name of a tensor that was written: ` v1`; "" for its first version."""
        own_version = self.resolve(tensor, version) if tensor is not None else None
        return "" if tensor is None or own_version in (None, self.tensors[tensor].first) else f" v{own_version}"

    def node(self, op: int) -> NodeRecord | None:
        return self.ops[op].event.node

    def quoted(self, frame: Frame | None, limit: int = 48) -> str:
        """The program's text at a frame, with its line: ``x * y` in line 7``; "" if there is none."""
        return "" if frame is None else f"`{source(self.trace, frame, limit)}` in {self.line(frame)}"

    def code_at(self, stack: int, limit: int = 48) -> str:
        """The same at the user's innermost frame of a stack number."""
        return self.quoted(self.frames.get(stack), limit)

    def line_number(self, stack: int) -> int | None:
        """The line of the user's innermost frame of a stack number."""
        frame = self.frames.get(stack)
        return frame.line if frame is not None else None

    def line(self, frame: Frame) -> str:
        """`line 7`, with the name of the file if it is not the script itself."""
        return f"line {frame.line}" + (f" of {frame.file}" if frame.file != self.script else "")

    @cached_property
    def script(self) -> str:
        """The file whose lines need no name beside them: the only one with ops, else the one that was run."""
        inner = {stack[-1].file for stack in self.trace.stacks if stack}
        return inner.pop() if len(inner) == 1 else next(iter(self.trace.files), "")


def distance_from_loss(call: AnyEvent) -> int:
    """How far a backward call is from one whose root is a loss, as that of `backward()` is.

    The gradient of an `autograd.grad` may be all that is wanted; with `create_graph`, it is a part of a loss to come.
    """
    if not isinstance(call, BackwardStarted) or call.function == "backward":
        return 0
    return 2 if call.create_graph else 1


def is_for_a_gradient(call: AnyEvent) -> bool:
    """Return whether a call computes a gradient for a later loss, such as that of a gradient penalty."""
    return isinstance(call, BackwardStarted) and call.function != "backward" and call.create_graph


def collect(trace: Trace) -> Facts:
    """Read a trace once.  Cost: linear in its events."""
    facts = Facts(trace)
    facts.own = own_code(trace.events)
    running: list[CallFact] = []
    data_tensors: dict[int, int] = {}  # x -> `x.data`, written to and not yet refreshed
    for event in trace.events:
        if event.stack not in facts.frames and 0 <= event.stack < len(trace.stacks) and trace.stacks[event.stack]:
            facts.frames[event.stack] = _whole(trace, trace.stacks[event.stack][-1])
        match event:
            case OpCalled() if event.index not in facts.own.hidden:
                _add_op(facts, event, running[-1] if running else None)
                if event.inplace in facts.behind:
                    data_tensors[facts.behind[event.inplace]] = event.inplace
            case LeafCreated():
                _add_leaf(facts, event)
                if running and event.tensor not in facts.own.created:
                    facts.seeds.add(event.tensor)
            case Refreshed() if event.tensor in facts.tensors:
                fact = facts.tensors[event.tensor]
                fact.hold(event.version, event.value, event.index)
                if isinstance(event, DataSet):
                    fact.replaced.append(event.version)
                    data_tensors[event.tensor] = event.source
                if source := facts.tensors.get(data_tensors.pop(event.tensor, -1)):
                    fact.data_sources[event.version] = source.tensor, source.last
            case FlagChanged(flag="requires_grad") if event.tensor in facts.tensors:
                _add_flag(facts, facts.tensors[event.tensor], event)
            case FlagChanged(flag="retain_grad"):
                facts.retained.setdefault(event.tensor, event.index)
            case BackwardStarted():
                running.append(_add_call(facts, event))
            case VjpRun() if running:
                running[-1].vjps.append(event.index)
                op = facts.op_of_node.get(event.node)
                if op is not None:
                    facts.ops[op].vjps.append(event.index)
            case Accumulated():
                _give_gradient(facts, event.grad, event.tensor, event.index)
                _hold_gradient(facts, event.grad, event.tensor, event.index)
                _add_gradient(facts, event)
                facts.receives.add(event.tensor)
                if event.retained:
                    facts.retained.setdefault(event.tensor, event.index)
            case GradSet():
                if event.source is not None:
                    _give_gradient(facts, event.source, event.tensor, event.index)
                _hold_gradient(facts, event.source, event.tensor, event.index)
            case ErrorRaised():
                facts.errors.append(event)
                facts.failing[event.index] = _failing(facts, event)
            case Damaged():
                facts.failing[event.index] = facts.frames.get(event.stack)
            case BackwardEnded() if event.call in facts.calls:
                facts.calls[event.call].end = event.index
                facts.calls[event.call].completed = event.completed
                if running:
                    running.pop()
    _settle(facts)
    return facts


def _settle(facts: Facts) -> None:
    """Fill in what is known only after the last event."""
    for op in facts.ops:
        op.sources = [_source(facts, argument, op.event.index) for argument in op.event.inputs]
    for fact in facts.tensors.values():
        fact.leaf_versions = _leaf_versions(fact)
        if fact.recorded is not None:
            fact.history = _history(facts, fact, fact.recorded)
    names = facts.trace.names
    of = [(tensor, names.get(x), "data") for tensor, x in facts.behind.items() if tensor not in facts.owner]
    of += [(gradient, names.get(leaf), "grad") for gradient, leaf in facts.owner.items()]
    facts.names = {tensor: f"{owner}.{attribute}" for tensor, owner, attribute in of if owner}
    facts.names |= dict.fromkeys(facts.seeds, "gradient")
    facts.names |= names


NO_SOURCE = Source(None, None, None)


def _source(facts: Facts, argument: Input, event: int) -> Source:
    if argument.tensor is None:
        return NO_SOURCE
    version = facts.resolve(argument.tensor, argument.version)
    op = None if version is None else facts.producer(argument.tensor, argument.version)
    return Source(version, op, facts.owner_at(argument.tensor, event))


def _leaf_versions(fact: TensorFact) -> range:
    if not fact.requires_grad:
        return NO_VERSION
    stop = sys.maxsize if fact.recorded is None else fact.recorded
    if fact.was_switched_on or (fact.leaf is not None and fact.leaf.requires_grad):
        return range(stop)
    return NO_VERSION if fact.differentiable is None else range(fact.differentiable, stop)


def _history(facts: Facts, fact: TensorFact, recorded: int) -> Mapping[int, int | None]:
    """The last op with a node at each version; the producers themselves if all of them have one, as most do."""
    history: dict[int, int | None] = {}
    last: int | None = None
    for version in fact.versions[bisect_left(fact.versions, recorded) :]:
        op = fact.producers.get(version)
        if op is not None and facts.node(op) is not None:
            last = op
        if last is not None:
            history[version] = last
    return fact.producers if history == fact.producers else history


def _whole(trace: Trace, frame: Frame) -> Frame:
    """The whole statement of `x.grad = None`, for which Python reports only the target."""
    lines = lines_of(trace.files.get(frame.file, ""))[frame.line - 1 : frame.end_line]
    if len(lines) != 1 or lines[0][: frame.col].strip():
        return frame
    target, after = lines[0][frame.col : frame.end_col], lines[0][frame.end_col :].lstrip()
    if "." not in target or not after.startswith("="):
        return frame
    try:
        (statement,) = ast.parse(lines[0].strip()).body
    except (SyntaxError, ValueError):
        return frame  # a comparison, or a statement that continues on the next line
    if not isinstance(statement, ast.Assign) or statement.end_col_offset is None:
        return frame
    code = lines[0].strip().encode()[: statement.end_col_offset].decode()
    return replace(frame, end_col=frame.col + len(code))


def _failing(facts: Facts, event: ErrorRaised) -> Frame | None:
    """The frame of an error; for one from another library, the line in its traceback."""
    files, frame = facts.trace.files, facts.frames.get(event.stack)
    for file, line in reversed(places_of(event)):
        name = next((n for n in files if n == file or file.endswith("/" + n.lstrip("~/"))), None)
        if name is None:
            continue
        if frame is not None and frame.file == name and frame.line <= line <= frame.end_line:
            return frame
        lines = lines_of(files[name])
        code = lines[line - 1] if line <= len(lines) else ""
        return Frame(name, "", line, line, len(code) - len(code.lstrip()), len(code.rstrip()))
    return frame


def _add_leaf(facts: Facts, event: LeafCreated) -> None:
    fact = facts.tensors[event.tensor] = TensorFact(
        event.tensor, event.shape, event.dtype, event.requires_grad, event, event.version, event.index,
        producers={event.version: None},
    )  # fmt: skip
    fact.hold(event.version, event.value, event.index)
    facts.storages[event.tensor] = event.storage
    if event.source == "edited":  # it replaces an op, whose number nothing else takes
        facts.counted[None] = facts.counted.get(None, 0) + 1
    if event.grad is not None:
        _give_gradient(facts, event.grad, event.tensor, event.index)
        _hold_gradient(facts, event.grad, event.tensor, event.index)


def _add_flag(facts: Facts, fact: TensorFact, event: FlagChanged) -> None:
    """The program switches `requires_grad`; a tensor that is frozen before its first use never required a gradient."""
    fact.flags.append(event)
    fact.was_switched_on |= event.value
    unused = fact.leaf is not None and all((event.tensor, version) not in facts.uses for version in fact.values)
    fact.requires_grad = event.value if unused else fact.requires_grad or event.value


def _give_gradient(facts: Facts, gradient: int, leaf: int, event: int) -> None:
    """A tensor is the `.grad` of a leaf from an event on."""
    fact = facts.tensors.get(gradient)
    if gradient not in facts.owner and fact is not None and any((gradient, v) in facts.uses for v in fact.values):
        facts.before.add(gradient)
    if facts.owner.get(gradient) != leaf:
        facts.owner[gradient] = leaf
        facts.handed[gradient].append((event, leaf))


def _hold_gradient(facts: Facts, gradient: int | None, leaf: int, event: int) -> None:
    """A tensor, or none, is the `.grad` of a leaf from an event on; other leaves may share it."""
    before = facts.grads.get(leaf)
    if before == gradient:
        return
    for one in (before, gradient):
        if one is not None:
            others = tuple(other for other in facts.holding(one, event) if other != leaf)
            facts.holders[one].append((event, (*others, leaf) if one == gradient else others))
    if gradient is None:
        del facts.grads[leaf]
    else:
        facts.grads[leaf] = gradient


def _add_gradient(facts: Facts, event: Accumulated) -> None:
    """The tensor that `.grad` holds: adding to it in place makes a new version of it, a sum by an op has its own
    tensor."""
    fact = facts.tensors.get(event.grad)
    value = facts.trace.value(event.after)
    if fact is None:
        fact = facts.tensors[event.grad] = TensorFact(event.grad, value.shape, value.dtype, False, None, 0, event.index)
    if fact.producers.get(fact.last) is not None and event.before != fact.values[fact.last]:
        fact.values[fact.last] = event.after
    else:
        fact.hold(fact.last + 1 if fact.versions else 0, event.after, event.index)


def _add_op(facts: Facts, event: OpCalled, current: CallFact | None) -> None:
    index = len(facts.ops)
    inside = event.call is not None and current is not None
    op = OpFact(index, event, current.order if inside and current is not None else 0)
    facts.derived |= op.order > 0
    facts.ops.append(op)
    facts.op_at[event.index] = index
    if event.node is not None:
        facts.op_of_node[event.node.node] = index
    if event.inplace is not None and event.inplace in facts.owner:
        op.writes_grad = facts.owner[event.inplace]
    op.id = _op_id(facts, op)
    if event.name == "data" and event.inplace is None and event.inputs[0].tensor is not None:
        facts.behind[event.outputs[0].tensor] = event.inputs[0].tensor
    for position, argument in enumerate(event.inputs):
        if argument.tensor is not None and op.writes_grad is None:
            version = facts.resolve(argument.tensor, argument.version)
            if version is not None:
                facts.uses[argument.tensor, version].append((index, position))
    for out in event.outputs:
        fact = facts.tensors.get(out.tensor)
        if fact is None:
            fact = facts.tensors[out.tensor] = TensorFact(
                out.tensor, out.shape, out.dtype, out.requires_grad, None, out.version, event.index
            )
            facts.storages[out.tensor] = out.storage
        fact.requires_grad |= out.requires_grad
        fact.hold(out.version, out.value, event.index)
        fact.since[out.version] = event.index  # its view is made again, by the op of its history
        fact.producers[out.version] = index
        if out.requires_grad and fact.differentiable is None:
            fact.differentiable = out.version
        if event.node is not None and fact.recorded is None:
            fact.recorded = out.version
        if event.inplace is not None:
            facts.writers[out.storage].append((out.version, index))


def _op_id(facts: Facts, op: OpFact) -> str:
    """`n5` for the program's own sixth op, `n2.0` for the first one that the third backward call recorded.

    Commands (ops that write a gradient) are not counted, so that the id stays the same when one is added or removed.
    """
    if op.writes_grad is not None:
        return f"w{op.index}"
    call = op.event.call if op.order else None
    number = facts.counted.get(call, 0)
    facts.counted[call] = number + 1
    return f"n{number}" if call is None else f"n{call}.{number}"


def _add_call(facts: Facts, event: BackwardStarted) -> CallFact:
    order = 1
    for root in event.roots:
        facts.roots[root.tensor].append(event.call)
        fact = facts.tensors.get(root.tensor)
        if fact is not None:
            order = max(order, 1 + _highest_order(facts, root.tensor))
    call = facts.calls[event.call] = CallFact(event.call, event, event.index, len(facts.trace.events), order)
    return call


def _highest_order(facts: Facts, tensor: int) -> int:
    """The highest order among the ops that a backward from `tensor` would reach."""
    fact = facts.tensors[tensor]
    first = facts.producer(tensor, fact.last) if fact.versions else None
    if first is None:
        return 0
    if not facts.derived:
        return 0
    highest, seen, todo = 0, {first}, [first]
    while todo:
        op = todo.pop()
        highest = max(highest, facts.ops[op].order)
        record = facts.ops[op].event.node
        for edge in record.edges if record else ():
            following = facts.op_of_node.get(edge.node) if edge is not None and edge.node is not None else None
            if following is not None and following not in seen:
                seen.add(following)
                todo.append(following)
    return highest
