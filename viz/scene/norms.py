"""Norms of gradients over time: of parameters in folded groups, of the gradients that reach a group, and of those on an
edge.

A number is shown only if it is a norm: gradients of one tensor that come by several ways add up, so their norm is that
of the sum, which the tensor's op receives; gradients of different tensors are parts of one long vector.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from engine.trace.events import Accumulated, VjpRun

from ..graph.folds import Borders
from ..graph.graph import Link
from ..graph.scopes import plain
from ..reading.jacobian import value as number
from ..schema.scene import Cell, Dot
from ..schema.values import Num, Track
from ..time.reach import behind
from .reading import Reading
from .visible_graph import VisibleGraph

NormTrack = Track[Num | None]
Floats = Track[float | None]


class Norms:
    """The norms of one revision, as the picture shows it."""

    def __init__(self, reading: Reading, visible: VisibleGraph) -> None:
        self.trace, self.line, self.visible, self._norm = reading.facts.trace, reading.line, visible, reading.norm
        self.drawing, self.facts = visible.drawing, visible.facts
        self.uses = Counter(link.tensor for link in self.drawing.links.values() if link.op is not None and link.grad)

    def range(self) -> tuple[float, float] | None:
        """The powers of ten around the norms of all gradients that reach an op or a leaf; None if there are none."""
        norms = [norm for value in self._values() if 0 < (norm := self._norm(value) or 0) < math.inf]
        if not norms:
            return None
        low, high = 10.0 ** math.floor(math.log10(min(norms))), 10.0 ** math.ceil(math.log10(max(norms)))
        return low, high if high > low else 10 * low

    def _values(self) -> Iterable[int]:
        for event in self.trace.events:
            if isinstance(event, VjpRun):
                yield from (value for value in event.upstream if value is not None)
            elif isinstance(event, Accumulated):
                yield event.after

    def dots(self, group: str) -> list[Dot]:
        """The parameters in a folded group, in the order of the program, each with the norm of its `.grad`."""
        result: list[Dot] = []
        around = self.drawing.grouping.labels[group]
        for ident in self.visible.parameters(group):
            item = self.drawing.items[ident]
            assert item.tensor is not None
            fact = self.facts.tensors[item.tensor]
            name = self.facts.names.get(item.tensor) or "parameter"
            dot: Dot = {
                "id": item.twin or ident, "name": inner_name(name, around), "shape": list(fact.shape),
                "norm": _as_numbers(self._gradient(item.tensor)),
            }  # fmt: skip
            if item.twin is not None or self.visible.is_shared(ident):
                dot["shared"] = True
            result.append(dot)
        return result

    def cells(self, stack: str) -> list[Cell]:
        """The members of a stack that is shown as one node, each with the norm of the gradient that reaches it."""
        labels = self.drawing.grouping.labels
        return [
            {"id": member, "label": plain(labels[member]), "norm": self._of_links(self._cells.back[member].values())}
            for member in self.visible.cells.get(stack, ())
        ]

    @cached_property
    def _cells(self) -> Borders:
        return self.visible.borders_of_cells()

    def _gradient(self, tensor: int) -> Floats:
        """The norm of a leaf's `.grad`, which stands on the card of one version after the other.

        A gradient that the leaf has when it is first used is older than the trace, as in a later iteration.
        """
        fact = self.facts.tensors[tensor]
        before = self.facts.tensors.get(fact.leaf.grad) if fact.leaf and fact.leaf.grad is not None else None
        track: Floats = [(0, None if before is None else self._norm(before.values[before.first]))]
        start = 0.0
        for version in fact.versions:
            card = self.drawing.cards.get((tensor, version))
            if card is None:
                continue
            until = self.line.until.get(card, math.inf)
            for k, value in self.line.tracks.get((card, "row:grad"), ()):
                if start <= k < until and (k > 0 or value is not None):  # each row begins without a number
                    _put(track, k, None if value is None else self._norm(value))
            start = until
        return track

    def group(self, group: str) -> NormTrack:
        """The norm of the gradients of all results of a folded group, together.

        A root in the group, such as the sum in the last iteration of a loop, is a result of it too.
        """
        links = list(self.visible.borders.back[group].values())
        roots = dict.fromkeys(self._roots.get(group, ()))
        linked = {link.tensor for link in links}
        tracks = [self._of_output(op, tensor) for op, tensor in roots if tensor not in linked]
        return _as_numbers(_joint([*map(self._of_result, links), *tracks]))

    @cached_property
    def _roots(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """By group, the roots that its ops made, of calls that come after it; each with its op."""
        of, paths = self.drawing.grouping.of, self.drawing.grouping.paths
        last: dict[str, int] = {}
        for op, fact in enumerate(self.facts.ops):
            if fact.event.call is None:
                last.update((group, max(last.get(group, -1), fact.event.index)) for group in paths[of.get(op)])
        roots: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for call in self.facts.calls.values():
            for root in call.event.roots:
                maker = behind(self.facts, root.tensor, call.event.index)
                if maker is None:
                    continue
                for group in paths[of.get(maker)]:
                    if last.get(group, -1) < call.event.index:
                        roots[group].append((maker, root.tensor))
        return roots

    def _of_links(self, links: Iterable[Link]) -> NormTrack:
        return _as_numbers(_joint([self._of_result(link) for link in links]))

    def edge(self, links: Sequence[Link]) -> NormTrack:
        """The norm on several links that are drawn as one edge.

        If one tensor is also used elsewhere, no value in a trace is the gradient of this edge: then it is the largest
        one that arrives.
        """
        by_tensor: dict[int, list[Link]] = defaultdict(list)
        for link in links:
            if link.grad:
                by_tensor[link.tensor].append(link)
        return _as_numbers(_joint([self._tensor_norm(own) for own in by_tensor.values()]))

    def _tensor_norm(self, links: Sequence[Link]) -> Floats:
        """The norm of one tensor's gradient: the one that its op receives, if nothing else uses the tensor."""
        if len(links) == 1:
            return self._of_link(links[0])
        whole = self._of_result(links[0]) if len(links) == self.uses[links[0].tensor] else []
        return whole or _together([self._of_link(link) for link in links], max)

    def _of_link(self, link: Link) -> Floats:
        track = self.line.tracks.get((link.id, "cotangent"), ())
        return [(k, None if value is None else self._norm(value)) for k, value in track]

    def _of_result(self, link: Link) -> Floats:
        """The norm of the gradient of a tensor that a place hands on: the one that its op receives; none for a leaf."""
        source = self.drawing.items[link.source]
        op = source.op if source.op is not None else self.facts.tensors[link.tensor].history.get(link.version)
        return self._of_output(op, link.tensor) if op is not None else []

    def _of_output(self, op: int, tensor: int) -> Floats:
        """The norm of the gradient of a tensor that an op receives."""
        outputs = self.facts.ops[op].event.outputs
        nr = next((nr for nr, out in enumerate(outputs) if out.tensor == tensor), 0)
        track = self.line.tracks.get((self.facts.ops[op].id, "upstream"), [(0.0, None)])
        if len(outputs) == 1:
            return [(k, None if value is None else self._norm(value)) for k, value in track]
        norms: Floats = [(k, None) for k, value in track if value is None]
        for event in self.facts.ops[op].vjps:
            vjp, step = self.trace.events[event], self.line.step_of.get(event)
            if step is not None and isinstance(vjp, VjpRun) and nr < len(vjp.upstream):
                value = vjp.upstream[nr]
                start = max((k for k, grad in track if grad is not None and k <= step + 1), default=step + 1.0)
                norms.append((start, None if value is None else self._norm(value)))
        return sorted(norms, key=lambda entry: entry[0])


