"""The parts beside a model through which no gradient passes: its data, and what is computed from its results.

Each part is one group, folded until it is opened. Data depends on nothing else in its scope, and nothing else there
depends on the other part, so neither closes a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import groupby, takewhile

from engine.trace.events import Accumulated, BackwardEnded, ErrorRaised, LeafCreated, OpCalled, VjpRun

from .scopes import Part, Scope, Tree, inner_first, ops_of

LABELS: Mapping[Part, str] = {"data": "data", "update": "update", "start": "initialization", "aside": "no gradient"}
"""The names of the groups beside a model."""
WITHOUT_EDGES: frozenset[Part | None] = frozenset({"start", "update", "aside"})
"""The groups without edges: the first two only write to parameters, which are in the modules that use them, and the
results of the last one are not used, while its edges from everywhere would cross the picture."""


def owners(tree: Tree) -> frozenset[str]:
    """The calls of modules that take parameters or buffers themselves, so that these are drawn inside them."""
    names = tree.trace.names
    tensors = {leaf.tensor for leaf in tree.leaves if is_owned(leaf, names.get(leaf.tensor, ""))}
    tensors -= _homeless(tree, tensors)
    scopes: set[str] = set()
    todo: list[tuple[Scope, str]] = [(tree.top, "")]
    while todo:
        scope, module = todo.pop()
        module = scope.id if scope.part == "module" else module
        todo += [(member, module) for member in scope.members if isinstance(member, Scope)]
        if module and any(i.tensor in tensors for op in _own(scope, tree) for i in op.inputs):
            scopes.add(module)
    return frozenset(scopes)


def _homeless(tree: Tree, tensors: AbstractSet[int]) -> set[int]:
    """The parameters of modules that are not called themselves, nor within one that is: a module that only computes
    with one, such as a transform to positive numbers, is not where it belongs."""
    called = {str(scope.key[1]) for scope in inner_first(tree.top) if scope.part == "module"}
    homeless: set[int] = set()
    for tensor in tensors:
        parts = tree.trace.names.get(tensor, "").split(".")[:-1]
        around = {".".join(parts[start:end]) for end in range(1, len(parts) + 1) for start in range(end)}
        if parts and called.isdisjoint(around):
            homeless.add(tensor)
    return homeless


def telling(tree: Tree) -> frozenset[str]:
    """The calls of modules whose only op has another name: `dropout1: Dropout`, which multiplies by a mask."""
    scopes: set[str] = set()
    for scope in inner_first(tree.top):
        ops = ops_of(scope) if scope.part == "module" else []
        if len(ops) == 1 and isinstance(scope.key[2], str):
            name = tree.ops[ops[0]].name.replace("_", "")
            if not name.startswith(scope.key[2].lower()):
                scopes.add(scope.id)
    return frozenset(scopes)


def is_owned(leaf: LeafCreated, name: str) -> bool:
    """Return whether a leaf may belong to a module: `net.0.weight`, but not `x`."""
    return leaf.source in ("parameter", "buffer") or (leaf.requires_grad and name != "" and not name.isidentifier())


def lift(tree: Tree, owning: AbstractSet[str]) -> str:
    """Open the only model of a program: the contents of its call are drawn at the top level instead of the call.

    Returns its name, including the modules in it that contain everything else, as a path; "" if several models or none
    are called. A module without parameters, such as a loss, is not a model: `owning` has those with parameters.
    """
    top, holding = tree.top, _holding(tree.top, owning)
    path: list[str] = []
    while True:
        models = [one for one in top.members if isinstance(one, Scope) and one.id in holding]
        model = models[0] if len(models) == 1 else None
        if model is None or model.part != "module" or not (holding & _inside(model)):
            return " › ".join(path)
        place = top.members.index(model)
        if path and any(one is not model for one in top.members if _has_gradient(one, tree)):
            return " › ".join(path)
        path.append(model.label)
        top.members[place : place + 1] = model.members
        for member in model.members:
            if isinstance(member, Scope):
                member.within = top


def open_single_iterations(tree: Tree) -> None:
    """Open each loop that ran once and contains all ops with a gradient, also inside a function that contains them all:
    its frame would break the picture into lines, and there is no other iteration to tell it from."""
    scope = tree.top
    while True:
        members = [one for one in scope.members if _has_gradient(one, tree)]
        around = members[0] if len(members) == 1 else None
        if not isinstance(around, Scope):
            return
        if around.iteration and sum(_is_of(around, one) for one in scope.members) == 1:
            place = next(n for n, one in enumerate(scope.members) if one is around)
            scope.members[place : place + 1] = around.members
            for member in around.members:
                if isinstance(member, Scope):
                    member.within = scope
        elif around.key[0] == "call":
            scope = around
        else:
            return


def _is_of(iteration: Scope, member: int | Scope) -> bool:
    """Return whether a member of a scope is an iteration of the same loop."""
    return isinstance(member, Scope) and member.key == iteration.key


def _has_gradient(member: int | Scope, tree: Tree) -> bool:
    if isinstance(member, Scope) and member.part in ("update", "data", "aside"):
        return False
    ops = [member] if isinstance(member, int) else ops_of(member)
    return any(tree.ops[op].node is not None or tree.ops[op].call is not None for op in ops)


def _inside(scope: Scope) -> set[str]:
    return {inner.id for inner in inner_first(scope)} - {scope.id}


def _holding(top: Scope, owning: AbstractSet[str] | None = None) -> set[str]:
    """The calls of modules (only those in `owning`), and the scopes around them."""
    holding: set[str] = set()
    for scope in inner_first(top):
        inside = (one.id for one in scope.members if isinstance(one, Scope))
        counts = scope.part == "module" if owning is None else scope.id in owning
        if counts or not holding.isdisjoint(inside):
            holding.add(scope.id)
    return holding


def gather(tree: Tree, lines: Callable[[Sequence[int], Tree], str]) -> None:
    """Put data, and the rest that passes no gradient, into a group each, in every scope that calls modules.

    Inside a module's own call, as for a mask, these groups are named by their `lines`. A single op stays as it is. A
    module of which no op passes a gradient is such a group itself. Cost: linear in ops times the depth of such scopes.
    """
    holding = _holding(tree.top)
    tensors = _Tensors(tree)
    todo = [tree.top]
    while todo:
        scope = todo.pop()
        if scope.part not in ("", "module") or scope.id not in holding:
            continue
        inside = [member for member in scope.members if isinstance(member, Scope)]
        finds: list[tuple[Part, Callable[[Sequence[_Member]], list[_Member]]]]
        finds = [("data", tensors.data), ("update", tensors.update)]
        if not (scope.part or scope.iteration):
            finds.append(("start", tensors.start))
        finds.append(("aside", tensors.independent_members if scope.part else tensors.unused_members))
        for part, find in finds:
            members: list[_Member] = find([tensors.of(member) for member in scope.members])
            ops = [op for member in members for op in member.ops]
            if scope.part == "module" and len(members) == len(scope.members):
                scope.part = part
                break
            if len(ops) >= (2 if scope.part else 1):
                _wrap(scope, tree, members, part, lines(ops, tree) if scope.part else LABELS[part])
        else:
            todo += inside


def join_steps(tree: Tree) -> None:
    """Put the steps that one position of the program makes in a row into one group: a library may have an optimiser for
    each parameter."""
    for scope in inner_first(tree.top):
        members, scope.members = scope.members, []
        for position, alike in groupby(members, _step_at):
            run = list(alike)
            if position is None or len(run) < 2:
                scope.members += run
                continue
            steps = Scope(next(tree.ids), "", scope, ("quiet", "update"), run, part="update")
            for step in run:
                if isinstance(step, Scope):
                    steps.label = f"{step.kin or step.label} × {len(run)}"
                    step.within = steps
            scope.members.append(steps)


def _step_at(member: int | Scope) -> object:
    """The position of the program that makes a step of an optimiser; None of anything else."""
    return member.key if isinstance(member, Scope) and member.part == "update" else None


@dataclass(slots=True)
class _Member:
    """A direct member of a scope: the tensors that it takes and gives, and the storages that it reads and writes."""

    scope: int | Scope
    ops: list[int]
    takes: set[int] = field(default_factory=set)
    gives: set[int] = field(default_factory=set)
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    has_gradient: bool = False
    parts: set[Part] = field(default_factory=set)

    def uses(self, other: _Member) -> bool:
        return not (self.takes.isdisjoint(other.gives) and self.reads.isdisjoint(other.writes))

    def join(self, other: _Member) -> None:
        """Add the tensors and storages of another member."""
        self.takes |= other.takes
        self.gives |= other.gives
        self.reads |= other.reads
        self.writes |= other.writes


class _Tensors:
    """The storages of the tensors of a program, and the tensors that require a gradient or are one."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.storages = {leaf.tensor: leaf.storage for leaf in tree.leaves}
        self.storages |= {out.tensor: out.storage for op in tree.ops for out in op.outputs}
        self.gradients = {leaf.tensor for leaf in tree.leaves if leaf.source == "grad"}
        for event in tree.trace.events:
            if isinstance(event, Accumulated):
                self.gradients.add(event.grad)
            elif isinstance(event, BackwardEnded):
                self.gradients.update(tensor for tensor in event.results if tensor is not None)
        events = tree.trace.events
        failed = any(isinstance(event, ErrorRaised) for event in events)
        self.reached = set() if failed else {event.node for event in events if isinstance(event, VjpRun)}
        parameters = {leaf.tensor for leaf in tree.leaves if leaf.requires_grad}
        self.asking = self.gradients | parameters
        self.unreached_parameters = parameters.difference(
            one.tensor for op in tree.ops if self._is_reached(op) for one in op.inputs if one.tensor is not None
        )

    def of(self, scope: int | Scope) -> _Member:
        member = _Member(scope, [scope] if isinstance(scope, int) else sorted(ops_of(scope)))
        for inner in [] if isinstance(scope, int) else inner_first(scope):
            member.parts.add(inner.part)
        for op in [self.tree.ops[number] for number in member.ops]:
            tensors = {one.tensor for one in op.inputs if one.tensor is not None}
            member.takes |= tensors
            member.reads |= {self.storages[one] for one in tensors if one in self.storages}
            member.gives |= {out.tensor for out in op.outputs}
            if op.inplace is not None:
                member.writes |= {out.storage for out in op.outputs}
            member.has_gradient |= op.call is not None or op.node is not None
        return member

    def data(self, members: Sequence[_Member]) -> list[_Member]:
        """The members without a gradient that depend on no other member, nor on a tensor that requires a gradient."""
        others, result = _Member(-1, [], gives=set(self.asking)), []
        for member in members:
            if member.has_gradient or not member.parts <= {""} or member.uses(others):
                others.join(member)
            else:
                result.append(member)
        return result

    def update(self, members: Sequence[_Member]) -> list[_Member]:
        """The members without a gradient that take one, for instance to clip it, or the result of such a member."""
        others, result = _Member(-1, [], gives=set(self.gradients)), []
        for member in members:
            if not member.has_gradient and member.parts <= {""} and member.uses(others):
                result.append(member)
                others.join(member)
        return result

    def start(self, members: Sequence[_Member]) -> list[_Member]:
        """The members before the first gradient that write to tensors that require one, and those that these use."""
        asking = {self.storages[tensor] for tensor in self.asking if tensor in self.storages}
        before = takewhile(lambda one: not one.has_gradient and one.parts <= {"", "data", "update"}, members)
        users, result = _Member(-1, []), []
        for member in reversed(list(before)):
            if member.parts <= {""} and (users.uses(member) or not member.writes.isdisjoint(asking)):
                users.join(member)
                result.append(member)
        return result[::-1]

    def independent_members(self, members: Sequence[_Member]) -> list[_Member]:
        """The members without a gradient on which no other member depends."""
        return _independent(members, lambda member: member.has_gradient)

    def unused_members(self, members: Sequence[_Member]) -> list[_Member]:
        """As `independent_members`, with those that no backward call reaches: `output.mean()`, to be printed.

        A member with a parameter that only it takes is drawn, as the parameter is.
        """
        return _independent(members, lambda member: member.has_gradient and self._is_used(member))

    def _is_used(self, member: _Member) -> bool:
        """Return whether a backward call ran through a member, or might have run: the program has none, or failed."""
        ops = [self.tree.ops[op] for op in member.ops]
        if not self.reached or not self.unreached_parameters.isdisjoint(member.takes):
            return True
        return any(op.call is not None or self._is_reached(op) for op in ops)

    def _is_reached(self, op: OpCalled) -> bool:
        return op.node is not None and op.node.node in self.reached


