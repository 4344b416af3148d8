"""Scopes of a program, nested as it runs: iterations of loops, calls of functions, modules and libraries, ops that a
backward call recorded.

`reader` finds them in the call stacks. The functions here complete the tree: they tell iterations of nested loops
apart, add calls of libraries, count repeated calls, and drop scopes that say nothing.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from engine.trace.events import Frame, LeafCreated, OpCalled, Trace
from engine.trace.loops import NAMELESS

from ..reading.facts import Facts
from ..reading.source_text import source
from . import nested_loops
from .nested_loops import Loop


class CountedName(NamedTuple):
    """The name of an iteration or of a call that is one of several: how the name begins for one and for many, and which
    one it is.

    `round 3` is one of `rounds 1–21`, `t = 2` one of `t = 0–20`.
    """

    one: str
    many: str
    which: str

    @property
    def name(self) -> str:
        return self.one + self.which

    def behind(self, text: str) -> CountedName:
        """The same with a text before it: `cell · t = 2`."""
        return CountedName(text + self.one, text + self.many, self.which)


Part = Literal[
    "",
    "module",  # a call of a module
    "update",  # a step of an optimiser, and its ops
    "start",  # sets the parameters before their first use
    "data",  # the data of the model, without a gradient
    "aside",  # computed from its results, without a gradient
]
"""The role of a group beside a model: `quiet` has the last four, which are folded beside it."""


@dataclass(slots=True)
class Scope:
    """A group while it is read and afterwards. `members` are its direct ones, `key` says which loop or call it is.

    An iteration of a loop has its number, `iteration`, and if known the value of the loop's variable, `text`. Its
    `earliest` is the first statement of the loop, counted from 1, that each iteration runs and that had an op in this
    one. One of several has a `counted` name.
    """

    id: str
    label: str
    within: Scope | None
    key: tuple[object, ...]
    members: list[int | Scope] = field(default_factory=list)
    statement: int = -1
    earliest: int = 0
    seen: set[tuple[int, int, int, int]] = field(default_factory=set)
    latest: tuple[int, int, int, int] | None = None
    iteration: int = 0
    loop: Loop | None = None
    text: str | None = None
    counted: CountedName | None = None
    kin: str = ""
    """What it has in common with equal groups, if that is not the label: the function that is called, or the class of a
    module that the program holds."""
    ranges: Mapping[str, tuple[CountedName, CountedName]] = field(default_factory=dict)
    """For a part: its first and last iteration or call, by how their names begin."""
    part: Part = ""

    @property
    def value(self) -> str | None:
        """The variable of the loop in this iteration, if it says more than its number."""
        return None if self.loop is None or self.loop.variable == NAMELESS else self.text

    @property
    def nth_iteration(self) -> CountedName:
        """`step = 2`; `round 3` if the loop has no variable that says more."""
        if self.loop is None or self.value is None:
            return CountedName("round ", "rounds ", str(self.iteration))
        return CountedName(f"{self.loop.variable} = ", f"{self.loop.variable} = ", self.value)

    def count(self, counted: CountedName) -> None:
        """Name it as one of several."""
        self.counted, self.label = counted, counted.name


@dataclass(slots=True)
class Tree:
    """The scopes of a trace: `top` contains all of them, `ops` has the ops that their members number.

    `loops` are those of each file, `runs` the scopes in which a line of a file ran: it runs once in each iteration, and
    once in each call without loops. `ids` names further scopes, `updates` says whether an optimiser makes a step.
    """

    trace: Trace
    loops: Mapping[str, tuple[Loop, ...]]
    ids: Iterator[str] = field(default_factory=lambda: (f"g{number}" for number in itertools.count()))
    top: Scope = field(default_factory=lambda: Scope("g", "", None, ()))
    ops: list[OpCalled] = field(default_factory=list)
    leaves: list[LeafCreated] = field(default_factory=list)
    runs: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    updates: bool = False


def inner_first(top: Scope) -> list[Scope]:
    """A scope and all scopes in it, in the order in which they end."""
    scopes, todo = [], [top]
    while todo:
        scopes.append(todo.pop())
        todo += [member for member in scopes[-1].members if isinstance(member, Scope)]
    return scopes[::-1]


def place_of(frame: Frame) -> tuple[int, int, int, int]:
    return frame.line, frame.col, frame.end_line, frame.end_col


def ops_of(scope: Scope) -> list[int]:
    """The ops in a scope, those of inner scopes first."""
    return [k for one in inner_first(scope) for k in one.members if isinstance(k, int)]


def nest(tree: Tree) -> None:
    """Distribute the iterations of an inner loop over those of an outer loop that has nothing else, inner loops
    first."""
    further: dict[str, list[Scope]] = {}
    for scope in inner_first(tree.top):
        scope.members = [
            one for member in scope.members
            for one in ([member, *further.pop(member.id)] if isinstance(member, Scope) else [member])
        ]  # fmt: skip
        further[scope.id] = _rounds_around(scope, tree)


def _rounds_around(outer: Scope, tree: Tree) -> list[Scope]:
    """The further iterations of an outer loop of which one was read.

    That one keeps its own ops and those before the inner loop; the ops after the inner loop belong to the last one.
    """
    iterations = [m for m in outer.members if isinstance(m, Scope) and m.key[0] == "loop"]
    if (
        len(iterations) < 2
        or len({m.key for m in iterations}) > 1
        or outer.key[:1] != ("loop",)
        or outer.within is None
    ):
        return []
    begin = next(n for n, m in enumerate(outer.members) if m is iterations[0])
    before, after = outer.members[:begin], outer.members[begin + len(iterations) :]
    inner = next(
        (loop for loop in tree.loops.get(str(iterations[0].key[1]), ()) if loop.line == iterations[0].key[-1]), None
    )
    if (
        outer.members[begin : begin + len(iterations)] != iterations
        or iterations[0].key[1] != outer.key[1]
        or inner is None
    ):
        return []
    reached = [{sum(start <= place[0] for start in inner.starts) for place in m.seen} for m in iterations]
    sure = inner.length is not None and any(all(n in r for r in reached) for n in inner.sure)
    is_named = outer.text is not None  # then it is this single iteration
    each = (
        inner.length
        if sure
        else None
        if is_named
        else nested_loops.period([[tree.ops[k] for k in ops_of(m)] for m in iterations])
    )
    if not each or each >= len(iterations):
        return []
    for n, one in enumerate(iterations):
        one.iteration = n % each + 1
        one.count(one.nth_iteration)
    outer.members = [*before, *iterations[:each]]
    names = []
    for start in range(each, len(iterations), each):
        scope = Scope(next(tree.ids), "", outer.within, outer.key, list(iterations[start : start + each]))
        scope.iteration = outer.iteration + start // each
        scope.seen, scope.loop, scope.text = outer.seen, outer.loop, outer.text
        scope.count(scope.nth_iteration)
        names.append(scope)
    names[-1].members += after
    return names


def number_alike(top: Scope) -> None:
    """Name the iterations of a loop by their numbers if its variable has one value in all of them, as a reward has."""
    for scope in inner_first(top):
        loops: dict[tuple[object, ...], list[Scope]] = {}
        for one in scope.members:
            if isinstance(one, Scope) and one.iteration:
                loops.setdefault(one.key, []).append(one)
        for iterations in loops.values():
            if len(iterations) > 1 and len({one.text for one in iterations}) == 1 and iterations[0].value is not None:
                for one in iterations:
                    one.text = None
                    one.count(one.nth_iteration)


def iterations_around_all(top: Scope) -> tuple[dict[int, tuple[str, ...]], dict[int, tuple[str, ...]]]:
    """The names of the iterations around each op and backward call in a loop, outermost first."""
    ops: dict[int, tuple[str, ...]] = {}
    calls: dict[int, tuple[str, ...]] = {}
    todo: list[tuple[Scope, tuple[str, ...]]] = [(top, ())]
    while todo:
        scope, names = todo.pop()
        if names and scope.key[:1] == ("backward",) and isinstance(scope.key[-1], int):
            calls[scope.key[-1]] = names
        for member in scope.members:
            if isinstance(member, Scope):
                todo.append((member, (*names, member.nth_iteration.name) if member.iteration else names))
            elif names:
                ops[member] = names
    return ops, calls


def wrap(tree: Tree, least: int) -> None:
    """Put the ops of one library call, if there are `least` or more, into a group of their own: `jacobian(f, x)`.

    A module's call already has its group.
    """
    filled: set[str] = set()
    for scope in inner_first(tree.top):
        scope.members = [member for member in scope.members if isinstance(member, int) or member.id in filled]
        if scope.members:
            filled.add(scope.id)
    todo = [tree.top]
    while todo:
        scope = todo.pop()
        inside = [member for member in _wrapped(scope, tree, least) if isinstance(member, Scope)]
        todo += inside[::-1]


def _wrapped(scope: Scope, tree: Tree, least: int) -> list[int | Scope]:
    """The same for the direct members of a scope; returns all of them, including those that are now in groups."""
    members, scope.members = scope.members, []
    for place, together in itertools.groupby(members, lambda member: _called_from(member, tree)):
        run = list(together)
        direct = [member for member in run if isinstance(member, int)]
        much = len(direct) >= least and place is not None and place != _called_by(scope)
        name = _callee(_text(direct[0], tree)) if much else ""
        if not name:
            scope.members += run
            continue
        call = Scope(next(tree.ids), name, scope, ("library", place), run)
        scope.members.append(call)
        for member in run:
            if isinstance(member, Scope):
                member.within = call
    return members


def _called_by(scope: Scope) -> object:
    """The position in the program of the module's call that a scope stands for."""
    return scope.key[-1] if scope.key[:1] == ("module",) else None


