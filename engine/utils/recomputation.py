"""Checkpoints whose graph is that of the function: its saved tensors are computed again when the first one is needed.

Each call of such a checkpoint is a frame.  Of what the function saves, the graph holds a place; the tensors that fill
the places come from another run of the function, one per backward pass, and each is given away once.
"""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..api.random.random import get_rng_state, set_rng_state
from ..arrays import errors
from ..arrays.session import unrecorded
from ..autograd.graph import saved_tensors_hooks
from ..backward.reentrancy import current
from ..namespaces.random import fork_rng
from ..tensor.grad_mode import enable_grad, mode
from ..tensor.node import changed_message
from ..tensor.saved_tensors import PackedTensor
from ..tensor.tensor import Tensor

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

FEWER = (
    "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
    "Number of tensors saved during forward: {}\nNumber of tensors saved during recomputation: {}.\n"
)
MORE = (
    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n"
)
OTHER = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
    "forward pass.\n"
)
TWICE = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. {}If you are "
    "calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details "
    "on your use case."
)
OVERLAP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute gradients) "
    "is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
)
SUPPRESSED = (
    "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
    "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed forward."
)
CHECKS = ("default", "none")


class CheckpointError(RuntimeError):
    """The function behaved differently when it was run again.

    Source: torch.utils.checkpoint.CheckpointError.

    >>> import engine as torch
    >>> issubclass(torch.utils.checkpoint.CheckpointError, RuntimeError)
    True
    """


class _Settings:
    early_stop: bool | None = None
    group: GraphExecGroup | None = None


settings = _Settings()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """For all checkpoints called inside, set whether a rerun stops once it has all the saved tensors.

    Source: torch.utils.checkpoint.set_checkpoint_early_stop.

    >>> import engine as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     y = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)
    >>> y
    tensor(0.9093, grad_fn=<SinBackward0>)
    """
    before, settings.early_stop = settings.early_stop, enable
    try:
        yield
    finally:
        settings.early_stop = before


class GraphExecGroup:
    """Backward calls inside share one rerun of each checkpoint; no two of them may use the same saved tensor.

    Source: torch.utils.checkpoint.GraphExecGroup.

    >>> import engine as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False)
    >>> with torch.utils.checkpoint.GraphExecGroup():
    ...     y.backward()
    >>> x.grad
    tensor(7.3891)
    """

    def __enter__(self) -> GraphExecGroup:
        if settings.group is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {settings.group}")
        settings.group = self
        return self

    def __exit__(self, *_: object) -> None:
        settings.group = None


def no_contexts() -> Contexts:
    """Return the contexts of forward and of its repetition that apply by default: both do nothing."""
    return nullcontext(), nullcontext()


class _StopRecomputation(Exception):
    """All that was saved has been computed again: the rest of the function need not run."""


class _FrameHooks(saved_tensors_hooks):
    """Those of a checkpoint: what comes back is what was kept, bit for bit, so that a replay does without them."""

    _quiet = True


class _OutsideBackward:
    """Stands for a backward pass where a saved tensor is asked for outside of any."""

    def __init__(self) -> None:
        self.number = uuid.uuid4()


class _Placeholder:
    """The graph's substitute for a saved tensor: per backward pass the tensor, None once it was handed over."""

    def __init__(self) -> None:
        self.tensors: weakref.WeakKeyDictionary[Any, Tensor | None] = weakref.WeakKeyDictionary()


class _Argument:
    """A tensor that the function was given, kept as an op would keep it: through the hooks of a checkpoint outside."""

    def __init__(self, tensor: Tensor) -> None:
        self.packed = PackedTensor(None, tensor, *mode.packing[-1]) if mode.packing else None
        self.tensor = None if self.packed is not None else tensor
        self.version = tensor._storage.version

    def value(self) -> Tensor:
        """The tensor again; raises torch's error where it was written since."""
        if self.packed is not None:
            return self.packed.tensor(None)
        assert self.tensor is not None
        version = self.tensor._storage.version
        if version != self.version:
            maker = self.tensor._node and self.tensor._node.name()
            raise errors.runtime(
                changed_message(self.tensor, maker, version, self.version),
                "Backstep: an argument of checkpoint() was written before the backward that runs the function again.",
                tensors=(self.tensor,),
            )
        return self.tensor


