"""A trace: a recorded program that can be read, drawn and run again.

The recorder (`engine.trace.recorder`) appends plain tuples while the user's program runs.  Reading a trace turns them
into the frozen objects below.  All ids are small integers, counted from zero in the order of first appearance, so that
two recordings of one program are equal, object for object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, prod, sqrt
from typing import Any, ClassVar

import numpy as np

from ..arrays.element_types import dtype_named

Scalar = bool | int | float
STATISTICS = ("min", "max", "mean", "norm", "nan", "inf", "zeros")


@dataclass(frozen=True, slots=True)
class Frame:
    """One place in one of the user's own files: lines count from 1, columns (in characters) from 0."""

    file: str
    function: str
    line: int
    end_line: int
    col: int
    end_col: int


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a tensor: the whole array, or a strided sample and statistics if it exceeds the recorder's limit.

    `array` is None where only the `sample` (at most 64 elements, flat) was kept.  `stats` has min, max, mean, norm
    (of the finite elements, as float) and the counts nan, inf and zeros.  If a value is `damaged` (its bytes in a file
    do not match their digest), only shape and dtype are known: the sample is empty, the statistics are nan.
    """

    shape: tuple[int, ...]
    dtype: str
    array: np.ndarray | None
    sample: np.ndarray
    stats: Mapping[str, float]
    damaged: bool = False

    def is_like(self, other: Value) -> bool:
        """Return whether both are equal as far as they are known: all elements, bit for bit; or for large values the
        sample, the extremes and the counts, bit for bit, and mean and norm to six digits, because other machines and
        earlier versions of Backstep add in another order.
        """
        if (self.shape, self.dtype, self.damaged) != (other.shape, other.dtype, other.damaged):
            return False
        if self.array is not None and other.array is not None:
            return bool(self.array.tobytes() == other.array.tobytes())
        if self.damaged or self.sample.tobytes() != other.sample.tobytes():
            return self.damaged
        mine, its = self.stats, other.stats
        spread = mine["norm"] / sqrt(max(1, prod(self.shape)))
        return (
            all(repr(float(mine[key])) == repr(float(its[key])) for key in STATISTICS if key not in ("mean", "norm"))
            and isclose(mine["norm"], its["norm"], rel_tol=1e-6)
            and isclose(mine["mean"], its["mean"], abs_tol=1e-6 * spread)
        )

    @property
    def is_whole(self) -> bool:
        """Whether all elements are known."""
        return self.array is not None

    def array_up_to(self, most: int) -> np.ndarray | None:
        """The elements if all are known and there are at most so many, else None.

        Of a large value in a file, this reads none.
        """
        return self.array if prod(self.shape) <= most else None

    @property
    def is_zero(self) -> bool:
        """Whether all elements are known to be 0, also if there are none."""
        return not self.damaged and self.stats["zeros"] == prod(self.shape)

    @property
    def missing(self) -> str:
        """The reason why there is no array, for the error of code that needs it."""
        return "is damaged in its file" if self.damaged else "was recorded as a sample only: record with a higher limit"


def damaged_value(shape: tuple[int, ...], dtype: str) -> Value:
    """A stand-in for lost elements: none of its numbers is known, and none counts as non-finite or zero."""
    stats = {**dict.fromkeys(("min", "max", "mean", "norm"), float("nan")), **dict.fromkeys(("nan", "inf", "zeros"), 0)}
    return Value(shape, dtype, None, np.zeros(0, dtype_named(dtype)), stats, damaged=True)


@dataclass(frozen=True, slots=True)
class Input:
    """One argument of an op: a tensor in the version that it had, or a Python number."""

    name: str
    tensor: int | None
    version: int = 0
    scalar: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """One result of an op.  `view_of` is the tensor whose storage it shares; `value` is an index for `trace.value`."""

    tensor: int
    version: int
    value: int
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    storage: int
    view_of: int | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """The receiver of a cotangent: an output of another node, or (`leaf`) the AccumulateGrad of a leaf tensor."""

    node: int | None
    leaf: int | None
    output_nr: int = 0


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved value of a node, with its name.  `value` is None for a number, which is in `scalar`."""

    name: str
    value: int | None
    scalar: Scalar | None
    tensor: int | None
    bytes: int


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node of the backward graph: torch's name (`MulBackward0`), one edge per differentiable input of the op.

    `inputs` names the op's input behind each edge.
    """

    node: int
    name: str
    sequence_nr: int
    inputs: tuple[str, ...]
    edges: tuple[Edge | None, ...]
    saved: tuple[Saved, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """A tensor that backward starts from, with its gradient (`implicit`: the 1 that backward() fills in).

    `source` is the tensor that was passed as gradient.
    """

    tensor: int
    gradient: int
    implicit: bool
    source: int | None = None


@dataclass(frozen=True, slots=True)
class LoopVariable:
    """The value of the variable of a `for` loop from an event on: `text` as Python writes it, None if it is neither a
    number nor a short text.

    `depth` is the frame of the event's stack that runs the loop, `line` the one before the loop's body.
    """

    depth: int
    line: int
    name: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Event:
    """`index` is the event's place in `trace.events`, `stack` its place in `trace.stacks` (-1: none).

    `loops` has the variables of the loops around it that have changed since the event before.
    """

    index: int
    stack: int
    loops: tuple[LoopVariable, ...] = field(default=(), kw_only=True)


SCALER = "GradScaler"
"""The source of the scale that a GradScaler multiplies losses by."""


@dataclass(frozen=True, slots=True)
class LeafCreated(Event):
    """A tensor that no recorded op computed: `source` is the function that created it, `seen` if it existed before the
    recording, `edited` if a replay received its numbers instead of the op that computes them.

    `name` is the qualified name of a parameter or buffer in its module.
    """

    tensor: int
    storage: int
    value: int
    shape: tuple[int, ...]
    dtype: str
    device: str
    requires_grad: bool
    source: str
    grad: int | None
    version: int = 0
    name: str | None = None


@dataclass(frozen=True, slots=True)
class OpCalled(Event):
    """A forward op.  `inplace` is the tensor it wrote, `call` the backward call it ran in (create_graph), if any."""

    name: str
    inputs: tuple[Input, ...]
    attrs: Mapping[str, Any]
    outputs: tuple[Output, ...]
    node: NodeRecord | None
    inplace: int | None
    call: int | None


def is_foreign(name: str) -> bool:
    """Return whether only the library of the recording has an op, which then keeps the name that it has there.

    >>> is_foreign("aten::istft"), is_foreign("mul")
    (True, False)
    """
    return "::" in name


@dataclass(frozen=True, slots=True)
class Refreshed(Event):
    """A tensor was found changed by a write through another name of its storage (a view, its base)."""

    tensor: int
    version: int
    value: int


@dataclass(frozen=True, slots=True)
class WrittenOutside(Refreshed):
    """The program wrote into a tensor's memory through numpy: found when the tensor was used again."""