def _called_from(member: int | Scope, tree: Tree) -> object:
    """The position in the program from which an op, or the call of a function, comes."""
    if isinstance(member, Scope):
        return member.key[-1] if member.key[0] == "call" else None
    stack = tree.ops[member].stack
    frames = tree.trace.stacks[stack] if 0 <= stack < len(tree.trace.stacks) else ()
    return place_of(frames[-1]) if frames else None


def _callee(text: str) -> str:
    """The name of the function in a call, or `@`, which PyTorch turns into several ops; "" for other expressions.

    >>> _callee("F.softmax(s @ q, -1)"), _callee("self.q(x) @ self.k(x).T"), _callee("x[0] * 2")
    ('softmax', '@', '')
    """
    try:
        expression = ast.parse(text, mode="eval").body
    except SyntaxError:  # part of a statement
        return ""
    match expression:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
        case ast.BinOp(op=ast.MatMult()):
            return "@"
    return ""


def _text(op: int, tree: Tree) -> str:
    frames = tree.trace.stacks[tree.ops[op].stack]
    return source(tree.trace, frames[-1], limit=200)


def number(top: Scope) -> None:
    """Count the calls that one position of the program makes repeatedly in a group, as a comprehension does: they are
    named like those of a loop."""
    for scope in inner_first(top):
        inside = [member for member in scope.members if isinstance(member, Scope)]
        calls = [member for member in inside if member.key[0] in ("call", "module")]
        often = Counter(call.key for call in calls)
        nth: Counter[object] = Counter()
        for call in calls:
            nth[call.key] += 1
            if often[call.key] > 1:
                begin, call.kin = f"{call.label} · ", call.kin or call.label
                call.count(CountedName(begin, begin, str(nth[call.key])))


