"""A whole run in a few numbers per iteration and parameter: the loss, the gradients and the updates.

They are the instruments of Cockpit (Schneider, Dangel, Hennig 2021, arXiv:2102.06604) that a recording already has:
gradient norm, update size, zeros and extremes per parameter.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import prod
from typing import Any

import numpy as np

from engine.trace.events import Accumulated, GradSet, GroupEntered, LeafCreated, OpCalled, Trace
from engine.trace.file.measures import Losses, Measures
from engine.trace.file.outline import Outline
from engine.trace.source import Sources

from ..reading.facts import distance_from_loss
from .cancelled import cancelled
from .depth import upstream
from .iterations import Section, outer_calls
from .loss_scale import LossScales, loss_scales, without_scales
from .measures import measured
from .pauses import Pauses

MOST_COLUMNS = 1_000
"""The most columns of the document: more would be narrower than a pixel."""
MOST_CELLS = 45_000
"""The most cells of a quantity: with many parameters there are fewer columns, so that less than 500 kB are sent."""
FEWEST_COLUMNS = 20
"""The fewest columns, however many parameters there are."""
MOST_OTHERS = 2
"""Roots of further backward calls that are shown beside the loss."""
RARE = 4
"""A place that calls `backward()` in less than one of so many sections, and trains nothing, is not a part of a run."""
FARTHER = 3
"""More than any distance of a backward call from the loss (see `distance_from_loss`)."""
QUANTITIES = ("norm", "ratio", "zeros", "nonfinite", "largest")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A leaf that gradients reach: its name, the module (or row of equal modules) in which it is drawn, its shape.

    `before` are, as bits, the places of the parameters from which the data that meet it in the first iteration were
    computed: a gradient goes on from here to those.
    """

    name: str
    group: str
    shape: tuple[int, ...]
    is_sampled: bool = False
    """Whether its update ratio is estimated from the recorded sample of its elements."""
    is_input: bool = False
    """Whether nothing is to be learnt in it: the program asks for the gradient of an input, such as an image."""
    is_unheld: bool = False
    """Whether a module lists it, but no optimiser holds it, and the program does not update it by itself."""
    before: int = 0
    has_no_effect: bool = False
    """Whether its gradients cancel in the first iteration, such as those of a bias that both sides of a difference add.
    """
    dtype: str = ""

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Overview:
    """The numbers of a run.  Columns are the sections with a backward call, rows the parameters in forward order.

    `first` and `last` are the sections of a column: one, or several that were joined.  `rooted` says whether its loss
    is known: if not, the loss is nan.  The arrays of `rows` are float64 of shape (parameters, columns),
    nan where a parameter had no gradient: `norm` (of the finite elements), `ratio` (of the change of the weight from
    one gradient to the next, its norm over the norm before; of several the largest; of the sample where the elements
    were not kept), `zeros` (share), `nonfinite` (count), `largest` (magnitude), `mean`.
    """

    labels: tuple[str, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    loss: np.ndarray
    rooted: tuple[bool, ...]
    parameters: tuple[Parameter, ...]
    rows: dict[str, np.ndarray] = field(repr=False)
    updates: int
    skipped: np.ndarray
    """How many iterations ran before each column, and after the one before, that are not recorded; at the end, how many
    after the last column."""
    resumed: Mapping[int, int]
    """By column before which some were skipped: the number of the iteration with which the recording goes on."""
    ops: int
    rate: np.ndarray
    """The learning rate at the end of each column, the largest one if there are several optimisers; nan if unknown."""
    joined: int = 1
    """The largest number of iterations that one column stands for."""
    calls: tuple[int, ...] = ()
    """The numbers of the backward calls, if each of them is one column."""
    root: str = "loss"
    """The name of `loss`: its name in the program if there are others."""
    others: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The roots of further backward calls in the columns, as of a GAN, by their names; nan where there is none."""
    scales: tuple[float, ...] = ()
    """The scale of a GradScaler in each of its backward calls. Losses and gradients are given without it."""
    left_out: frozenset[int] = frozenset()
    """The columns whose gradients a GradScaler did not use, because one was not finite."""
    about_gradients: bool = False
    """Whether a program without updates seems to be about the gradients themselves: it computes with them, or asks for
    those of leaves that are new each time, such as inputs."""

    @property
    def total(self) -> np.ndarray:
        """The norm of all gradients together, by column; nan if unknown, or where an element is not finite."""
        norm = self.rows["norm"]
        has_norm = np.isfinite(norm).any(axis=0) if len(norm) else np.zeros(len(self.labels), bool)
        return np.where(has_norm & ~self.is_nonfinite, np.sqrt(np.nansum(norm**2, axis=0)), np.nan)

    @property
    def updates_left_out(self) -> int:
        """How many updates a GradScaler left out: each lowers its scale, which the next backward call shows."""
        falls = sum(after < before for before, after in itertools.pairwise(self.scales))
        return falls + (len(self.labels) - 1 in self.left_out)

    @property
    def is_nonfinite(self) -> np.ndarray:
        """Whether a gradient of a column has an element that is nan or an infinity."""
        counts: np.ndarray = self.rows["nonfinite"]
        return np.any(counts > 0, axis=0) if len(counts) else np.zeros(len(self.labels), bool)


def overview(trace: Trace, outline: Outline, sections: Sequence[Section]) -> Overview:
    """The overview of a run.

    Cost: linear in the gradients, the updates and the backward calls if a file has their numbers, else also in the
    elements of their values. No other events are read, except those of one iteration, for the order of the parameters.
    """
    measures, scales = _without_scales(trace, outline)
    run = _table(trace, outline, sections, measures)
    starts, columns = np.array([section.start for section in sections]), np.array(run.first, dtype=np.int64)
    trained = columns[~np.isnan(run.rows["ratio"]).all(axis=0)]
    losses = _in_training(outline, _of_program(outline, measures.losses), starts, trained)
    left_out = _left_out(run, _section_of(starts, list(scales.factors)))
    roots = _losses(trace, outline, losses, starts, columns[left_out])
    root, first, others = _by_name(trace, outline, roots, starts, columns, scales.names)
    loss, rooted = _curve(first, len(columns))
    ratios = run.rows["ratio"][:, left_out]
    unchanged = (ratios == 0).any(axis=0) & ~(ratios > 0).any(axis=0)
    return replace(
        run, loss=loss, rooted=rooted, root=root, others=others, scales=tuple(scales.factors.values()),
        left_out=frozenset(left_out), updates=run.updates - int(unchanged.sum()),
    )  # fmt: skip


def _without_scales(trace: Trace, outline: Outline) -> tuple[Measures, LossScales]:
    """The numbers of a run without the scale of a GradScaler, and that scale."""
    scales = loss_scales(trace, outline)
    return without_scales(measured(trace, outline), scales.factors, outline), scales


def _left_out(run: Overview, scaled: np.ndarray) -> list[int]:
    """The columns in which a scaled gradient is not finite, and changes no parameter.  `scaled` are the sections of
    scaled calls.

    A fused optimiser is called nevertheless, and leaves the parameters as they are; of several optimisers, one may go
    on.
    """
    nonfinite, ratios = run.rows["nonfinite"] > 0, run.rows["ratio"]
    is_used = (nonfinite & (ratios > 0)).any(axis=0)
    return np.flatnonzero(np.isin(run.first, scaled) & nonfinite.any(axis=0) & ~is_used).tolist()


def _table(trace: Trace, outline: Outline, sections: Sequence[Section], measures: Measures) -> Overview:
    """The overview of sections, of which each has the loss of its first backward call."""
    starts = np.array([section.start for section in sections])
    calls = _section_of(starts, [event for event, _ in outline.calls])
    columns = np.unique(calls)
    gradients, updates = measures.gradients, measures.updates
    cells = _last_of_each(_section_of(starts, gradients.event), gradients.tensor)
    rows = _Rows(trace, outline, cells, gradients.event)
    first = sections[int(cells.section.min())] if len(cells.section) else Section("iteration", "", 0, 0)
    order = _in_forward_order(trace, first, rows)
    in_order = [*order, *sorted(set(range(len(rows.names))) - set(order))]
    place = np.argsort(np.array(in_order, dtype=np.int64))  # of a row, by its number

    values = {name: np.full((len(in_order), len(columns)), np.nan) for name in (*QUANTITIES, "mean")}
    there = place[rows.of(cells.tensor)], np.searchsorted(columns, cells.section)
    mask = np.isin(cells.section, columns)
    sizes = np.array([_size(rows.shapes[row]) for row in in_order])
    for name in ("norm", "nonfinite", "largest", "mean", "zeros"):
        values[name][there[0][mask], there[1][mask]] = getattr(gradients, name)[cells.index[mask]]
    values["zeros"] /= sizes[:, None]

    # An update after a loop that adds up gradients belongs to the last column of that loop.
    where = np.searchsorted(columns, _section_of(starts, updates.event), side="right") - 1
    mask = (where >= 0) & np.isin(updates.tensor, cells.tensor)
    there = place[rows.of(updates.tensor[mask])], where[mask]
    np.fmax.at(values["ratio"], there, updates.ratio[mask])
    sampled = set(place[rows.of(updates.tensor[mask & (updates.sampled > 0)])].tolist())

    updated = len(np.unique(where[mask]))
    roots = measures.losses
    losses = dict(zip(_section_of(starts, roots.event[::-1]).tolist(), roots.loss[::-1].tolist(), strict=True))
    loss, rooted = _curve(
        {number: losses[one] for number, one in enumerate(columns.tolist()) if one in losses}, len(columns)
    )
    pauses = Pauses(trace, outline)
    ends = [sections[one].end - 1 for one in columns.tolist()]  # a pause after a column is the last event of it
    skipped = np.diff([pauses.skipped(event) for event in [*ends, len(outline.kinds) + 1]], prepend=0)
    before = upstream(trace, first, {tensor: int(place[row]) for tensor, row in rows.of_all().items()})
    inputs, unheld = _roles(outline, rows, updates.tensor[mask].tolist())
    ineffective = rows.with_any(cancelled(trace, first))
    return Overview(
        labels=tuple(sections[section].name for section in columns.tolist()),
        first=tuple(columns.tolist()),
        last=tuple(columns.tolist()),
        loss=loss,
        rooted=rooted,
        parameters=tuple(
            Parameter(
                rows.names[row], group(rows.names[row]), rows.shapes[row] or (), number in sampled, row in inputs,
                row in unheld, before.get(number, 0), row in ineffective, rows.dtypes[row],
            )
            for number, row in enumerate(in_order)
        ),
        rows=values,
        updates=updated,
        skipped=skipped,
        resumed={place: last.number for place, end in enumerate(ends) if skipped[place] and (last := pauses.last(end))},
        ops=len(outline.where(OpCalled)),
        rate=_rates(outline, [end + 1 for end in ends]),
        about_gradients=not updated and (bool(rows.replaced) or _reads_gradients(trace, first)),
    )  # fmt: skip


def _curve(losses: Mapping[int, float], count: int) -> tuple[np.ndarray, tuple[bool, ...]]:
    """The loss of `count` columns, nan where there is none, and which of them have one."""
    return np.array([losses.get(column, np.nan) for column in range(count)]), tuple(
        column in losses for column in range(count)
    )


def by_call(trace: Trace, outline: Outline, calls: Sequence[Section]) -> Overview:
    """The overview of a program without iterations, with one column for each backward call that reaches a parameter."""
    measures, scales = _without_scales(trace, outline)
    run = _table(trace, outline, calls, measures)
    columns = np.flatnonzero(np.isfinite(run.rows["norm"]).any(axis=0))
    nowhere = (0,) * len(columns)  # the program is its own only section
    return replace(
        run, labels=tuple(run.labels[k] for k in columns), first=nowhere, last=nowhere, loss=run.loss[columns],
        rooted=tuple(run.rooted[k] for k in columns), rows={name: row[:, columns] for name, row in run.rows.items()},
        rate=run.rate[columns], calls=tuple(run.first[k] for k in columns),
        skipped=np.zeros(len(columns) + 1, np.int64), resumed={}, scales=tuple(scales.factors.values()),
    )  # fmt: skip


def _rates(outline: Outline, ends: Sequence[int]) -> np.ndarray:
    """The learning rate before each of some events, which are in order."""
    now: dict[str, float] = {}
    rates, place = np.full(len(ends), np.nan), 0
    for column, end in enumerate(ends):
        while place < len(outline.rates) and outline.rates[place][0] < end:
            _, kind, now[kind] = outline.rates[place]
            place += 1
        if now:
            rates[column] = max(now.values())
    return rates


def _size(shape: tuple[int, ...] | None) -> float:
    """The number of elements, at least 1; nan of an unknown shape."""
    return float("nan") if shape is None else max(1, prod(shape))


def _from_to(first: str, last: str) -> str:
    """The name of several sections, from the first to the last.

    >>> _from_to("step = 0", "step = 2"), _from_to("epoch = 0 · step = 9", "epoch = 1 · step = 0")
    ('step = 0 to 2', 'epoch = 0 · step = 9 to epoch = 1 · step = 0')
    """
    start, _, _ = first.rpartition(" ")
    same, _, end = last.rpartition(" ")
    return f"{first} to {end if start == same and end.isdecimal() else last}"


def _section_of(starts: np.ndarray, events: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.searchsorted(starts, np.asarray(events, dtype=np.int64), side="right") - 1


@dataclass(frozen=True, slots=True)
class _Cells:
    """For each section and leaf, the last gradient that arrives: its row in the table of gradients.

    Ordered by section, then by the event of each leaf's first gradient in it.
    """

    section: np.ndarray
    tensor: np.ndarray
    index: np.ndarray


def _last_of_each(section: np.ndarray, tensor: np.ndarray) -> _Cells:
    pairs = np.stack([section, tensor])
    _, first = np.unique(pairs, axis=1, return_index=True)
    _, last = np.unique(pairs[:, ::-1], axis=1, return_index=True)
    order = np.argsort(first)
    index = (len(section) - 1 - last)[order]
    return _Cells(section[index], tensor[index], index)


def _roles(outline: Outline, rows: _Rows, updated: Sequence[int]) -> tuple[set[int], set[int]]:
    """The rows of inputs, which no module lists, and those of a module's parameters, where nothing is updated and no
    optimiser holds them."""
    in_optimisers = [one for _, _, _, tensors in outline.held for one in tensors if one is not None]
    learning = rows.with_any({*updated, *in_optimisers})
    registered = rows.with_any({tensor for _, _, tensor in outline.parts})
    plain = {row for row, name in enumerate(rows.names) if "." not in name}
    inputs = plain - registered if learning or registered else rows.replaced
    return inputs - learning, registered - learning


def _of_program(outline: Outline, roots: Losses) -> Losses:
    """The roots of calls that do not run inside another one, as those of an adjoint method do."""
    mask = np.isin(roots.event, [call for call, _ in outer_calls(outline)])
    return Losses(roots.event[mask], roots.loss[mask])


def _in_training(outline: Outline, roots: Losses, starts: np.ndarray, updated: np.ndarray) -> Losses:
    """The roots without those of places where nothing is ever updated and that few sections come to, such as those of a
    map of what a trained network looks at.  `updated` are the sections with updates."""
    if not len(updated):
        return roots
    section, places = _section_of(starts, roots.event), outline.stacks[roots.event]
    mask = np.isin(places, places[np.isin(section, updated)])
    for place in np.unique(places[~mask]).tolist():
        here = places == place
        mask |= here & (RARE * len(np.unique(section[here])) >= len(np.unique(section)))
    return Losses(roots.event[mask], roots.loss[mask])


def _losses(trace: Trace, outline: Outline, roots: Losses, starts: np.ndarray, left_out: np.ndarray) -> Losses:
    """The roots that are losses: of each section those of `backward()`; without one, those of `autograd.grad`.

    A call of `autograd.grad` with `create_graph` is the last choice: its gradients are a part of a loss, as in a
    gradient penalty. A call that trains nothing, as of a sampler or an attack, comes after those that do. One event is
    read for each place that calls, and if a section has several of them, the events of the first such section, but not
    of one of `left_out`, in which a GradScaler leaves out updates.
    """
    if not len(roots.event):
        return roots
    _, first, place = np.unique(outline.stacks[roots.event], return_index=True, return_inverse=True)
    distance = np.array([distance_from_loss(trace.events[event]) for event in roots.event[first].tolist()])
    section = _section_of(starts, roots.event)
    is_whole = ~np.isin(section[1:], left_out)
    several = np.flatnonzero((np.diff(section) == 0) & (np.diff(place) != 0) & is_whole)
    if len(several):
        inside = np.flatnonzero(section == section[several[0]])
        calls = dict(zip(roots.event[inside].tolist(), place[inside].tolist(), strict=True))
        following = starts[starts > roots.event[inside[-1]]]
        end = int(following[0]) if len(following) else len(outline.kinds)
        distance[_without_update(trace, outline, calls, end)] += FARTHER
    rank = distance[place]
    best = np.full(len(starts) + 1, max(rank))  # the last one is for what comes before all sections
    np.minimum.at(best, section, rank)
    mask = rank == best[section]
    return Losses(roots.event[mask], roots.loss[mask])


def _without_update(trace: Trace, outline: Outline, calls: Mapping[int, int], end: int) -> list[int]:
    """The places whose backward calls bring no gradient to a step of an optimiser before `end`, if those of another
    place do.  `calls` are the events and places of the calls.

    What is cleared before the step brings nothing, such as the gradients that an attack leaves in the model.
    """
    holds = {(kind, int(outline.stacks[event])): tensors for event, _, kind, tensors in outline.held if event < end}
    brought: dict[int, set[int]] = {}  # by leaf, the places whose gradients are in its `.grad`
    updating: set[int] = set()
    now = calls[min(calls)]
    for index in range(min(calls), end):
        event = trace.events[index]
        now = calls.get(index, now)
        if isinstance(event, Accumulated):
            begins = event.before is None or trace.value(event.before).is_zero
            brought[event.tensor] = {now} if begins else brought.get(event.tensor, set()) | {now}
        elif isinstance(event, GradSet):
            brought.pop(event.tensor, None)
        elif isinstance(event, GroupEntered) and event.optimizer:
            for tensor in event.tensors or holds.get((event.kind, event.stack), ()):
                updating |= brought.get(-1 if tensor is None else tensor, set())
    return [place for place in set(calls.values()) if place not in updating] if updating else []


def _root_names(trace: Trace, outline: Outline, scaled: Mapping[int, str]) -> dict[int, str]:
    """By event of a backward call, the name of its root; where several roots have one name, since each comes from a
    function that calls its result `loss`, the name that the call itself has for it.  `scaled` has by place the names of
    losses that are multiplied first."""
    sources = Sources(trace.files)
    places = [(event, int(outline.stacks[event]), roots[0]) for event, roots in outline.calls if roots]
    calls = [(event, place, scaled.get(place) or trace.names.get(root, "")) for event, place, root in places]
    operand_names: dict[int, str] = {}
    for stack in {stack for _, stack, _ in calls if 0 <= stack < len(trace.stacks)}:
        frames = trace.stacks[stack]
        operands = sources.operands(frames[-1]) if frames else ()
        operand_names[stack] = next(filter(str.isidentifier, operands), "")
    synonyms: dict[str, set[str]] = {}
    for _, stack, name in calls:
        synonyms.setdefault(name, set()).add(operand_names.get(stack, ""))
    return {e: operand_names.get(stack, "") or name if len(synonyms[name]) > 1 else name for e, stack, name in calls}


def _by_name(
    trace: Trace, outline: Outline, losses: Losses, starts: np.ndarray, columns: np.ndarray, scaled: Mapping[int, str]
) -> tuple[str, dict[int, float], dict[str, np.ndarray]]:
    """The name of the loss, and by column its first value; by name the roots of the other columns, and further ones
    that several columns have, as the loss of a generator that is trained in every fifth iteration.

    The loss has the name with which most columns begin. Where they have no names, or more than are shown, each column
    has its first root, which is called loss.
    """
    names = _root_names(trace, outline, scaled)
    values: dict[str, dict[int, float]] = {}
    first: dict[int, tuple[str, float]] = {}
    places = np.searchsorted(columns, _section_of(starts, losses.event)).tolist()
    for column, event, loss in zip(places, losses.event.tolist(), losses.loss.tolist(), strict=True):
        name = names.get(event, "")
        first.setdefault(column, (name, loss))
        values.setdefault(name, {}).setdefault(column, loss)
    mains = [name for name, _ in Counter(name for name, _ in first.values()).most_common()]
    further = [name for name, numbers in values.items() if name not in mains and len(numbers) > 1]
    further.sort(key=lambda name: -len(values[name]))
    others = [*mains[1:], *filter(str.isidentifier, further)]
    if not others or len(mains) > 1 + MOST_OTHERS or not all(map(str.isidentifier, mains)):
        return "loss", {column: loss for column, (_, loss) in first.items()}, {}
    curves = {
        name: np.array([values[name].get(column, np.nan) for column in range(len(columns))])
        for name in others[:MOST_OTHERS]
    }
    return mains[0], values[mains[0]], curves


class _Rows:
    """One row per name: a leaf that is made again in each iteration continues the row of the one before.

    `events` are those of the table of gradients. Leaves of the same name that have gradients in the same section have
    rows of their own. A shape is None if the file has lost it.
    """

    def __init__(self, trace: Trace, outline: Outline, cells: _Cells, events: np.ndarray) -> None:
        self.trace, self.outline = trace, outline
        self.names: list[str] = []
        self.shapes: list[tuple[int, ...] | None] = []
        self.dtypes: list[str] = []
        self._like: Counter[str] = Counter()
        section, tensor = cells.section, cells.tensor
        self.tensors, begin = np.unique(tensor, return_index=True)
        last = dict(zip(tensor.tolist(), section.tolist(), strict=True))
        ended: dict[tuple[str, tuple[int, ...] | None], list[tuple[int, int]]] = {}  # heaps of (last section, row)
        rows: dict[int, int] = {}
        for one in self.tensors[np.argsort(begin)].tolist():
            first = begin[np.searchsorted(self.tensors, one)]
            event = int(events[cells.index[first]])
            name, shape = self._name_and_shape(one, event)
            heap = ended.setdefault((name, shape), [])
            is_free = heap and heap[0][0] < section[first]
            rows[one] = heappop(heap)[1] if is_free else self._add(name, shape, event)
            heappush(heap, (last[one], rows[one]))
        self._rows = np.array([rows[one] for one in self.tensors.tolist()], dtype=np.int64)

    def of(self, tensors: np.ndarray) -> np.ndarray:
        """The rows of the leaves that have gradients."""
        return self._rows[np.searchsorted(self.tensors, tensors)]

    def of_all(self) -> dict[int, int]:
        """The row of each leaf."""
        return dict(zip(self.tensors.tolist(), self._rows.tolist(), strict=True))

    def with_any(self, tensors: set[int]) -> set[int]:
        """The rows of some of these leaves."""
        return {row for tensor, row in self.of_all().items() if tensor in tensors}

    @property
    def replaced(self) -> set[int]:
        """The rows of several leaves, one after the other."""
        numbers, counts = np.unique(self._rows, return_counts=True)
        return set(numbers[counts > 1].tolist())

    def _add(self, name: str, shape: tuple[int, ...] | None, event: int) -> int:
        self._like[name] += 1
        self.names.append(f"{name} ({self._like[name]})" if self._like[name] > 1 else name)
        self.shapes.append(shape)
        gradient = self._gradient(event)  # has the dtype that its leaf has now: `model.bfloat16()` changes it
        self.dtypes.append("" if gradient is None else gradient.dtype)
        return len(self.names) - 1

    def _name_and_shape(self, tensor: int, event: int) -> tuple[str, tuple[int, ...] | None]:
        """The name and shape of a leaf that receives a gradient in an event."""
        maker = self.trace.events[int(self.outline.born[tensor])]
        own: str | None = None
        shape: tuple[int, ...] | None
        if isinstance(maker, LeafCreated):
            own, shape = maker.name, maker.shape
        elif isinstance(maker, OpCalled):
            shape = next(out.shape for out in maker.outputs if out.tensor == tensor)
        else:
            gradient = self._gradient(event)
            shape = None if gradient is None else gradient.shape
        return self.trace.names.get(tensor) or own or "a leaf without a name", shape

    def _gradient(self, event: int) -> Any:
        """The gradient that arrives in an event, of the shape of its leaf; None if the file has lost it."""
        accumulation = self.trace.events[event]
        value = self.trace.value(accumulation.after) if isinstance(accumulation, Accumulated) else None
        return None if value is None or value.damaged else value


def group(name: str) -> str:
    """The module in which a parameter is drawn: the outermost one below the model, or a single one of a numbered list.

    >>> [group(name) for name in ("model.blocks.5.attn.qkv.weight", "model.head.weight", "net.0.bias", "w")]
    ['model.blocks.5', 'model.head', 'net.0', '']
    """
    path = name.split(".")[:-1]
    number = next((place for place, part in enumerate(path) if part.isdecimal()), None)
    return ".".join(path[: 2 if number is None else number + 1])


def _in_forward_order(trace: Trace, first: Section, rows: _Rows) -> list[int]:
    """The rows in the order in which the first iteration with gradients uses their leaves."""
    row_of = rows.of_all()
    order: dict[int, None] = {}
    for index in range(first.start, first.end):
        event = trace.events[index]
        if isinstance(event, OpCalled):
            order.update(dict.fromkeys(row_of[one.tensor] for one in event.inputs if one.tensor in row_of))
    return list(order)


def _reads_gradients(trace: Trace, first: Section) -> bool:
    """Return whether the program computes with gradients in the first iteration that has some.

    Writes to them, by which they are set to zero, are not counted.
    """
    gradients: set[int] = set()
    reads = False
    for index in range(first.start, first.end):
        event = trace.events[index]
        if isinstance(event, Accumulated):
            gradients.add(event.grad)
        elif isinstance(event, OpCalled) and event.inplace not in gradients:
            reads = reads or any(one.tensor in gradients for one in event.inputs)
    return reads


def joined(overview: Overview, most: int = MOST_COLUMNS) -> Overview:
    """An overview of at most `most` columns, fewer if there are very many parameters.

    A column that stands for several has their largest norms and their last loss.
    """
    most = max(1, min(most, max(FEWEST_COLUMNS, MOST_CELLS // max(1, len(overview.parameters)))))
    count = len(overview.labels)
    if count <= most:
        return overview
    size = -(-count // most)
    begins = np.arange(0, count, size)
    ends = np.minimum(begins + size, count) - 1
    with np.errstate(invalid="ignore"):
        rows = {name: np.fmax.reduceat(array, begins, axis=1) for name, array in overview.rows.items()}
    labels = tuple(_from_to(overview.labels[a], overview.labels[b]) for a, b in zip(begins, ends, strict=True))
    return Overview(
        labels, tuple(overview.first[k] for k in begins), tuple(overview.last[k] for k in ends), overview.loss[ends],
        tuple(overview.rooted[k] for k in ends), overview.parameters, rows, overview.updates,
        np.add.reduceat(overview.skipped, [*begins, count]), {}, overview.ops,
        overview.rate[ends], size, tuple(overview.calls[k] for k in begins) if overview.calls else (),
        overview.root, {name: values[ends] for name, values in overview.others.items()}, overview.scales,
        about_gradients=overview.about_gradients,
    )  # fmt: skip