@dataclass(frozen=True, slots=True)
class DataSet(Refreshed):
    """`x.data = y`: the tensor has the elements of `source` from now on, in memory that both share."""

    source: int


@dataclass(frozen=True, slots=True)
class StatisticMoved(Refreshed):
    """A batch norm of PyTorch's took a part, `momentum`, of its batch's mean or variance into a running one, without an
    op; found when that was used again.  `source` is the mean; with `eps`, 1 / standard deviation, `elements` were
    counted for each channel."""

    source: int
    momentum: float
    eps: float | None
    elements: int


@dataclass(frozen=True, slots=True)
class FlagChanged(Event):
    """`requires_grad` or `retain_grad` of a tensor set by the user."""

    tensor: int
    flag: str
    value: bool


@dataclass(frozen=True, slots=True)
class ModeChanged(Event):
    """A grad-mode switch: the following ops run with (`no_grad`: without) gradient recording."""

    grad_enabled: bool


@dataclass(frozen=True, slots=True)
class GradSet(Event):
    """`x.grad = ...` by the user; `value` is None for `x.grad = None`, else the assigned tensor's."""

    tensor: int
    value: int | None
    source: int | None


@dataclass(frozen=True, slots=True)
class BackwardStarted(Event):
    """A call of `backward` or `autograd.grad` (`function`); `call` counts them.  `inputs` None: all leaves.

    `legacy`: under `legacy_broadcasting()`; `anomaly`: under `detect_anomaly()`.
    """

    call: int
    function: str
    roots: tuple[Root, ...]
    inputs: tuple[int, ...] | None
    retain_graph: bool
    create_graph: bool
    legacy: bool = False
    anomaly: bool = False


