"""What a trace says, in tables: one pass over the events, shared by graph, timeline, details and findings."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter

from engine.trace import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    DataSet,
    ErrorRaised,
    FlagChanged,
    Frame,
    GradSet,
    LeafCreated,
    NodeRecord,
    OpCalled,
    Refreshed,
    Trace,
    VjpRun,
)

from .owncode import OwnCode, own_code

_PLACE = re.compile(r'File "(.+)", line (\d+)')


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


@dataclass(slots=True)
class TensorFact:
    """A tensor: how it began, and the value and the op behind each version of it (None: it began as a leaf).

    `requires_grad`: whether it ever did; `asked`: whether the program said so with `requires_grad_()`; `flags` are the
    changes of it.  `since` is the event from which on it held each version, `replaced` are the versions that
    `x.data = y` gave it, `given` says what a version has through `.data`: the tensor and its version.
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
    asked: bool = False
    since: dict[int, int] = field(default_factory=dict)
    flags: list[FlagChanged] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    given: dict[int, tuple[int, int]] = field(default_factory=dict)
    versions: list[int] = field(default_factory=list)
    recorded: int | None = None
    """The first version that an op gave which is recorded for backward."""
    differentiable: int | None = None
    """The first version that was given with `requires_grad`."""

    def hold(self, version: int, value: int, event: int) -> None:
        """The tensor has a value in a version, from an event on; versions come in their order, but for rare ones."""
        if version not in self.values:
            insort(self.versions, version)
        self.values[version] = value
        self.since.setdefault(version, event)

    @property
    def last(self) -> int:
        """The newest version; of a tensor without a value, the first one."""
        return self.versions[-1] if self.versions else self.first

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
    """Everything looked up more than once.  `users` has (op, input position) per (tensor, version) as resolved."""

    trace: Trace
    ops: list[OpFact] = field(default_factory=list)
    op_at: dict[int, int] = field(default_factory=dict)
    op_of_node: dict[int, int] = field(default_factory=dict)
    tensors: dict[int, TensorFact] = field(default_factory=dict)
    calls: dict[int, CallFact] = field(default_factory=dict)
    owner: dict[int, int] = field(default_factory=dict)
    """The leaf whose `.grad` a tensor is, or was last."""
    handed: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    """Of a gradient: from which event on it was whose."""
    before: set[int] = field(default_factory=set)
    """Gradients that ops took before they were any leaf's."""
    behind: dict[int, int] = field(default_factory=dict)
    """What `x.data` gave -> x: a write to it changes x, and no version counts it."""
    retained: set[int] = field(default_factory=set)
    roots: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    seeds: set[int] = field(default_factory=set)
    """Leaves that a backward call made for itself: the gradient that it starts from."""
    troubled: set[int] = field(default_factory=set)
    errors: list[ErrorRaised] = field(default_factory=list)
    derived: bool = False
    """Whether a backward call recorded ops of its own."""
    uses: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    receives: set[int] = field(default_factory=set)
    own: OwnCode = field(default_factory=OwnCode)
    counted: dict[int | None, int] = field(default_factory=dict)
    _writers: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    _storages: dict[int, int] = field(default_factory=dict)
    _frames: dict[int, Frame | None] = field(default_factory=dict)

    def resolve(self, tensor: int, version: int) -> int | None:
        """The version of `tensor` that the tables know for one that an op names (a write to a base bumps its views)."""
        fact = self.tensors.get(tensor)
        if fact is None:
            return None
        if version in fact.values:
            return version
        place = bisect_right(fact.versions, version)
        return fact.versions[place - 1] if place else fact.first

    def value(self, tensor: int, version: int) -> int | None:
        """The trace value that a tensor holds in a version."""
        known = self.resolve(tensor, version)
        return None if known is None else self.tensors[tensor].values[known]

    def producer(self, tensor: int, version: int) -> int | None:
        """The op that computed what `tensor` holds in `version`, also where a view of it was written.

        What was written before `x.data = y` is gone.
        """
        fact = self.tensors[tensor]
        own = fact.producers.get(version)
        fresh = bisect_right(fact.replaced, version)
        begun = fact.replaced[fresh - 1] if fresh else fact.first
        writers = self._writers.get(self._storages.get(tensor, -1), [])
        place = bisect_right(writers, version, key=itemgetter(0))
        written, op = writers[place - 1] if place else (begun, -1)
        return op if written > begun and (own is None or op > own) else own

    def following(self, event: int) -> Iterator[AnyEvent]:
        """The events behind one, as far as they are asked for."""
        events = self.trace.events
        return (events[place] for place in range(event + 1, len(events)))

    def owner_at(self, gradient: int, event: int) -> int | None:
        """The leaf whose `.grad` a tensor was before an event: the last one that it was given to."""
        return next((leaf for since, leaf in reversed(self.handed.get(gradient, ())) if since < event), None)

    def made_by(self, tensor: int, before: int) -> int | None:
        """The op that computed what `tensor` held at event `before`; None for a leaf."""
        fact = self.tensors.get(tensor)
        if fact is None:
            return None
        if fact.leaf is not None and len(fact.producers) == 1 and self._storages.get(tensor) not in self._writers:
            return None
        known = (self.producer(tensor, version) for version in fact.before(before))
        return next((op for op in known if op is not None and self.ops[op].event.index < before), None)

    def name(self, tensor: int) -> str | None:
        """The user's name of a tensor; `x.grad` for the gradient of a leaf that has one."""
        name = self.trace.names.get(tensor)
        if name is None and tensor in self.seeds:
            return "gradient"
        if name is None and tensor in self.owner:
            owner = self.trace.names.get(self.owner[tensor])
            return f"{owner}.grad" if owner else None
        if name is None and tensor in self.behind:
            owner = self.trace.names.get(self.behind[tensor])
            return f"{owner}.data" if owner else None
        return name

    def is_gradient(self, tensor: int) -> bool:
        """Whether a tensor is only what some leaf's `.grad` holds: a row of a card, without a card of its own.

        What an op took before any leaf was given it is more than that.
        """
        if tensor not in self.owner or tensor in self.before:
            return False
        made = self.tensors[tensor].producers.values()
        return all(op is None or self.ops[op].writes_grad is not None for op in made)

    def node(self, op: int) -> NodeRecord | None:
        return self.ops[op].event.node

    def is_leaf(self, tensor: int, version: int | None = None) -> bool:
        """Whether gradients end in the tensor as it is in a version (None: the last): it requires one, and no op that
        gave it its values is recorded for backward.  Where a recorded op wrote into it, it is a leaf no more."""
        fact = self.tensors[tensor]
        if not fact.requires_grad:
            return False
        until = fact.last if version is None else version
        asks = fact.asked or (fact.leaf is not None and fact.leaf.requires_grad)
        asks = asks or (fact.differentiable is not None and fact.differentiable <= until)
        return asks and (fact.recorded is None or fact.recorded > until)

    def asks(self, tensor: int, before: int) -> bool:
        """Whether a tensor required a gradient at an event: as the flag was last set before it."""
        fact = self.tensors[tensor]
        last = next((flag.value for flag in reversed(fact.flags) if flag.index < before), None)
        return fact.requires_grad if last is None else last

    def shares(self, one: int, other: int) -> bool:
        """Whether two tensors lie in the same memory."""
        return one == other or (one in self._storages and self._storages[one] == self._storages.get(other, -1))

    def base(self, tensor: int) -> int | None:
        """The first tensor in the memory of a view; None where it has its own."""
        storage = self._storages.get(tensor)
        return next((t for t, s in self._storages.items() if s == storage and t != tensor), None)

    def frame_of(self, event: AnyEvent) -> Frame | None:
        """The user's innermost frame of an event; of an error that came from elsewhere, the line in its traceback."""
        found = self.frame(event.stack)
        if isinstance(event, ErrorRaised):
            for file, number in reversed(_PLACE.findall(event.traceback)):
                name = next((n for n in self.trace.files if n == file or file.endswith("/" + n.lstrip("~/"))), None)
                if name is None:
                    continue
                line = int(number)
                if found is not None and found.file == name and found.line <= line <= found.end_line:
                    return found
                lines = self.trace.files[name].splitlines()
                code = lines[line - 1] if line <= len(lines) else ""
                return Frame(name, "", line, line, len(code) - len(code.lstrip()), len(code.rstrip()))
        return found

    def line(self, frame: Frame) -> str:
        """`line 7`, with the name of the file where that is not the script itself."""
        return f"line {frame.line}" + (f" of {frame.file}" if frame.file != self.script else "")

    @cached_property
    def script(self) -> str:
        """The file whose lines need no name beside them: the only one with ops, else the one that was run."""
        inner = {stack[-1].file for stack in self.trace.stacks if stack}
        return inner.pop() if len(inner) == 1 else next(iter(self.trace.files), "")

    def frame(self, stack: int) -> Frame | None:
        """The user's innermost frame of a stack number."""
        if stack < 0 or stack >= len(self.trace.stacks) or not self.trace.stacks[stack]:
            return None
        if stack not in self._frames:
            self._frames[stack] = self._whole(self.trace.stacks[stack][-1])
        return self._frames[stack]

    def _whole(self, frame: Frame) -> Frame:
        """Of `x.grad = None`, where Python names only what is assigned to, the whole statement."""
        lines = self.trace.files.get(frame.file, "").splitlines()[frame.line - 1 : frame.end_line]
        if len(lines) != 1 or lines[0][: frame.col].strip():
            return frame
        target, after = lines[0][frame.col : frame.end_col], lines[0][frame.end_col :].lstrip()
        if "." not in target or not after.startswith("="):
            return frame
        try:
            (statement,) = ast.parse(lines[0].strip()).body
        except (SyntaxError, ValueError):
            return frame  # a comparison, or what goes on in the next line
        if not isinstance(statement, ast.Assign) or statement.end_col_offset is None:
            return frame
        written = lines[0].strip().encode()[: statement.end_col_offset].decode()
        return replace(frame, end_col=frame.col + len(written))


