"""The state of a replay: the tensors that stand for those of the recording, what the program meets, and doubts.

Where the program would have met another value than it did, the run is doubted from there on.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..arrays.array import xp
from ..tensor.tensor import Tensor, tensor_of
from ..trace.events import LeafCreated, OpCalled, Refreshed, Trace, Value
from ..trace.log_reader import read, value_of
from ..trace.recorder import Recorder
from ..trace.summary import Summary
from .doubts import MISSING, NOT_DONE
from .gradient_names import GradientHolders
from .program import Edits, calls_of
from .user_code import Blocks


class ProgramError(Exception):
    """The replayed program raised, as the user's would."""


class Run:
    """The state that the parts of a replay share."""

    def __init__(self, base: Trace, edits: Edits) -> None:
        self.base = base
        self.edits = edits
        self.live: dict[int, Tensor] = {}  # tensor id in the base -> the tensor that runs now
        self.nodes: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # likewise of nodes
        self.recorder = Recorder()
        self.recorder.stacks.numbers = {(frames, number): number for number, frames in enumerate(base.stacks)}
        self.holders = GradientHolders(base)
        self.groups = calls_of(base.events)
        self.blocks = Blocks(base.events)
        self.doubt: int | None = None
        self.why: str | None = None
        self.nested = 0  # how much code of the user's runs, one inside of the other
        self.seeds: dict[int, int] = {}  # tensor in the log -> its id in the base
        self.values_by_version: dict[tuple[int, int], int] = {}  # (tensor, version) -> its value in the recording
        for event in base.events:
            if isinstance(event, (LeafCreated, Refreshed)):
                self.values_by_version[event.tensor, event.version] = event.value
            elif isinstance(event, OpCalled):
                self.values_by_version.update({(out.tensor, out.version): out.value for out in event.outputs})
        self._turns = [event for event in base.events if event.loops]  # where loops go on
        self._turned = 0  # how many of those the run has passed

    def trace(self) -> Trace:
        """The new trace."""
        for number, tensor in self.live.items():
            if tensor._id >= 0:
                self.seeds.setdefault(tensor._id, number)
        meta = {**self.base.meta, "doubt": self.doubt, "why": self.why, "edits": self.edits.as_json()}
        return read(self.recorder.recording, self.base.argv, meta, base=self.base, seeds=self.seeds)

    def pin(self, stack: int, until: int) -> None:
        """Record the next ops with a stack of the recording, and with the variables of loops up to event `until`."""
        turns, start, stacks = self._turns, self._turned, self.recorder.stacks
        while self._turned < len(turns) and turns[self._turned].index <= until:
            self._turned += 1
        stacks.pinned = stack
        if start < self._turned:
            loops = (*stacks.repeated, *(one for event in turns[start : self._turned] for one in event.loops))
            stacks.repeated = tuple({(one.depth, one.line, one.name): one for one in loops}.values())

    def doubted(self, why: str, at: int | None = None) -> None:
        """From here (or from entry `at` of the log) on the program itself might have done otherwise."""
        if self.doubt is None:
            self.doubt = len(self.recorder.log) if at is None else at
            self.why = why

    # -- what the program meets -------------------------------------------------------------------------------------

    def name(self, number: int) -> str:
        """The program's name of a tensor, for an error."""
        return self.base.names.get(number, f"tensor {number}")

    def array(self, index: int | None) -> Any:
        """A recorded value; raises ValueError where it was too large to be kept."""
        if index is None:
            return None
        value = self.base.value(index)
        if value.array is None:
            raise ValueError(f"a value of shape {list(value.shape)} {value.missing}")
        return xp.array(value.array)

    def tensor(self, number: int) -> Tensor:
        """The live tensor of an id."""
        tensor = self.live.get(number)
        if tensor is None and number in self.blocks.values:
            self.doubted(NOT_DONE)
            tensor = self.live[number] = tensor_of(self.array(self.blocks.values[number]))
        if tensor is None:
            raise ValueError(f"a command uses {self.name(number)} before the program makes it: move it further down")
        return tensor

    def met(self, number: int, at: int) -> Tensor | None:
        """The tensor at event `at` in place of `number` in the recording; for a gradient, the one that is there now."""
        leaf = self.holders.holder(number, at)
        if leaf is not None and leaf in self.live:
            return self.live[leaf]._grad
        return self.live.get(number) if number in self.holders.leaves else self.tensor(number)

    def nothing(self, number: int) -> ProgramError:
        """The program meets None instead of a gradient and cannot go on with it, whatever it says then."""
        self.doubted(MISSING)
        name = self.name(self.holders.leaves[number])
        error = TypeError(f"{name}.grad is None here ('NoneType'): no backward call has filled it")
        self.recorder.error(error)
        return ProgramError(error)


def is_as_recorded(data: Any, value: Value) -> bool:
    """Return whether an array equals the recorded value: if that is large, by its sample and statistics."""
    return value_of(Summary(data) if value.array is None else data).is_like(value)


def same_bits(a: Any, b: Any) -> bool:
    """Return whether two arrays are equal, bit for bit."""
    return a.shape == b.shape and a.dtype == b.dtype and bool(xp.asarray(a).tobytes() == xp.asarray(b).tobytes())


def needed(value: int | None, what: str) -> int:
    if value is None:
        raise ValueError(f"the command names no {what}")
    return value


def fitted(numbers: Any, shape: tuple[int, ...] | None, dtype: str, name: str) -> Any:
    """Nested lists of numbers as an array of the shape (None: any) and dtype asked for.

    Raises ValueError where they do not fit.
    """
    try:
        data = xp.array(_numbers(numbers), dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        where = "" if shape is None else f" in shape {list(shape)}"
        raise ValueError(f"{name}: expected numbers{where}, found {numbers!r} ({error})") from None
    if shape is not None and data.shape != tuple(shape):
        raise ValueError(f"{name}: expected numbers in shape {list(shape)}, found shape {list(data.shape)}")
    return data


def _numbers(values: Any) -> Any:
    """Nested lists with the words that JSON has no numbers for ("nan", "inf", "-inf") made numbers."""
    if isinstance(values, (list, tuple)):
        return [_numbers(value) for value in values]
    return float(values) if isinstance(values, str) else values