class _Frame:
    """One call of a checkpoint."""

    def __init__(self, again: Callable[..., None], args: tuple[Any, ...], check: bool, early_stop: bool) -> None:
        self.again, self.check, self.early_stop = again, check, early_stop
        self.args = [_Argument(a) if isinstance(a, Tensor) else a for a in args]
        self.places: list[weakref.ref[_Placeholder]] = []
        self.facts: list[Any] = []
        self.counts: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.completed = False
        self.odd = False
        """Whether a backward pass ran inside the function: the rerun may then save more than there are places."""

    def pack(self, tensor: Tensor) -> _Placeholder:
        """A place instead of the tensor."""
        place = _Placeholder()
        self.places.append(weakref.ref(place))
        self.facts.append(_facts(tensor))
        return place

    def unpack(self, place: _Placeholder) -> Tensor:
        """The tensor of that place, computed again where it is not there."""
        run: Any = settings.group or current.run or _OutsideBackward()
        if run not in self.counts:
            self.rerun(run)
        if place.tensors.get(run) is None:
            raise CheckpointError(TWICE.format(OVERLAP if settings.group is not None else ""))
        tensor, place.tensors[run] = place.tensors[run], None
        assert tensor is not None
        return tensor

    def rerun(self, run: Any) -> None:
        """Fill the places for one backward pass."""
        self.counts[run] = 0
        args = [a.value() if isinstance(a, _Argument) else a for a in self.args]
        try:
            with unrecorded(), saved_tensors_hooks(lambda tensor: self.fill(run, tensor), _same), enable_grad():
                self.again(*args)
        except _StopRecomputation:
            pass
        except BaseException:
            del self.counts[run]
            raise
        if not self.odd:
            self.compare(run)

    def fill(self, run: Any, tensor: Tensor) -> Tensor:
        """Put what the rerun saves into the next place."""
        value = tensor.detach() if tensor.requires_grad else tensor
        number = self.counts[run]
        self.counts[run] += 1
        if number >= len(self.places):
            if self.completed:
                raise CheckpointError(MORE)
            self.odd = True
            return value
        place = self.places[number]()
        if place is not None:
            place.tensors[run] = value
        if self.early_stop and number + 1 == len(self.places):
            raise _StopRecomputation
        return value

    def compare(self, run: Any) -> None:
        """Raise torch's errors where the rerun saved something else."""
        if self.counts[run] != len(self.places):
            raise CheckpointError(FEWER.format(len(self.places), self.counts[run]))
        if not self.check:
            return
        wrong = ""
        for number, (reference, fact) in enumerate(zip(self.places, self.facts, strict=True)):
            place = reference()
            tensor = None if place is None else place.tensors.get(run)
            if tensor is not None and _facts(tensor) != fact:
                wrong += f"tensor at position {number}:\nsaved metadata: {fact}\n"
                wrong += f"recomputed metadata: {_facts(tensor)}\n"
        if wrong:
            raise CheckpointError(f"{OTHER}{wrong}.\n")


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _facts(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


def run(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], preserve_rng_state: bool,
    context_fn: Callable[[], Contexts], determinism_check: str, debug: bool, early_stop: bool,
) -> Any:  # fmt: skip
    """`function(*args, **kwargs)` in a frame.  `debug` adds nothing: the error already says what differs."""
    if debug and context_fn is not no_contexts:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}")
    around, around_again = context_fn()
    state = get_rng_state() if preserve_rng_state else None

    def again(*arguments: Any) -> None:
        with fork_rng(enabled=state is not None), around_again:
            if state is not None:
                set_rng_state(state)
            function(*arguments, **kwargs)

    if not mode.enabled:
        return function(*args, **kwargs)
    stop = early_stop if settings.early_stop is None else settings.early_stop
    frame = _Frame(again, args, determinism_check == "default", stop)
    values: list[Any] = []
    with _FrameHooks(frame.pack, frame.unpack), around:
        values.append(function(*args, **kwargs))
    if not values:
        raise RuntimeError(SUPPRESSED)
    frame.completed = True
    return values[0]