def facts(trace: Trace) -> Facts:
    """Read a trace once.  Cost: linear in its events."""
    table = Facts(trace)
    table.own = own_code(trace.events)
    running: list[CallFact] = []
    written: dict[int, int] = {}  # x -> `x.data`, written to and not yet refreshed
    for event in trace.events:
        match event:
            case OpCalled() if event.index not in table.own.hidden:
                _op(table, event, running[-1] if running else None)
                if event.inplace in table.behind:
                    written[table.behind[event.inplace]] = event.inplace
            case LeafCreated():
                _leaf(table, event)
                if running:
                    table.seeds.add(event.tensor)
            case Refreshed() if event.tensor in table.tensors:
                fact = table.tensors[event.tensor]
                fact.hold(event.version, event.value, event.index)
                if isinstance(event, DataSet):
                    fact.replaced.append(event.version)
                    written[event.tensor] = event.source
                if source := table.tensors.get(written.pop(event.tensor, -1)):
                    fact.given[event.version] = source.tensor, source.last
            case FlagChanged(flag="requires_grad") if event.tensor in table.tensors:
                _flag(table, table.tensors[event.tensor], event)
            case FlagChanged(flag="retain_grad"):
                table.retained.add(event.tensor)
            case BackwardStarted():
                running.append(_call(table, event))
            case VjpRun() if running:
                running[-1].vjps.append(event.index)
                op = table.op_of_node.get(event.node)
                if op is not None:
                    table.ops[op].vjps.append(event.index)
            case Accumulated():
                _hand(table, event.grad, event.tensor, event.index)
                _gradient(table, event)
                table.receives.add(event.tensor)
                if event.retained:
                    table.retained.add(event.tensor)
            case GradSet(source=int() as source):
                _hand(table, source, event.tensor, event.index)
            case ErrorRaised():
                table.troubled.update(event.tensors)
                table.errors.append(event)
            case BackwardEnded() if event.call in table.calls:
                table.calls[event.call].end = event.index
                table.calls[event.call].completed = event.completed
                if running:
                    running.pop()
    return table