def inner_name(name: str, label: str) -> str:
    """The name of a parameter in the module that a group is named after: `attn.qkv.weight` in `blocks.3: Block`.

    >>> inner_name("model.blocks.3.attn.qkv.weight", "blocks.3: Block"), inner_name("w", "step = 1")
    ('attn.qkv.weight', 'w')
    """
    module = label.partition(":")[0]
    _, prefix, rest = name.partition(f"{module}.")
    return rest if prefix else name


def _joint(tracks: Sequence[Floats]) -> Floats:
    """The norm of parts of one vector, from theirs."""
    return _together(tracks, lambda norms: math.hypot(*norms))


def _together(tracks: Sequence[Floats], join: Callable[[Sequence[float]], float]) -> Floats:
    """`join` of the existing values of several tracks at each time; None as long as there are none."""
    if len(tracks) == 1:
        return tracks[0]
    now: dict[int, float] = {}
    result: Floats = [(0, None)]
    changes = [(k, i, norm) for i, track in enumerate(tracks) for k, norm in track]
    for k, i, norm in sorted(changes, key=lambda change: change[0]):
        if norm is None:
            now.pop(i, None)
        else:
            now[i] = norm
        _put(result, k, join(list(now.values())) if now else None)
    return result


def _put(track: Floats, k: float, norm: float | None) -> None:
    """Let a norm apply from a time on."""
    if track[-1][0] == k:
        track[-1] = (k, norm)
    elif track[-1][1] != norm:
        track.append((k, norm))


def _as_numbers(track: Floats) -> NormTrack:
    result: NormTrack = [(k, None if norm is None else number(f"{norm:.4g}")) for k, norm in track]
    return result if result and result[0][0] == 0 else [(0, None), *result]
