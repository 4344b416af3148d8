"""Groups of ops, as the program is written: iterations of a loop, calls of a function or a module, ops that a backward
call recorded.

A group is an interval of the recorded order, so groups nest and the graph between them has no cycle.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..reading.facts import Facts
from ..reading.source_text import source
from .gradient_free import gather, join_steps, lift, open_single_iterations, owners, telling
from .nested_loops import Loop
from .reader import read
from .recursion import flatten, unroll
from .scopes import (
    CountedName,
    Part,
    Scope,
    Tree,
    inner_first,
    iterations_around_all,
    nest,
    number,
    number_alike,
    ops_of,
    plain,
    prune,
    tell_by_members,
    wrap,
)

MOST_MEMBERS = 40
"""The number of direct members above which a group is cut into parts, so that each fits on a screen."""

LONG = 150
"""The number of ops up to which a program has no stacks: it is shown as a whole, with each iteration."""
SERIES = 10
"""The number of equal groups in a row from which on they are a stack, because so many boxes fill a screen."""
MOST_IN_STACK = 120
"""The most members of a stack, so that each is visible in its strip; if there are more, they form stacks of stacks."""

MOST_NAMES = 2
"""The number of names of its members that a part has in its own name."""

LIBRARY, LIBRARY_OF_MANY = 8, 2
"""The number of ops of one library call from which on they are a group; the second for a program that is too long to
draw all."""
LINE = 40
"""The characters of a line of the program in the name of a part."""
_NUMBER = re.compile(r"\d+$")


@dataclass(frozen=True)
class Grouping:
    """`labels` and `within` by group id (outermost first), `of` the innermost group of each op (None: none).

    `calls` are the groups that are one call of a function or a module each, `callers` the positions that call them,
    `library` the groups of a library function's ops, `loops` those that are one iteration, with its loop, `parts` cuts
    of groups with too many members for a screen. `kin` is what equal groups have in common: a function, the class of
    modules, or their label. `iterations` has the names of the iterations around each op in a loop, outermost first:
    `("epoch = 0", "i = 3")`; `iterations_of_calls` the same for each backward call. `runs` says how often each line of
    a file called an op, a module or a backward call.
    """

    labels: Mapping[str, str]
    within: Mapping[str, str | None]
    of: Mapping[int, str | None]
    calls: frozenset[str] = frozenset()
    library: frozenset[str] = frozenset()
    loops: Mapping[str, Loop] = field(default_factory=dict)
    parts: frozenset[str] = frozenset()
    callers: Mapping[str, object] = field(default_factory=dict)
    kin: Mapping[str, str] = field(default_factory=dict)
    iterations: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    iterations_of_calls: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    quiet: Mapping[str, Part] = field(default_factory=dict)
    stacks: frozenset[str] = frozenset()
    model: str = ""
    runs: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @cached_property
    def paths(self) -> Mapping[str | None, tuple[str, ...]]:
        """By group, the group and those around it, innermost first; none for None."""
        paths: dict[str | None, tuple[str, ...]] = {None: ()}
        for group in self.within:
            path: list[str] = []
            around: str | None = group
            while around is not None and around not in paths:
                path.append(around)
                around = self.within[around]
            paths[group] = (*path, *paths[around])
        return paths


def groups(facts: Facts) -> Grouping:
    """The groups of a trace. Cost: linear in its events times the depth of the calls."""
    tree = read(facts)
    nest(tree)
    number_alike(tree.top)
    iterations, of_calls = iterations_around_all(tree.top)
    drawn_twice = len(tree.leaves) if tree.updates else 0  # before and after the step of an optimiser
    is_large = len(tree.ops) + drawn_twice > MOST_MEMBERS
    wrap(tree, LIBRARY_OF_MANY if is_large else LIBRARY)
    unroll(tree)
    number(tree.top)
    tell_by_members(tree, facts)
    if is_large:
        join_steps(tree)
    owning: frozenset[str] = owners(tree) if is_large else frozenset()
    always = owning | telling(tree) if is_large else owning
    prune(tree.top, always)
    flatten(tree)
    prune(tree.top, always)
    model = ""
    if is_large:
        open_single_iterations(tree)
        model = lift(tree, owning)
        gather(tree, lines_of)
        for scope in inner_first(tree.top):
            if len(tree.ops) > LONG:
                _stack(scope, tree)
            _cut(scope, tree)
    if model:
        renamed = _by_place(tree.top)
        owning = frozenset(renamed[scope] for scope in owning & renamed.keys())
    runs = {line: len(scopes) for line, scopes in tree.runs.items()}
    grouping = replace(
        _collect(tree.top), iterations=iterations, iterations_of_calls=of_calls, owners=owning, model=model, runs=runs
    )
    return grouping if is_large else replace(grouping, modules=frozenset(), quiet={})


def _stack(scope: Scope, tree: Tree) -> None:
    """Make a stack of each series of equal groups: modules in one list, iterations of a loop, calls from one
    position."""
    members, scope.members = scope.members, []
    for series, alike in itertools.groupby(members, lambda member: _series(member, tree)):
        run = list(alike)
        scope.members += run if series is None or len(run) < SERIES else [_stack_of(run, scope, tree)]


def _stack_of(run: list[int | Scope], within: Scope, tree: Tree, name: str = "") -> Scope:
    """One stack of a series; a long series becomes a stack of stacks, with about as many stacks as each has members."""
    ranges, labels = _ranges(run), [member.label for member in run if isinstance(member, Scope)]
    holder, _, place = labels[0].partition(":")[0].rpartition(".")
    in_list = f"{holder} × {len(run)}" if holder and place.isdigit() else ""
    label = name or in_list or _span(run, ranges, tree)
    stack = Scope(next(tree.ids), label, within, ("stack", within.id), ranges=ranges)
    depth = math.ceil(math.log(len(run), MOST_IN_STACK))
    length = math.ceil(len(run) / math.ceil(len(run) ** (1 / depth)))
    for start in range(0, len(run), length):
        part, named = run[start : start + length], labels[start : start + length]
        inner = range_label(plain(named[0]), plain(named[-1]))
        stack.members.append(part[0] if len(part) == 1 else _stack_of(part, stack, tree, inner))
    for member in stack.members:
        if isinstance(member, Scope):
            member.within = stack
    return stack


def _series(member: int | Scope, tree: Tree) -> tuple[object, ...] | None:
    """The key that equal groups share: the loop, the function or the module (for `blocks.3` the class, and the list
    `blocks` that holds it), and the ops in them; None for an op or a group that stands alone."""
    if isinstance(member, int) or member.part == "update" or member.key[0] not in ("loop", "call", "module"):
        return None
    own: tuple[object, ...] = member.key
    if member.key[0] == "module":
        holder, _, place = str(member.key[1]).rpartition(".")
        own = ("module", holder, member.key[2]) if place.isdigit() else member.key[:3]
    return (*own, tuple(tree.ops[op].name for op in ops_of(member)))


def _cut(scope: Scope, tree: Tree) -> None:
    """Cut a group with too many members into parts, about as many as each has members; if there are very many, the
    parts again.

    The parts beside a model stay where they are.
    """
    quiet = {"start", "data", "update", "aside"} - {scope.part}
    beside = [one for one in scope.members if isinstance(one, Scope) and one.part in quiet]
    while len(scope.members) - len(beside) > MOST_MEMBERS:
        members = [one for one in scope.members if not any(one is other for other in beside)]
        count = len(members)
        length = max(2, math.ceil(count ** (1 / math.ceil(math.log(count, MOST_MEMBERS)))))
        scope.members = list(beside)
        for start in range(0, count, length):
            part = members[start : start + length]
            ranges = _ranges(part)
            first = part[0]
            kin = first.kin if 0 < len(ranges) <= MOST_NAMES and isinstance(first, Scope) else ""
            label = _span(part, ranges, tree)
            scope.members.append(Scope(next(tree.ids), label, scope, ("part", start), part, kin=kin, ranges=ranges))
        _tell_apart([one for one in scope.members if isinstance(one, Scope)])


def _ranges(part: list[int | Scope]) -> dict[str, tuple[CountedName, CountedName]]:
    """The first and the last of a repeated name in a run of members, by how the names begin: `t = `, `cell · `; none if
    it also has other members."""
    result: dict[str, tuple[CountedName, CountedName]] = {}
    for member in part:
        if isinstance(member, int):
            return {}
        ranges = member.ranges
        if not ranges and member.counted is not None:
            ranges = {member.counted.one: (member.counted, member.counted)}
        if not ranges:
            return {}
        for begin, (first, last) in ranges.items():
            result[begin] = result.get(begin, (first, last))[0], last
    return result


def _span(part: list[int | Scope], ranges: Mapping[str, tuple[CountedName, CountedName]], tree: Tree) -> str:
    """A name for a run of members: `t = 0–20`, `rounds 1–21`, `block × 5`, `blocks.0–6`, or its lines."""
    if ranges and len(ranges) <= MOST_NAMES:
        return ", ".join(_range(first, last) for first, last in ranges.values())
    labels = [member.label for member in part if isinstance(member, Scope)]
    if len(labels) == len(part) and len(set(labels)) == 1:
        return f"{labels[0]} × {len(part)}"
    if len(labels) < 2:
        return lines_of(
            [op for member in part for op in ([member] if isinstance(member, int) else ops_of(member))], tree
        )
    return range_label(plain(labels[0]), plain(labels[-1]))


def range_label(first: str, last: str) -> str:
    """`blocks.0–6`; for names that are not numbers `tok.weight … head.weight`; a name that is both is itself.

    >>> range_label("blocks.0", "blocks.6"), range_label("t = 3", "t = 12"), range_label("tok.weight", "head.weight")
    ('blocks.0–6', 't = 3–12', 'tok.weight … head.weight')
    >>> range_label("line 5", "line 5")
    'line 5'
    """
    if first == last:
        return first
    one, end = (_NUMBER.search(name) for name in (first, last))
    if one is None or end is None or first[: one.start()] != last[: end.start()]:
        return f"{first} … {last}"
    return f"{first}–{end[0]}".replace("round ", "rounds ")


def lines_of(ops: Sequence[int], tree: Tree) -> str:
    """The lines of the program that run ops: `line 31: x + self.attn(…)`, `lines 31–40`."""
    stacks = [tree.trace.stacks[tree.ops[op].stack] for op in (ops[0], ops[-1]) if tree.ops[op].stack >= 0]
    frames = [frames[-1] for frames in stacks if frames]
    if not frames:
        return f"{len(ops)} ops"
    first, last = sorted(frame.line for frame in (frames[0], frames[-1]))
    return f"line {first}: {source(tree.trace, frames[0], LINE)}" if first == last else f"lines {first}–{last}"


def _tell_apart(parts: Sequence[Scope]) -> None:
    """Number parts of the same name, such as those of a line that runs repeatedly."""
    often, nth = Counter(part.label for part in parts), Counter[str]()
    for part in parts:
        if often[part.label] > 1 and part.key[0] == "part":
            nth[part.label] += 1
            part.label = f"{part.label} · {nth[part.label]}"


def _range(first: CountedName, last: CountedName) -> str:
    """`t = 0–20`; if the values are not counts `t = 0.5 … 2.0`."""
    if first.which == last.which:
        return first.name
    dash = "–" if first.which.isdigit() and last.which.isdigit() else " … "
    return f"{first.many}{first.which}{dash}{last.which}"


def _by_place(top: Scope) -> dict[str, str]:
    """Give each group an id by its position among those around it, `g3.1`, which is the same in each iteration of a
    training loop, whatever else ran in one.

    Returns the new ids by the old ones.
    """
    renamed: dict[str, str] = {}
    todo: list[tuple[Scope, str]] = [(top, "g")]
    while todo:
        scope, before = todo.pop()
        inside = [member for member in scope.members if isinstance(member, Scope)]
        for place, member in enumerate(inside):
            old, member.id = member.id, f"{before}{place}"
            renamed[old] = member.id
            todo.append((member, f"{member.id}."))
    return renamed


def _collect(top: Scope) -> Grouping:
    labels: dict[str, str] = {}
    kin: dict[str, str] = {}
    within: dict[str, str | None] = {}
    of: dict[int, str | None] = {}
    callers: dict[str, object] = {}
    library: set[str] = set()
    loops: dict[str, Loop] = {}
    parts: set[str] = set()
    stacks: set[str] = set()
    modules: set[str] = set()
    quiet: dict[str, Part] = {}
    todo: list[tuple[Scope, str | None]] = [(top, None)]
    while todo:
        scope, ident = todo.pop()
        iterations = Counter(member.key for member in scope.members if isinstance(member, Scope))
        for member in scope.members:
            if isinstance(member, int):
                of[member] = ident
            else:
                alone = member.iteration == 1 and iterations[member.key] == 1  # a single iteration is named as the loop
                loop = member.loop if alone and member.value is None else None
                labels[member.id] = member.label if loop is None else loop.label
                kin[member.id] = member.kin or labels[member.id]
                within[member.id] = ident
                if member.key[0] in ("call", "module"):
                    callers[member.id] = member.key[-1]
                if member.key[0] in ("part", "stack"):
                    parts.add(member.id)
                if member.key[0] == "stack":
                    stacks.add(member.id)
                if member.loop is not None:
                    loops[member.id] = member.loop
                if member.key[0] == "library":
                    library.add(member.id)
                if member.part == "module":
                    modules.add(member.id)
                elif member.part not in ("", scope.part):
                    quiet[member.id] = member.part
                todo.append((member, member.id))
    return Grouping(
        labels, within, of, frozenset(callers), frozenset(library), loops, frozenset(parts), callers, kin,
        modules=frozenset(modules), quiet=quiet, stacks=frozenset(stacks),
    )  # fmt: skip
