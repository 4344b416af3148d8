"""A whole run in a few numbers per iteration and parameter: the loss, and what the gradients and the updates were.

The instruments are those of Cockpit (Schneider, Dangel, Hennig 2021, arXiv:2102.06604) that a recording already has:
gradient norm, update size, zeros and extremes per parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.trace.events import Accumulated, LeafCreated, OpCalled, Trace, Value
from engine.trace.file.outline import VALUE, Outline

from .iterations import Section
from .state import value_before

MOST_COLUMNS = 1_000
"""Columns of the document: more have no pixel of their own."""
MOST_CELLS = 100_000
"""Cells of a quantity: of very many parameters there are fewer columns, so that the document stays under 5 MB."""
QUANTITIES = ("norm", "ratio", "zeros", "nonfinite", "largest")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A leaf that gradients reach: its name, the module (or row of equal modules) that it is drawn in, its shape."""

    name: str
    group: str
    shape: tuple[int, ...]
    is_sampled: bool = False
    """Whether its update ratio is an estimate from the sample of its elements that was kept."""

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True)
class Overview:
    """The numbers of a run.  Columns are the sections with a backward call, rows the parameters in forward order.

    `first` and `last` are the sections of a column: one, or several that were joined.  `rooted` says whether its loss
    is known: where it is not, a nan stands for it.  The arrays of `rows` are float64 of shape (parameters, columns),
    nan where a parameter had no gradient: `norm` (of the finite elements), `ratio` (norm of the change of the weight
    over its norm before; of the sample where the elements were not kept), `zeros` (share), `nonfinite` (count),
    `largest` (magnitude), `mean`.
    """

    labels: tuple[str, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    loss: np.ndarray
    rooted: tuple[bool, ...]
    parameters: tuple[Parameter, ...]
    rows: dict[str, np.ndarray] = field(repr=False)
    updates: int
    ops: int

    @property
    def total(self) -> np.ndarray:
        """The norm of all gradients together, by column; nan where none is known."""
        norm = self.rows["norm"]
        known = np.isfinite(norm).any(axis=0) if len(norm) else np.zeros(len(self.labels), bool)
        return np.where(known, np.sqrt(np.nansum(norm**2, axis=0)), np.nan)


def overview(trace: Trace, outline: Outline, sections: Sequence[Section]) -> Overview:
    """The overview of a run.

    Cost: linear in the gradients that were accumulated and in the elements of the weights; other events are not read,
    except those of one iteration, which tells the order of the parameters.
    """
    starts = np.array([section.start for section in sections])
    calls = _section_of(starts, [event for event, _ in outline.calls])
    columns = sorted(set(calls.tolist()))
    column_of = {section: column for column, section in enumerate(columns)}
    cells = _cells(trace, outline, starts)
    rows = _Rows(trace, outline)
    placed = [(rows.of(event, section), column_of[section], event) for section, event in cells if section in column_of]
    names = _in_forward_order(trace, sections, rows.tensors, {section for section, _ in cells})
    values: dict[str, np.ndarray] = {
        name: np.full((len(rows.names), len(columns)), np.nan) for name in (*QUANTITIES, "mean")
    }
    for row, column, event in placed:
        for name, number in _of_gradient(trace.value(event.after)).items():
            values[name][row, column] = number
    updates, sampled = _ratios(trace, outline, starts, column_of, rows.rows_of, values["ratio"])
    known = [*names, *(row for row in range(len(rows.names)) if row not in set(names))]
    losses = _losses(trace, outline, calls)
    return Overview(
        labels=tuple(_label(sections[section]) for section in columns),
        first=tuple(columns),
        last=tuple(columns),
        loss=np.array([losses.get(section, np.nan) for section in columns]),
        rooted=tuple(section in losses for section in columns),
        parameters=tuple(
            Parameter(rows.names[row], group(rows.names[row]), rows.shapes[row], row in sampled) for row in known
        ),
        rows={name: array[known] for name, array in values.items()},
        updates=updates,
        ops=len(outline.where(OpCalled)),
    )


def _label(section: Section) -> str:
    return " · ".join(filter(None, (*section.around, section.label))) or "the program"


def _section_of(starts: np.ndarray, events: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.searchsorted(starts, np.asarray(events, dtype=np.int64), side="right") - 1


def _cells(trace: Trace, outline: Outline, starts: np.ndarray) -> list[tuple[int, Accumulated]]:
    """By section and leaf the last gradient that came to it."""
    where = outline.where(Accumulated)
    last: dict[tuple[int, int], Accumulated] = {}
    for section, index in zip(_section_of(starts, where).tolist(), where.tolist(), strict=True):
        event = trace.events[index]
        if isinstance(event, Accumulated) and not event.retained:
            last[section, event.tensor] = event
    return [(section, event) for (section, _), event in last.items()]


class _Rows:
    """One row per name: a leaf that is made anew in each iteration goes on in the row of the one before."""

    def __init__(self, trace: Trace, outline: Outline) -> None:
        self.trace, self.outline = trace, outline
        self.names: list[str] = []
        self.shapes: list[tuple[int, ...]] = []
        self.tensors: dict[int, int] = {}
        self.rows_of: dict[int, int] = {}
        self._ended: dict[tuple[str, tuple[int, ...]], list[tuple[int, int]]] = {}

    def of(self, event: Accumulated, section: int) -> int:
        """The row of a leaf; leaves of one name that have gradients in one section have rows of their own."""
        tensor = event.tensor
        row = self.rows_of.get(tensor)
        shape = tuple(self.trace.value(event.after).shape) if row is None else self.shapes[row]
        name = self._name(tensor) if row is None else ""
        if row is None:
            free = self._ended.setdefault((name, shape), [])
            row = next((number for number, last in free if last < section), None)
            if row is None:
                row = len(self.names)
                like = sum(known == name or known.startswith(f"{name} (") for known in self.names)
                self.names.append(f"{name} ({like + 1})" if like else name)
                self.shapes.append(shape)
                self.tensors[tensor] = row
            self.rows_of[tensor] = row
            self._ended[name, shape] = [one for one in free if one[0] != row] + [(row, section)]
        return row

    def _name(self, tensor: int) -> str:
        made = self.trace.events[int(self.outline.born[tensor])]
        own = made.name if isinstance(made, LeafCreated) else None
        return self.trace.names.get(tensor) or own or "a leaf without a name"


def group(name: str) -> str:
    """The module that a parameter is drawn in: the outermost one below the model, in a numbered row the single one.

    >>> [group(name) for name in ("model.blocks.5.attn.qkv.weight", "model.head.weight", "net.0.bias", "w")]
    ['model.blocks.5', 'model.head', 'net.0', '']
    """
    path = name.split(".")[:-1]
    number = next((place for place, part in enumerate(path) if part.isdecimal()), None)
    return ".".join(path[: 2 if number is None else number + 1])


def _in_forward_order(trace: Trace, sections: Sequence[Section], rows: dict[int, int], used: set[int]) -> list[int]:
    """The rows in the order in which the first iteration with gradients uses their leaves."""
    order: dict[int, None] = {}
    for number in sorted(used)[:1]:
        for index in range(sections[number].start, sections[number].end):
            event = trace.events[index]
            if isinstance(event, OpCalled):
                order.update(dict.fromkeys(rows[one.tensor] for one in event.inputs if one.tensor in rows))
    return list(order)


def _of_gradient(value: Value) -> dict[str, float]:
    if value.damaged:
        return {}
    stats, size = value.stats, max(1, int(np.prod(value.shape, dtype=np.int64)))
    return {
        "norm": stats["norm"],
        "zeros": stats["zeros"] / size,
        "nonfinite": stats["nan"] + stats["inf"],
        "largest": max(abs(stats["min"]), abs(stats["max"])),
        "mean": stats["mean"],
    }


def _ratios(
    trace: Trace, outline: Outline, starts: np.ndarray, column_of: dict[int, int], rows: dict[int, int],
    ratio: np.ndarray,
) -> tuple[int, set[int]]:  # fmt: skip
    """Fills in the ratios of updates; the number of sections that changed a weight, and the rows that are estimates."""
    changes = outline.changes
    chosen = np.flatnonzero((changes.what == VALUE) & np.isin(changes.tensor, list(rows)))
    chosen = chosen[np.argsort(changes.event[chosen], kind="stable")]
    where = _section_of(starts, changes.event[chosen])
    last = {
        (int(section), int(changes.tensor[place])): int(changes.second[place])
        for section, place in zip(where.tolist(), chosen, strict=True)
    }
    before: dict[int, Value] = {}
    updated, sampled = set[int](), set[int]()
    for (section, tensor), number in last.items():
        old = before.get(tensor) or value_before(trace, outline, tensor, 0)
        now = before[tensor] = trace.value(number)
        if section in column_of and old is not None:
            updated.add(section)
            ratio[rows[tensor], column_of[section]] = _change(old, now)
            if old.array is None or now.array is None:
                sampled.add(rows[tensor])
    return len(updated), sampled


def _change(old: Value, new: Value) -> float:
    """The norm of a change over the norm of what was changed, by all elements that are known of both; nan where there
    is nothing to compare."""
    known = old.array is not None and new.array is not None
    was, now = (old.array, new.array) if known else (old.sample, new.sample)
    if was is None or now is None or old.shape != new.shape or was.size != now.size or not was.size:
        return float("nan")
    with np.errstate(all="ignore"):
        before, step = (
            np.linalg.norm(was.ravel().astype(_wide(was))),
            np.linalg.norm(np.subtract(now, was, dtype=_wide(was)).ravel()),
        )
        return float(step / before) if before else float("nan")


def _wide(array: np.ndarray) -> np.dtype:
    """A dtype in which float32 weights and their differences lose nothing."""
    return np.result_type(array.dtype, np.float64)


def _losses(trace: Trace, outline: Outline, calls: np.ndarray) -> dict[int, float]:
    """By section the root of the first backward call: its value if it is a number, else the mean of its elements."""
    found: dict[int, float] = {}
    for section, (event, roots) in zip(calls.tolist(), outline.calls, strict=True):
        if section in found or not roots:
            continue
        root = value_before(trace, outline, roots[0], event)
        if root is not None:
            found[section] = _mean(root)
    return found


def _mean(value: Value) -> float:
    """The mean of all elements, also of those that are not finite."""
    if value.stats["inf"] or value.stats["nan"]:
        signs = np.asarray(value.sample if value.array is None else value.array)
        if value.stats["nan"] or not signs.size or np.isnan(mean := float(np.real(signs).mean())):
            return float("nan")
        return mean
    return float(value.stats["mean"])


def joined(found: Overview, most: int = MOST_COLUMNS) -> Overview:
    """An overview of at most `most` columns, and fewer where there are very many parameters.

    Of the columns that become one it has the largest norms and the last loss.
    """
    most = max(1, min(most, max(100, MOST_CELLS // max(1, len(found.parameters)))))
    count = len(found.labels)
    if count <= most:
        return found
    size = -(-count // most)
    begins = np.arange(0, count, size)
    ends = np.minimum(begins + size, count) - 1
    with np.errstate(invalid="ignore"):
        rows = {name: np.fmax.reduceat(array, begins, axis=1) for name, array in found.rows.items()}
    labels = tuple(f"{found.labels[a]} to {found.labels[b]}" for a, b in zip(begins, ends, strict=True))
    return Overview(
        labels, tuple(found.first[k] for k in begins), tuple(found.last[k] for k in ends), found.loss[ends],
        tuple(found.rooted[k] for k in ends), found.parameters, rows, found.updates, found.ops,
    )  # fmt: skip
