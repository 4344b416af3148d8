"""The backward pass: one loop.

Nodes run by sequence number, highest first, as soon as all contributions to them have arrived; AccumulateGrad runs as
soon as it is ready (PyTorch's own order).  The loop does, in one place, everything that rules leave out: it sums over
broadcast dimensions, adds up contributions, calls hooks, passes gradients to leaves, frees saved tensors and reports to
the recorder.  Cost: linear in nodes and edges, plus a heap of the ready nodes.

Gradients are arrays, or Tensors if the backward pass itself is recorded as a graph.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from numpy import ndarray

from ..arrays import errors
from ..arrays.array import as_array, xp
from ..arrays.session import slot
from ..ops.op import NUMBERED, spread
from ..ops.reduction import sum_to_size
from ..ops.shape import cast, hung_on
from ..tensor.grad_mode import mode
from ..tensor.node import AccumulateGrad, Node
from ..tensor.saved_tensors import unpack_saved
from ..tensor.tensor import Tensor, tensor_of
from . import anomaly, reentrancy
from .accumulate import add_into
from .dependencies import count_dependencies, leading_to
from .hooks import Hooks, run_accumulation_hooks
from .ready_queue import pop, push

Capture = tuple[Any, int]
sum_array = sum_to_size.op.kernel


def run_backward(
    roots: Sequence[tuple[Any, int]],
    gradients: Sequence[Any],
    *,
    keep: bool,
    create_graph: bool,
    captures: Sequence[Capture] | None,
    accumulate: bool,
) -> list[Any]:
    """Send `gradients` from the `roots` (node, output number) through the graph.

    With `captures`, only nodes that lead to those places run, and the gradients that arrive there are returned (None if
    none arrived); `accumulate` then says whether leaves among them also add theirs to `.grad`. `keep`: saved values are
    not freed.
    """
    work = functools.partial(_run, roots, gradients, keep, create_graph, captures, accumulate)
    return reentrancy.inside(work)


def _run(
    roots: Sequence[tuple[Any, int]], gradients: Sequence[Any], keep: bool, create_graph: bool,
    captures: Sequence[Capture] | None, accumulate: bool,
) -> list[Any]:  # fmt: skip
    """The same, on the current stack."""
    nodes = [node for node, _ in roots]
    dependencies = count_dependencies(nodes)
    route = None if captures is None else leading_to({node for node, _ in captures}, nodes)
    by_capture: dict[Capture, Any] = {}
    if captures is not None:
        by_capture = dict.fromkeys(captures)
    owned = {} if create_graph else {id(gradient._array): gradient for gradient in gradients}
    run = _Run(dependencies, route, by_capture, captures is None or accumulate, keep, create_graph, owned)
    before = mode.enabled
    mode.turn(create_graph and not mode.inference)
    run.root = nodes[0] if len(nodes) == 1 else None
    outer = reentrancy.enter(run)
    try:
        for (node, nr), gradient in zip(roots, gradients, strict=True):
            run.deliver(node, nr, gradient if create_graph else gradient._array)
        for node in dict.fromkeys(nodes):
            if not dependencies[node]:
                push(run.ready, node)
        run.drain()
    except RecursionError as error:
        reentrancy.tell_depth(error)
        raise
    except ValueError as error:
        shapes = errors.of_shapes(error)
        if shapes is error:
            raise
        raise shapes from None
    finally:
        mode.turn(before)
        reentrancy.leave(outer)
    return [run.hooks.tensor(by_capture[c]) for c in captures] if captures is not None else []


class _Run:
    """The state of one backward pass."""

    def __init__(
        self, dependencies: Any, route: Any, by_capture: Any, accumulate: bool, keep: bool, create_graph: bool,
        seeds: Any,
    ) -> None:  # fmt: skip
        self.dependencies = dependencies
        self.arrived: dict[Any, Any] = {}
        self.route = route
        self.by_capture = by_capture
        self.accumulate = accumulate
        self.keep = keep
        self.create_graph = create_graph
        self.root: Any = None
        self.ready: list[Any] = []
        self.hooks = Hooks(create_graph, seeds)
        self.sums: set[Any] = set()  # places whose sum is our own: nobody else refers to it

    def will_run(self, node: Any) -> bool:
        """Return whether a node takes part in this pass."""
        return node in self.dependencies and (self.route is None or node in self.route)

    def deliver(self, node: Any, nr: int, gradient: Any) -> None:
        """Add a contribution to the gradient that has arrived so far for output `nr` of `node`: one value, or a list
        for several outputs."""
        several = node.metas is not None
        shape, dtype = node.metas[nr] if several else (node.shape, node.dtype)
        if gradient.shape != shape:
            gradient = sum_to_size(gradient, shape) if self.create_graph else sum_array(gradient, shape)
        kind = gradient._array.dtype if self.create_graph else gradient.dtype
        if kind is not dtype and kind != dtype:
            gradient = cast(gradient, dtype)
        arrived = self.arrived
        present = arrived.get(node)
        if not several:
            if present is None:
                arrived[node] = gradient
            elif node in self.sums:
                xp.add(present, gradient, present)
            else:
                arrived[node] = present = present + gradient
                if type(present) is ndarray:
                    self.sums.add(node)
            return
        if present is None:
            present = arrived[node] = [None] * len(node.metas)
        present[nr] = gradient if present[nr] is None else present[nr] + gradient

    def drain(self) -> None:
        """Run ready nodes until there are none.  A node costs little more than its rules: rare cases are handled
        elsewhere."""
        ready, dependencies, arrived = self.ready, self.dependencies, self.arrived
        route, active = self.route, slot.active
        special = self.create_graph or mode.anomaly
        capture_nodes = {node for node, _ in self.by_capture} if self.by_capture else None
        keep, deliver, sums, add = self.keep, self.deliver, self.sums, xp.add
        next_node: Any = None  # the only ready node, with its gradient: it need not queue
        next_gradient: Any = None
        while True:
            if next_node is not None:
                node, upstream, next_node = next_node, next_gradient, None
            elif ready:
                node = ready.pop() if len(ready) == 1 else pop(ready)
                upstream = arrived.pop(node, None)
            else:
                break
            if route is not None and node not in route:
                if node is self.root:
                    self.pass_by(node, upstream)
                continue
            if upstream is None:
                cotangents: Any = self.undefined(node)
            elif node.more is not None or special or (capture_nodes is not None and node in capture_nodes):
                if type(node) is AccumulateGrad:
                    self.arrive(node, upstream)
                    continue
                cotangents = self.visit(node, upstream)
            else:
                plan = node.plan
                run = plan.run  # a function among its attributes is called sooner than a method
                try:
                    cotangents = run(upstream, node)
                except RuntimeError as error:
                    errors.note_node(error, node)
                    raise
                freed = plan.frees and not keep
                if active is not None and (
                    route is not None or not active.plain_vjp(node, upstream, cotangents, cotangents, freed)
                ):
                    fitted = self.fitted(node, cotangents)
                    if route is not None or not active.plain_vjp(node, upstream, cotangents, fitted, freed):
                        self.report(active, node, [upstream], cotangents, fitted, freed)
                    cotangents = fitted
                if freed:
                    node.saved = None
            edge = -1
            for target in node.targets:
                edge += 1
                if target is None:
                    continue
                cotangent = cotangents[edge]
                remaining = dependencies[target] - 1
                if remaining:
                    dependencies[target] = remaining
                if cotangent is None:
                    pass
                elif special or (
                    (node.shape != target.shape or node.dtype is not target.dtype)
                    if cotangent is upstream
                    else (cotangent.shape != target.shape or cotangent.dtype is not target.dtype)
                ):
                    deliver(target, node.number(edge), cotangent)
                elif target not in arrived:
                    if not remaining and not ready and next_node is None:
                        next_node, next_gradient = target, cotangent
                        continue
                    arrived[target] = cotangent
                elif target in sums:
                    add(arrived[target], cotangent, arrived[target])
                else:
                    arrived[target] = present = arrived[target] + cotangent
                    if type(present) is ndarray:
                        sums.add(target)
                if remaining:
                    continue
                if next_node is not None:
                    arrived[next_node] = next_gradient
                    ready.append(next_node)
                    next_node = None
                if ready:
                    push(ready, target)
                else:
                    ready.append(target)

    def pass_by(self, node: Any, upstream: Any) -> None:
        """The only root, if it leads to no requested input: torch runs the hooks of its tensors nevertheless."""
        if node.more is None:
            return
        if type(node) is not AccumulateGrad:
            self.before(node, upstream, runs=False)
        elif node.variable._hooks:
            self.hooks.of_tensor(node.variable._hooks, upstream, node.variable)

    def undefined(self, node: Any) -> Sequence[Any]:
        """A node that received no gradient: it runs as in torch, with None for its hooks and without its rules. If that
        has no visible effect and frees nothing, it is skipped.
        """
        if type(node) is AccumulateGrad:
            self.arrive(node, None)
        elif node.more is not None or node.plan.frees or mode.anomaly:
            return self.visit(node, None if node.metas is None else [None] * len(node.metas))
        return (None,) * len(node.targets)

    def visit(self, node: Any, upstream: Any) -> Sequence[Any]:
        """Hooks, captures, the rules, freeing and the report of one node; a cotangent or None per edge."""
        if mode.anomaly:
            with anomaly.watching(node):
                return self.process(node, upstream)
        return self.process(node, upstream)

    def process(self, node: Any, upstream: Any) -> Sequence[Any]:
        """The same, with or without anomaly detection."""
        goes_on = (
            self.accumulate  # backward(inputs=...) runs the nodes of its inputs too, as torch does
            or not self.by_capture
            or any(target in self.route for target in node.targets if target is not None)
        )
        if self.by_capture and goes_on:  # torch's order: requested gradients are taken before hooks see them
            self.capture(node, upstream)
        if node.more is not None:
            upstream = self.before(node, upstream, goes_on)
        if not goes_on:
            self.capture(node, upstream)
            return (None,) * len(node.targets)
        cotangents = self.vjp(node, upstream)
        if self.route is not None and node.own is None:  # cotangents that nobody needs are not computed
            pairs = zip(node.targets, cotangents, strict=True)
            cotangents = [cotangent if target in self.route else None for target, cotangent in pairs]
        if mode.anomaly:
            anomaly.check(node, cotangents)
        freed = False if self.keep else node.free()
        if node.more is not None and node.more.get("post_hooks"):
            cotangents = self.hooks.after(node.more["post_hooks"], cotangents, _per_output(node, upstream), node)
        if node.own is not None:  # hooks have seen what the user's backward gives for inputs that require none
            pairs = zip(node.targets, cotangents, strict=True)
            cotangents = [None if target is None else cotangent for target, cotangent in pairs]
        if slot.active is not None:
            fitted = self.fitted(node, cotangents)
            self.report(slot.active, node, _per_output(node, upstream), cotangents, fitted, freed)
        return cotangents

    def capture(self, node: Any, upstream: Any) -> None:
        """Take the gradients that were requested at this node."""
        for nr, gradient in enumerate(_per_output(node, upstream)):
            if (node, nr) in self.by_capture:
                self.by_capture[node, nr] = gradient

    def vjp(self, node: Node, upstream: Any) -> Sequence[Any]:
        """Run the rules of a node on its saved values, or the node's own code."""
        if node.own is not None:
            return node.own(upstream, self)
        if all(gradient is None for gradient in _per_output(node, upstream)):
            if node.saved is None:
                raise node.freed_error()
            node.check_versions()
            return (None,) * len(node.targets)
        if node.metas is not None:
            upstream = self.of_several(node, upstream)
        try:
            return self.rules(node, upstream)
        except RuntimeError as error:
            errors.note_node(error, node)
            raise

    def rules(self, node: Node, upstream: Any) -> Sequence[Any]:
        """Run the rules of a node on its saved values."""
        if not self.create_graph:
            return node.plan.run(upstream, node)
        if node.saved is None:
            raise node.freed_error()
        node.check_versions()
        values = [unpack_saved(node, v) for v in node.saved]
        cotangents = [None] * len(node.op.places)
        for edge, rule, places in node.plan.calls:
            cotangents[edge] = rule(upstream, *[values[i] for i in places])
        if node.op.traits.fused:
            carry = [v for name, v in zip(node.plan.names, values, strict=True) if name not in NUMBERED]
            cotangents = [_hung(cotangent, carry, node.op.traits.fused == "zeros") for cotangent in cotangents]
        return spread(node, cotangents) if node.op.lists else cotangents

    def of_several(self, node: Node, upstream: list[Any]) -> Any:
        """The upstream gradient as the rules of an op with several outputs take it."""
        carrier = node.op.carrier
        if carrier is not None:
            return upstream[carrier]
        some = next(g for g in upstream if g is not None)
        return [self.zeros(meta, some) if g is None else g for g, meta in zip(upstream, node.metas or (), strict=True)]

    def zeros(self, meta: Any, like: Any) -> Any:
        """An undefined gradient as zeros."""
        zero = xp.zeros(meta[0], dtype=meta[1], like=like._array if self.create_graph else as_array(like))
        return tensor_of(zero) if self.create_graph else zero

    # -- hooks and leaves -----------------------------------------------------------------------------------------

    def before(self, node: Any, upstream: Any, runs: bool = True) -> Any:
        """Tensor hooks, retained gradients and, if the node runs, its prehooks, in torch's order."""
        grads, more, hooks = _per_output(node, upstream), node.more, self.hooks
        for nr, (registered, reference) in more.get("tensor_hooks", {}).items():
            grads[nr] = hooks.of_tensor(registered, grads[nr], reference(), node, nr)
        for nr, reference in more.get("retain", {}).items():
            tensor = reference()
            if tensor is not None and grads[nr] is not None:
                add_into(tensor, grads[nr], self.create_graph, retained=True)
        if runs and more.get("pre_hooks"):
            grads = hooks.before(more["pre_hooks"], grads, node)
        return grads if node.metas is not None else grads[0]

    def arrive(self, node: AccumulateGrad, gradient: Any) -> None:
        """A gradient has arrived at a leaf, or it is certain that none will: the hooks run in both cases."""
        tensor = node.variable
        if tensor._hooks:
            gradient = self.hooks.of_tensor(tensor._hooks, gradient, tensor)
        more = node.more
        if (node, 0) in self.by_capture:
            self.by_capture[node, 0] = gradient
        if not self.accumulate:
            return
        if more is not None and more.get("pre_hooks"):
            (gradient,) = self.hooks.before(more["pre_hooks"], (gradient,), node, tensor)
        if tensor._node is not None:
            raise errors.runtime(
                "leaf variable has been moved into the graph interior",
                "Backstep: it was a leaf when it was used, and has been written in place since by an op that "
                "autograd records.",
                tensors=(tensor,),
            )
        if gradient is not None and tensor._requires_grad:  # unless requires_grad_(False) was called since
            add_into(tensor, gradient, self.create_graph, retained=False)
        if tensor._post_hooks:
            run_accumulation_hooks(tensor)
        if more is not None and more.get("post_hooks"):
            self.hooks.after(more["post_hooks"], (), (gradient,), node, tensor)

    def fitted(self, node: Any, cotangents: Sequence[Any]) -> list[Any]:
        """The arrays of the cotangents, summed over broadcast dimensions; None for those that nobody needs."""
        arrays: list[Any] = []
        for edge, (target, cotangent) in enumerate(zip(node.targets, cotangents, strict=True)):
            is_needed = node.own is not None or self.route is None or target in self.route  # torch computes no others
            if target is None or cotangent is None or not is_needed:
                arrays.append(None)
                continue
            array = cotangent._array if self.create_graph else cotangent
            shape = target.meta(node.number(edge))[0]
            arrays.append(array if array.shape == shape else sum_array(array, shape))
        return arrays

    def report(
        self, active: Any, node: Any, upstream: Any, cotangents: Sequence[Any], fitted: Sequence[Any], freed: bool
    ) -> None:
        """Report one node's run to the recorder."""
        if node.own is not None and getattr(node, "others", None):  # only tensors have gradients
            upstream = [g for nr, g in enumerate(upstream) if nr not in node.others]
        if self.create_graph:
            upstream, cotangents = ([None if g is None else g._array for g in some] for some in (upstream, cotangents))
        pairs = zip(cotangents, fitted, strict=True)
        unsummed = [None if total is None or total is cotangent else cotangent for cotangent, total in pairs]
        active.vjp(node, upstream, fitted, unsummed, freed)


