"""The backward pass: one loop.

Nodes run by sequence number, highest first, as soon as all contributions to them are there; AccumulateGrad runs at once
when it is ready (PyTorch's own order).  What a rule must not do is done here, once: sum over broadcast dimensions,
add up contributions, call hooks, accumulate into leaves, free, report.  Cost: linear in nodes and edges (and a heap of
the ready ones).

The values that flow are arrays, or Tensors when a graph is to be made of the backward pass itself.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

from .array import xp
from .mode import mode
from .node import LAST, AccumulateGrad, Node, SavedResult
from .ops.reduction import sum_to_size
from .ops.shape import cast
from .recorder import slot
from .tensor import Promoted, Tensor

Capture = tuple[Any, int]


def run_backward(
    roots: Sequence[tuple[Any, int]],
    gradients: Sequence[Any],
    *,
    keep: bool,
    create_graph: bool,
    captures: Sequence[Capture] | None = None,
    accumulate: bool = True,
) -> list[Any]:
    """Send `gradients` from the `roots` (node, output number) through the graph.

    `gradients` are arrays, or Tensors with `create_graph`.  With `captures` only what leads to those places runs, and
    the gradients that arrive there are returned (None where none did); `accumulate` then tells whether leaves among
    them get theirs added to `.grad` too.  `keep`: saved values stay.
    """
    nodes = [node for node, _ in roots]
    counts = count_dependencies(nodes)
    wanted = None if captures is None else _leading_to({node for node, _ in captures}, nodes)
    taken: dict[Capture, Any] = {}
    if captures is not None:
        taken = dict.fromkeys(captures)
    run = _Run(counts, wanted, taken, captures is None or accumulate, keep, create_graph)
    before, mode.enabled = mode.enabled, create_graph
    try:
        for (node, nr), gradient in zip(roots, gradients, strict=True):
            run.deliver(node, nr, gradient)
        for node in dict.fromkeys(nodes):
            if not counts.get(node):
                run.push(node)
        run.drain()
    finally:
        mode.enabled = before
    return [taken[c] for c in captures] if captures is not None else []


def count_dependencies(roots: Iterable[Any]) -> dict[Any, int]:
    """How many edges lead to each node reachable from `roots`."""
    counts: dict[Any, int] = {}
    seen = set(roots)
    stack = list(seen)
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            target = edge[0]
            if target in seen:
                counts[target] = counts.get(target, 0) + 1
            else:
                seen.add(target)
                counts[target] = 1
                stack.append(target)
    return counts


def _leading_to(targets: set[Any], roots: Iterable[Any]) -> set[Any]:
    """The nodes from which one of `targets` can be reached (and those themselves)."""
    order: list[Any] = []
    seen = set(roots)
    stack = [(node, iter(node.edges)) for node in seen]
    while stack:
        node, edges = stack[-1]
        for edge in edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                stack.append((edge[0], iter(edge[0].edges)))
                break
        else:
            stack.pop()
            order.append(node)
    found = set(targets)
    for node in order:
        if any(edge is not None and edge[0] in found for edge in node.edges):
            found.add(node)
    return found


class _Run:
    """The state of one backward pass."""

    def __init__(self, counts: Any, wanted: Any, taken: Any, accumulate: bool, keep: bool, create_graph: bool) -> None:
        self.counts = counts
        self.wanted = wanted
        self.taken = taken
        self.accumulate = accumulate
        self.keep = keep
        self.create_graph = create_graph
        self.buffers: dict[Any, list[Any]] = {}
        self.ready: list[tuple[int, int, Any]] = []
        self.pushed = 0

    def push(self, node: Any) -> None:
        """Make a node ready to run."""
        self.pushed += 1
        heapq.heappush(self.ready, (-node.sequence_nr, self.pushed, node))

    def deliver(self, node: Any, nr: int, gradient: Any) -> None:
        """Add a contribution to what waits for output `nr` of `node`."""
        buffer = self.buffers.get(node)
        if buffer is None:
            buffer = self.buffers[node] = [None] * len(node.metas)
        shape, dtype = node.metas[nr]
        if gradient.shape != shape:
            gradient = sum_to_size(gradient, shape)
        array = gradient._array if self.create_graph else gradient
        if array.dtype is not dtype and array.dtype != dtype:
            gradient = cast(gradient, dtype)
        present = buffer[nr]
        buffer[nr] = gradient if present is None else present + gradient

    def drain(self) -> None:
        """Run what is ready until nothing is."""
        ready, counts, wanted = self.ready, self.counts, self.wanted
        while ready:
            node = heapq.heappop(ready)[2]
            upstream = self.buffers.pop(node, None)
            if wanted is not None and node not in wanted:
                continue
            if node.sequence_nr == LAST:
                self.arrive(node, upstream)
                continue
            if upstream is None:
                cotangents: Sequence[Any] = ()
            else:
                cotangents = self.visit(node, upstream)
            for position, edge in enumerate(node.edges):
                if edge is None:
                    continue
                target, nr = edge
                if cotangents and cotangents[position] is not None:
                    self.deliver(target, nr, cotangents[position])
                left = counts[target] = counts[target] - 1
                if not left:
                    self.push(target)

    def visit(self, node: Any, upstream: list[Any]) -> Sequence[Any]:
        """Hooks, captures, the rules, freeing and the report of one node; the cotangent per edge, None where none."""
        if node.more is not None:
            self.before(node, upstream)
        if self.taken:
            for nr, gradient in enumerate(upstream):
                if (node, nr) in self.taken:
                    self.taken[node, nr] = gradient
            if not any(e is not None and e[0] in self.wanted for e in node.edges):
                return ()
        cotangents = self.vjp(node, upstream)
        freed = False if self.keep else node.free()
        if node.more is not None and "post_hooks" in node.more:
            cotangents = _post_hooks(node, cotangents, upstream, self.create_graph)
        if (active := slot.active) is not None:
            self.report(active, node, upstream, cotangents, freed)
        return cotangents

    def vjp(self, node: Node, upstream: list[Any]) -> Sequence[Any]:
        """Run the rules of a node on its saved values."""
        if hasattr(node, "apply_backward"):
            return node.apply_backward(upstream, self.create_graph)
        try:
            saved = node.saved_values()
        except RuntimeError as error:
            if slot.active is not None:
                slot.active.error(error)
            raise
        values = [_as_tensor(node, v) for v in saved] if self.create_graph else [_as_array(v) for v in saved]
        op = node.op
        if len(upstream) == 1:
            grad = upstream[0]
        elif op.traits.differentiable is not None and len(op.traits.differentiable) == 1:
            grad = upstream[op.traits.differentiable[0]]
        else:
            grad = [self.zeros(meta, upstream) if g is None else g for g, meta in zip(upstream, node.metas, strict=True)]
        if op.lists:
            return _list_cotangents(node, grad, values)
        cotangents: list[Any] = [None] * len(node.edges)
        places = op.edge_places
        for position, rule, wanted in node.plan.calls:
            cotangents[places[position]] = rule(grad, *[values[i] for i in wanted])
        return cotangents

    def zeros(self, meta: Any, upstream: list[Any]) -> Any:
        """An undefined gradient as zeros."""
        some = next(g for g in upstream if g is not None)
        zero = xp.zeros(meta[0], dtype=meta[1], like=some._array if self.create_graph else some)
        return Tensor(zero) if self.create_graph else zero

    # -- hooks and leaves -----------------------------------------------------------------------------------------

    def before(self, node: Any, upstream: list[Any]) -> None:
        """Tensor hooks, prehooks and retained gradients, in torch's order."""
        for nr, hooks in node.more.get("tensor_hooks", {}).items():
            if upstream[nr] is not None:
                upstream[nr] = self.hooked(hooks, upstream[nr], None)
        for hook in tuple(node.more.get("pre_hooks", {}).values()):
            found = hook(tuple(self.shown(g) for g in upstream))
            if found is not None:
                upstream[:] = [self.inner(g) for g in found]
        for nr, reference in node.more.get("retain", {}).items():
            tensor = reference()
            if tensor is not None and upstream[nr] is not None:
                self.add_into(tensor, upstream[nr], retained=True)

    def hooked(self, hooks: dict[int, Any], gradient: Any, tensor: Any) -> Any:
        """The gradient after the hooks of one tensor."""
        for hook in tuple(hooks.values()):
            found = hook(self.shown(gradient))
            if found is not None:
                if slot.active is not None and tensor is not None:
                    slot.active.hook(tensor, self.raw(gradient), self.raw(self.inner(found)))
                gradient = self.inner(found)
        return gradient

    def shown(self, gradient: Any) -> Any:
        """A gradient as the user's hook sees it."""
        return gradient if gradient is None or self.create_graph else Tensor(gradient)

    def inner(self, gradient: Any) -> Any:
        """What a hook returned as the loop carries it."""
        return gradient if gradient is None or self.create_graph else gradient._array

    def raw(self, gradient: Any) -> Any:
        """The array of a gradient."""
        return gradient._array if self.create_graph else gradient

    def arrive(self, node: AccumulateGrad, upstream: list[Any] | None) -> None:
        """A gradient has arrived at a leaf."""
        if upstream is None or upstream[0] is None:
            return
        tensor, gradient = node.variable, upstream[0]
        if tensor._hooks:
            gradient = self.hooked(tensor._hooks, gradient, tensor)
        if (node, 0) in self.taken:
            self.taken[node, 0] = gradient
        if not self.accumulate:
            return
        self.add_into(tensor, gradient, retained=False)
        if tensor._post_hooks:
            for hook in tuple(tensor._post_hooks.values()):
                hook(tensor)

    def add_into(self, tensor: Tensor, gradient: Any, retained: bool) -> None:
        """Accumulate into `.grad`: in place, as torch does, unless a graph is made of it."""
        active, slot.active = slot.active, None
        present = tensor._grad
        before = None if present is None or active is None else active.see(present)[0]
        earlier = None if present is None or active is None else active.known[before][1]
        if present is None:
            tensor._grad = gradient if self.create_graph else Tensor(gradient.copy())
        elif self.create_graph:
            tensor._grad = present + gradient
        else:
            if active is not None:
                active.before_write(present._storage)
            present._array += gradient
            present._storage.version += 1
        slot.active = active
        if active is not None:
            active.accumulate(tensor, tensor._grad, earlier, self.raw(gradient), retained)

    def report(self, active: Any, node: Any, upstream: Any, cotangents: Any, freed: bool) -> None:
        """Tell the recorder what one node did."""
        raw = [None if g is None else self.raw(g) for g in upstream]
        sums = []
        final = []
        for edge, cotangent in zip(node.edges, cotangents, strict=True):
            if edge is None or cotangent is None:
                final.append(None)
                sums.append(None)
                continue
            array = self.raw(cotangent)
            shape = edge[0].metas[edge[1]][0]
            sums.append(array if array.shape != shape else None)
            final.append(array if array.shape == shape else sum_to_size(array, shape))
        active.vjp(node, raw, final, sums, freed)