def _leaf(table: Facts, event: LeafCreated) -> None:
    fact = table.tensors[event.tensor] = TensorFact(
        event.tensor, event.shape, event.dtype, event.requires_grad, event, event.version, event.index,
        producers={event.version: None},
    )  # fmt: skip
    fact.hold(event.version, event.value, event.index)
    table._storages[event.tensor] = event.storage
    if event.grad is not None:
        _hand(table, event.grad, event.tensor, event.index)


def _flag(table: Facts, fact: TensorFact, event: FlagChanged) -> None:
    """The program switches `requires_grad`; what is frozen before it is used never required a gradient."""
    fact.flags.append(event)
    fact.asked |= event.value
    unused = fact.leaf is not None and all((event.tensor, version) not in table.uses for version in fact.values)
    fact.requires_grad = event.value if unused else fact.requires_grad or event.value


def _hand(table: Facts, gradient: int, leaf: int, event: int) -> None:
    """A tensor is the `.grad` of a leaf from an event on."""
    fact = table.tensors.get(gradient)
    if gradient not in table.owner and fact is not None and any((gradient, v) in table.uses for v in fact.values):
        table.before.add(gradient)
    if table.owner.get(gradient) != leaf:
        table.owner[gradient] = leaf
        table.handed[gradient].append((event, leaf))