def _independent(members: Sequence[_Member], is_drawn: Callable[[_Member], bool]) -> list[_Member]:
    """The members that are not drawn for themselves, and on which no other member depends."""
    others, result = _Member(-1, []), []
    for member in reversed(members):
        if is_drawn(member) or not member.parts <= {"", "module"} or others.uses(member):
            others.join(member)
        else:
            result.append(member)
    return result[::-1]


def _wrap(scope: Scope, tree: Tree, members: Sequence[_Member], part: Part, label: str) -> None:
    """Put members of a scope into a group of their own, in the position of the first; a single call keeps its own
    name."""
    if part == "update" and len(members) == 1 and isinstance(members[0].scope, Scope):
        members[0].scope.part = part
        return
    group = Scope(next(tree.ids), label, scope, ("quiet", part), [member.scope for member in members], part=part)
    inside = {member.id if isinstance(member, Scope) else member for member in group.members}
    contents: list[int | Scope] = []
    for member in scope.members:
        if (member.id if isinstance(member, Scope) else member) not in inside:
            contents.append(member)
            continue
        if not any(one is group for one in contents):
            contents.append(group)
        if isinstance(member, Scope):
            member.within = group
    scope.members = contents


def _own(scope: Scope, tree: Tree) -> list[OpCalled]:
    return [tree.ops[member] for member in scope.members if isinstance(member, int)]