def _as_array(value: Any) -> Any:
    """A saved value for a rule that runs on arrays."""
    if isinstance(value, (Tensor, Promoted)):
        return value._array
    if type(value) is SavedResult:
        return value.array
    if type(value) is list:
        return [_as_array(v) for v in value]
    return value


def _as_tensor(node: Node, value: Any) -> Any:
    """A saved value for a rule that runs on Tensors."""
    if type(value) is Promoted:
        return cast(value.tensor, value.dtype)
    if type(value) is SavedResult:
        out = Tensor.__new__(Tensor)
        out._array, out._storage = value.array, value.storage
        if value.array.dtype.kind == "f":
            out._node, out._nr, out._requires_grad = node, value.nr, True
        return out
    if type(value) is list:
        return [_as_tensor(node, v) for v in value]
    return value


def _list_cotangents(node: Node, grad: Any, values: list[Any]) -> list[Any]:
    """Cotangents of an op that takes lists: its rule for the list returns one per element."""
    found: list[Any] = []
    calls = {position: (rule, wanted) for position, rule, wanted in node.plan.calls}
    per_input = node.op.list_lengths(len(node.edges))
    for position, length in per_input:
        if position not in calls:
            found.extend([None] * length)
            continue
        rule, wanted = calls[position]
        result = rule(grad, *[values[i] for i in wanted])
        found.extend(result if node.op.inputs[position] in node.op.lists else [result])
    return [c if edge is not None else None for c, edge in zip(found, node.edges, strict=True)]


def _post_hooks(node: Any, cotangents: Any, upstream: Any, tensors: bool) -> Any:
    """Hooks of the user on a node, which may replace the cotangents."""
    for hook in tuple(node.more["post_hooks"].values()):
        shown = tuple(c if c is None or tensors else Tensor(c) for c in cotangents)
        given = tuple(g if g is None or tensors else Tensor(g) for g in upstream)
        found = hook(shown, given)
        if found is not None:
            cotangents = [c if c is None or tensors else c._array for c in found]
    return cotangents