def _gradient(table: Facts, event: Accumulated) -> None:
    """The tensor that `.grad` holds: adding to it in place makes a new version of it, a sum that an op made has its
    own."""
    fact = table.tensors.get(event.grad)
    kept = table.trace.value(event.after)
    if fact is None:
        fact = table.tensors[event.grad] = TensorFact(event.grad, kept.shape, kept.dtype, False, None, 0, event.index)
    if fact.producers.get(fact.last) is not None and event.before != fact.values[fact.last]:
        fact.values[fact.last] = event.after
    else:
        fact.hold(fact.last + 1 if fact.versions else 0, event.after, event.index)


def _op(table: Facts, event: OpCalled, current: CallFact | None) -> None:
    index = len(table.ops)
    inside = event.call is not None and current is not None
    op = OpFact(index, event, current.order if inside and current is not None else 0)
    table.derived |= op.order > 0
    table.ops.append(op)
    table.op_at[event.index] = index
    if event.node is not None:
        table.op_of_node[event.node.node] = index
    if event.inplace is not None and event.inplace in table.owner:
        op.writes_grad = table.owner[event.inplace]
    op.id = _op_id(table, op)
    if event.name == "data" and event.inplace is None and event.inputs[0].tensor is not None:
        table.behind[event.outputs[0].tensor] = event.inputs[0].tensor
    for position, argument in enumerate(event.inputs):
        if argument.tensor is not None and op.writes_grad is None:
            version = table.resolve(argument.tensor, argument.version)
            if version is not None:
                table.uses[argument.tensor, version].append((index, position))
    for out in event.outputs:
        fact = table.tensors.get(out.tensor)
        if fact is None:
            fact = table.tensors[out.tensor] = TensorFact(
                out.tensor, out.shape, out.dtype, out.requires_grad, None, out.version, event.index
            )
            table._storages[out.tensor] = out.storage
        fact.requires_grad |= out.requires_grad
        fact.hold(out.version, out.value, event.index)
        fact.since[out.version] = event.index  # a view of what was written is given anew, by the op that is its history
        fact.producers[out.version] = index
        if out.requires_grad and fact.differentiable is None:
            fact.differentiable = out.version
        if event.node is not None and fact.recorded is None:
            fact.recorded = out.version
        if event.inplace is not None:
            table._writers[out.storage].append((out.version, index))


def _op_id(table: Facts, op: OpFact) -> str:
    """`n5` for the program's own sixth op, `n2.0` for the first one that the third backward call recorded.

    Commands (what writes a gradient) are not counted, so that the id survives when one is added or taken away.
    """
    if op.writes_grad is not None:
        return f"w{op.index}"
    call = op.event.call if op.order else None
    number = table.counted.get(call, 0)
    table.counted[call] = number + 1
    return f"n{number}" if call is None else f"n{call}.{number}"


def _call(table: Facts, event: BackwardStarted) -> CallFact:
    order = 1
    for root in event.roots:
        table.roots[root.tensor].append(event.call)
        fact = table.tensors.get(root.tensor)
        if fact is not None:
            order = max(order, 1 + _highest_order(table, root.tensor))
    call = table.calls[event.call] = CallFact(event.call, event, event.index, len(table.trace.events), order)
    return call


def _highest_order(table: Facts, tensor: int) -> int:
    """The highest order among the ops that a backward from `tensor` would reach."""
    fact = table.tensors[tensor]
    first = table.producer(tensor, fact.last) if fact.versions else None
    if first is None:
        return 0
    if not table.derived:
        return 0
    highest, seen, todo = 0, {first}, [first]
    while todo:
        op = todo.pop()
        highest = max(highest, table.ops[op].order)
        record = table.ops[op].event.node
        for edge in record.edges if record else ():
            following = table.op_of_node.get(edge.node) if edge is not None and edge.node is not None else None
            if following is not None and following not in seen:
                seen.add(following)
                todo.append(following)
    return highest


def is_refused(facts: Facts, event: BackwardStarted) -> bool:
    """Whether a backward call was refused before it ran anything."""
    call = facts.calls.get(event.call)
    return call is not None and not call.completed and not call.vjps