def run_alone(node: Node, grads: tuple[Any, ...]) -> Any:
    """Run the rules of one node on a gradient per output: `y.grad_fn(gradient)`, a cotangent per edge.

    The graph is kept; if gradients are recorded, so is this call.  Raises TypeError as torch does.
    """
    count = 1 if node.metas is None else len(node.metas)
    if len(grads) != count:
        raise TypeError(f"expected {count} arguments, got {len(grads)} instead")
    for place, gradient in enumerate(grads):
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(f"argument {place} is not a Variable")
    result: Sequence[Any] = (None,) * len(node.targets)
    if any(gradient is not None for gradient in grads):
        run = _Run({}, None, {}, False, True, mode.enabled, {})
        arguments = [run.hooks.inner(gradient) for gradient in grads]
        cotangents = run.vjp(node, arguments if node.metas is not None else arguments[0])
        result = [None if target is None else c for c, target in zip(cotangents, node.targets, strict=True)]
    tensors = tuple(Hooks(mode.enabled).tensor(cotangent) for cotangent in result)
    return tensors[0] if len(tensors) == 1 else tensors


Node.called = run_alone  # bound here, where the loop is known


def _hung(cotangent: Any, values: Sequence[Any], zeros: bool) -> Any:
    """A cotangent with a graph to the saved values that require grad, although it does not depend on them."""
    for value in values:
        if isinstance(value, Tensor) and value._requires_grad and isinstance(cotangent, Tensor):
            cotangent = hung_on(cotangent, value, zeros)
    return cotangent


def _per_output(node: Any, upstream: Any) -> list[Any]:
    """The upstream gradients as a list, one per output."""
    return upstream if node.metas is not None else [upstream]