@dataclass(frozen=True, slots=True)
class VjpRun(Event):
    """One node ran: upstream gradient per output of the node, cotangent per edge (after `sum_to_size`).

    `unsummed` has the cotangent before broadcast dimensions were summed, if that changed its shape.  `freed` says
    whether the node's saved values were freed after it ran.
    """

    call: int
    node: int
    upstream: tuple[int | None, ...]
    cotangents: tuple[int | None, ...]
    unsummed: tuple[int | None, ...]
    freed: bool


@dataclass(frozen=True, slots=True)
class Accumulated(Event):
    """A gradient reached a leaf (or, `retained`, an inner tensor that retains its gradient): after = before + added.

    `grad` is the tensor that `.grad` holds, so that a later `x.grad.zero_()` is known to write this leaf's gradient.
    """

    call: int
    tensor: int
    grad: int
    before: int | None
    added: int
    after: int
    retained: bool


@dataclass(frozen=True, slots=True)
class HookRan(Event):
    """A hook ran, and returned `after` instead of `before`.

    `place` says where: on the gradient of `tensor` ("tensor"), on upstream gradient `nr` ("before") or cotangent `nr`
    ("after") of `node` (None: the AccumulateGrad of the leaf `tensor`).
    """

    call: int
    tensor: int | None
    before: int | None
    after: int | None
    node: int | None = None
    place: str = "tensor"
    nr: int = 0


@dataclass(frozen=True, slots=True)
class CodeEntered(Event):
    """User code called by a backward call begins: the events up to the matching CodeLeft are its own.

    `place` says which: the backward of a custom Function ("backward", of `node`), a hook on output `nr` of `node` or
    on the leaf `tensor` ("tensor"), one that runs before or after `node`, or (None) the AccumulateGrad of the leaf
    `tensor` ("before", "after"), or one that runs now that the leaf `tensor` has its gradient ("accumulated").
    Outside of backward calls it is the forward of a custom Function ("forward"), or the hook that packs the tensor that
    `node` saves at place `nr` ("pack"); "unpack" restores it.  `given` has the tensors that it was called with:
    gradients, inputs, the tensor to pack, the leaf; for hooks after a node, first `split` cotangents, then the upstream
    gradients.
    """

    call: int | None
    place: str
    tensor: int | None
    node: int | None
    nr: int
    given: tuple[int | None, ...]
    split: int = 0


@dataclass(frozen=True, slots=True)
class CodeLeft(Event):
    """The innermost user code ended: with `results` (None: it returned None), or, if it is not `completed`, with an
    error or a result that is not a gradient."""

    results: tuple[int | None, ...] | None
    completed: bool = True


@dataclass(frozen=True, slots=True)
class Escaped(Event):
    """A value left for Python (`item`, `bool`, `numpy`, ...): the program may decide by it."""

    tensor: int
    kind: str
    value: int


@dataclass(frozen=True, slots=True)
class ErrorRaised(Event):
    """An exception of the engine or the user's program.

    `message` is torch's text, `note` our second part.  `node` and `call` are set for errors of a backward call,
    `tensors` has the tensors that the error is about (the one changed in place, the root ...).
    `traceback` is what Python would have printed (user frames only).
    """

    type: str
    message: str
    note: str
    call: int | None
    node: int | None
    tensors: tuple[int, ...]
    traceback: str


@dataclass(frozen=True, slots=True)
class WarningGiven(Event):
    """A warning in torch's words."""

    category: str
    message: str


@dataclass(frozen=True, slots=True)
class Printed(Event):
    """Text that the program wrote to `stream`, "stdout" or "stderr", by the call at its stack.

    `more` lines that the same call wrote right after it are left out.
    """

    stream: str
    text: str
    more: int = 0


@dataclass(frozen=True, slots=True)
class BackwardEnded(Event):
    """The call `call` ended; `completed` is False if an error stopped it.

    `results` are the tensors that `autograd.grad` returned.
    """

    call: int
    completed: bool
    results: tuple[int | None, ...] = ()


STEP = ".step"
"""The end of the kind of a group that is an optimiser's step, such as `SGD.step`."""


