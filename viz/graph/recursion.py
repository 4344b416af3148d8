"""Deeply nested calls, laid out one after the other like the iterations of a loop: on the way in, and on the way back.

A recursion of depth 50 would be 50 nested boxes, which nobody can read. The ops of each call before the next one, and
those after it, are intervals of the recorded order, as all groups are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from .scopes import CountedName, Scope, Tree, inner_first

NESTED = 4
"""The most calls of one function inside each other that stay nested."""
DEEPEST = 12
"""The most groups inside each other that stay nested, of any kind."""


@dataclass(slots=True)
class Calls:
    """A call of a function, and the depth of each of its calls within that one (which is the first itself), by
    scope."""

    root: Scope
    levels: dict[str, int] = field(default_factory=dict)

    @property
    def is_chain(self) -> bool:
        """Whether the calls are too deep to stay nested; a tree of calls that is wider than deep stays readable."""
        depth = max(self.levels.values())
        return depth > NESTED and depth > 2 * math.log2(len(self.levels))

    def counted(self, call: Scope) -> CountedName:
        """The function and how deep the call is: `f · 3`."""
        begin = f"{_function(self.root)[-1]} · "
        return CountedName(begin, begin, str(self.levels[call.id]))


def unroll(tree: Tree) -> list[Scope]:
    """Lay out the recursions, and return the scopes that contain them now.  Cost: linear in ops and scopes."""
    scopes: list[Scope] = []
    gone: set[str] = set()
    for calls in _recursions(tree.top):
        root = calls.root
        if root.id in gone or not calls.is_chain:
            continue
        deep = set(calls.levels)
        for scope in inner_first(root):
            if scope.id in calls.levels:
                scope.kin = _function(root)[-1]
            if any(isinstance(member, Scope) and member.id in deep for member in scope.members):
                deep.add(scope.id)
        _lay_out(root, tree, deep, calls.levels, calls.counted)
        gone |= deep
        scopes.append(root)
    return scopes


def flatten(tree: Tree) -> list[Scope]:
    """Lay out everything nested deeper than `DEEPEST`, and return the scopes that contain it now."""
    level = [tree.top]
    for _ in range(DEEPEST):
        level = [member for scope in level for member in scope.members if isinstance(member, Scope)]
    scopes = []
    for root in level:
        deep = {one.id for one in inner_first(root) if any(isinstance(member, Scope) for member in one.members)}
        if deep:
            _lay_out(root, tree, deep, deep, lambda scope: scope.counted)
            scopes.append(root)
    return scopes


def _function(scope: Scope) -> tuple[str, ...]:
    """The called function, or the class of the called module; nothing for a scope that is not a call."""
    return (str(scope.key[0]), str(scope.key[2])) if scope.key[:1] in (("call",), ("module",)) else ()


def _recursions(top: Scope) -> list[Calls]:
    """The calls that are not inside another call of their function, outer ones first, each with the calls in it."""
    result: dict[str, Calls] = {}
    path: dict[tuple[str, ...], list[Scope]] = defaultdict(list)
    todo: list[tuple[Scope, bool]] = [(top, False)]
    while todo:
        scope, is_done = todo.pop()
        function = _function(scope)
        if is_done:
            path[function].pop()
            continue
        around = path[function]
        around.append(scope)
        todo.append((scope, True))
        todo += [(member, False) for member in reversed(scope.members) if isinstance(member, Scope)]
        if function:
            calls = result.setdefault(around[0].id, Calls(around[0]))
            calls.levels[scope.id] = len(around)
    return list(result.values())


def _lay_out(
    root: Scope,
    tree: Tree,
    deep: Collection[str],
    calls: Collection[str],
    counted: Callable[[Scope], CountedName | None],
) -> None:
    """Turn the contents of `root` into a row of runs: each has the ops of one of `calls` at a time, before, between or
    after the calls in it.

    Scopes in `deep` are split: the ops of those that are not such a call are a group in their run.
    """
    todo = [(root, iter(root.members))]
    root.members = []
    open_calls, back = [root], False
    run: Scope | None = None
    part: Scope | None = None
    while todo:
        scope, members = todo[-1]
        for member in members:
            if isinstance(member, Scope) and member.id in deep:
                todo.append((member, iter(member.members)))
                part = None
                if member.id in calls:
                    open_calls.append(member)
                    run, back = None, False
                break
            if run is None:
                call, nth = open_calls[-1], counted(open_calls[-1])
                label = nth.name if nth is not None else call.label
                run = Scope(next(tree.ids), label, root, ("run", call.id), counted=nth, kin=call.kin)
                root.members.append(run)
                if back:
                    run.kin = f"back in {run.kin}" if run.kin else ""
                    run.label = f"back in {run.label}"
                    run.counted = nth.behind("back in ") if nth is not None else None
            if scope is not open_calls[-1] and part is None:
                part = Scope(next(tree.ids), scope.label, run, ("run", scope.id), counted=scope.counted)
                run.members.append(part)
            place = run if part is None else part
            place.members.append(member)
            if isinstance(member, Scope):
                member.within = place
        else:
            todo.pop()
            part = None
            if scope is open_calls[-1]:
                open_calls.pop()
                run, back = None, True