def plain(label: str) -> str:
    """The name of a group without its class.

    >>> plain("blocks.3: Block")
    'blocks.3'
    """
    return label.partition(": ")[0]


def tell_by_members(tree: Tree, facts: Facts) -> None:
    """Name the iterations of `for p in parameters` by the leaf that each uses, `p = W1`, and those of `for layer in
    layers` by the module that each calls, `layer = layers.0`.  Cost: linear in ops times the depth of loops."""
    for scope in inner_first(tree.top):
        loops: dict[tuple[object, ...], list[Scope]] = {}
        for one in scope.members:
            if isinstance(one, Scope) and one.loop is not None and one.loop.variable not in (None, NAMELESS):
                loops.setdefault(one.key, []).append(one)
        for iterations in loops.values():
            unnamed = [one for one in iterations if one.value is None]
            if len(unnamed) < max(len(iterations), 2):
                continue
            for names in (
                [_only_leaf(one, tree, facts) for one in iterations],
                [_only_module(one) for one in iterations],
            ):
                if len(set(names)) == len(names) and all(names):
                    for one, name in zip(iterations, names, strict=True):
                        one.text = name
                        one.count(one.nth_iteration)
                    break


def _only_leaf(scope: Scope, tree: Tree, facts: Facts) -> str:
    """The name of the leaf that the ops of a scope use, where gradients end; "" for none and for several."""
    inputs = {one.tensor for op in ops_of(scope) for one in tree.ops[op].inputs if one.tensor in facts.tensors}
    leaves = [tensor for tensor in inputs if tensor is not None and facts.tensors[tensor].leaf_versions]
    return facts.names.get(leaves[0], "") if len(leaves) == 1 else ""


def _only_module(scope: Scope) -> str:
    """The name of the module that a scope calls; "" for none and for several."""
    calls = [plain(one.label) for one in scope.members if isinstance(one, Scope) and one.key[0] == "module"]
    return calls[0] if len(calls) == 1 else ""


def prune(top: Scope, always: AbstractSet[str]) -> None:
    """Drop groups of fewer than two ops, except those in `always`, and groups that contain everything: a box around all
    says nothing."""
    for scope in inner_first(top):
        members: list[int | Scope] = []
        named = Counter(_only(member) for member in scope.members)
        for member in scope.members:
            if isinstance(member, int) or len(member.members) > 1 or member.id in always:
                members.append(member)
                continue
            for only in member.members:
                if isinstance(only, Scope) and member.part == only.part == "module":  # its caller's name for it
                    only.label, only.counted, only.kin, only.key = member.label, member.counted, member.kin, member.key
                elif isinstance(only, Scope) and member.iteration and only.iteration:
                    only.counted = member.nth_iteration
                    only.label = f"{member.nth_iteration.name}, {only.label}"
                elif isinstance(only, Scope) and only.part == "module" and named[only.label] == 1:
                    continue  # `blocks.3` is told apart by its own name
                elif isinstance(only, Scope) and member.iteration:  # an iteration that is one call: its call
                    only.kin = only.kin or only.label
                    only.count(member.nth_iteration.behind(f"{only.label} · "))
            members.extend(member.members)
        scope.members = members
    while len(top.members) == 1 and isinstance(top.members[0], Scope):
        top.members = top.members[0].members


def _only(member: int | Scope) -> str:
    """The name of the call that is all of a member; "" if there is none."""
    only = member.members[0] if isinstance(member, Scope) and len(member.members) == 1 else None
    return only.label if isinstance(only, Scope) else ""