@dataclass(frozen=True, slots=True)
class GroupEntered(Event):
    """A group begins, up to its GroupLeft: a module's call, an optimiser's step.

    `name` is the module's qualified name (`encoder.layers.0.linear1`) within the outermost called module; the outermost
    one has the name by which the program reaches it (`model`), or, if there is none, as for an optimiser, `kind`, its
    class.  An optimiser's first step, and each later step before which they changed, has the `tensors` that it updates
    and that require a gradient; None stands for one that the program has not used yet.  Each step has the learning
    `rate` of the first parameter group, if it is a finite number.
    """

    name: str
    kind: str
    tensors: tuple[int | None, ...] = ()
    rate: float | None = None

    @property
    def optimizer(self) -> str:
        """The class of the optimiser whose step the group is; "" if it is another group."""
        return self.kind.removesuffix(STEP) if self.kind.endswith(STEP) else ""


@dataclass(frozen=True, slots=True)
class GroupLeft(Event):
    """The innermost group ended."""


@dataclass(frozen=True, slots=True)
class Skipped(Event):
    """The recording paused here for so many `iterations`, each of which ended with a step of an optimiser, and goes on
    in the one of this `number`, counted from 0."""

    iterations: int
    number: int


@dataclass(frozen=True, slots=True)
class Damaged(Event):
    """Replaces an event that is damaged in its file: its contents are unknown."""


AnyEvent = (
    LeafCreated
    | OpCalled
    | Refreshed
    | WrittenOutside
    | DataSet
    | StatisticMoved
    | FlagChanged
    | ModeChanged
    | GradSet
    | BackwardStarted
    | VjpRun
    | Accumulated
    | HookRan
    | CodeEntered
    | CodeLeft
    | Escaped
    | ErrorRaised
    | WarningGiven
    | BackwardEnded
    | GroupEntered
    | GroupLeft
    | Damaged
    | Printed
    | Skipped
)


_HOLD_VALUES = ("value", "before", "added", "after")
"""Fields of the other events that hold the number of a value."""


def last_value(event: Event) -> int:
    """The highest number of a value that an event names; -1 if it names none.  Values are numbered in the order of the
    events: all values up to this one are written and read before the event.
    """
    numbers: list[Any]
    if isinstance(event, VjpRun):
        numbers = [*event.upstream, *event.cotangents, *event.unsummed]
    elif isinstance(event, OpCalled):
        numbers = [out.value for out in event.outputs]
        numbers += [saved.value for saved in event.node.saved] if event.node is not None else []
    elif isinstance(event, BackwardStarted):
        numbers = [root.gradient for root in event.roots]
    else:
        numbers = [getattr(event, name, None) for name in _HOLD_VALUES]
    return max([number for number in numbers if type(number) is int], default=-1)


@dataclass(frozen=True, eq=False)
class Trace:
    """A finished recording: immutable, valid up to and including an error.

    `events` in the order in which they happened, `stacks` the interned call stacks (outermost frame first), `files`
    the text of the user's own files by the name that the frames use, `names` the variable name of a tensor where the
    source binds one.

    >>> import engine as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.record() as trace:
    ...     (x * x).backward()
    >>> [type(event).__name__ for event in trace.events][:2]
    ['LeafCreated', 'OpCalled']
    """

    events: Sequence[AnyEvent]
    stacks: Sequence[tuple[Frame, ...]]
    files: Mapping[str, str]
    names: Mapping[int, str]
    values: Sequence[Value]
    argv: tuple[str, ...] = field(default_factory=tuple)
    meta: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def pending(cls, load: Callable[[], Trace]) -> Trace:
        """A trace that is read when it is first used."""
        trace = object.__new__(cls)
        trace.__dict__["_load"] = load
        return trace

    def __getattr__(self, name: str) -> Any:
        load = self.__dict__.get("_load")
        if load is None or name not in self.__dataclass_fields__:
            raise AttributeError(f"a Trace has no {name!r}")
        loaded = load()
        self.__dict__.pop("_load", None)
        self.__dict__.update({n: getattr(loaded, n) for n in self.__dataclass_fields__})
        return self.__dict__[name]

    def value(self, index: int) -> Value:
        """The value that events name by `index`."""
        return self.values[index]

    save: ClassVar[Callable[[Trace, str], None]]
    """Write the trace to one file; set, like the next one, by `engine.trace.file.tracefile`, which knows the format."""
    open: ClassVar[Callable[[str], Trace]]
    """Read a trace from a file that `save` wrote."""
