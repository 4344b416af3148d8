"""A weight decay that is so strong that the parameters shrink to 0, whatever the gradients are.  Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from engine.trace.events import OpCalled
from engine.trace.file.database import TraceFileError

from ...reading import text
from ...run.pauses import ends_of_steps
from ...run.run import Run
from ...run.state import number_before
from ...schema.run import RunFindingKind
from ..finding import SectionFinding

MOST = 0.1
"""The part of a weight that one step may take away: a ten-thousandth is usual."""
SHRUNK = 0.1
"""The part of its norm that a weight matrix keeps at most if it shrinks."""
STRONGER = 3.0
"""How many times larger than the gradient of the loss the decay must be to be the cause."""
EFFECTS: tuple[RunFindingKind, ...] = ("vanishing-run", "large-updates", "small-updates", "stalled-loss", "flips")


@dataclass(frozen=True, slots=True)
class _Decay:
    """The op that decays a parameter: `share` is the part of it that the step takes away (None: it depends on more),
    `strength` the norm of the decay over that of the gradient (None: it is not added to the gradient)."""

    op: OpCalled
    tensor: int
    amount: float
    share: float | None
    strength: float | None


def strong_decay(run: Run) -> SectionFinding | None:
    """The weight decay of the first optimiser that has one that is too strong.

    Either a step takes a tenth of each weight away, or the decay is several times the gradient and all weight matrices
    shrink to less than a tenth.  Cost: linear in the steps; the first one of each optimiser is read.
    """
    if not run.is_divided:
        return None
    try:
        for event, _, kind, tensors in run.outline.held:
            decays = [one for one in _decays(run, event, kind) if one.tensor in tensors and _is_matrix(run, one)]
            strong = [one for one in decays if one.share is not None and one.share >= MOST]
            if strong or (decays and all(_shrinks(run, one) for one in decays)):
                return _finding(run, (strong or decays)[0], kind.removesuffix(".step"))
    except TraceFileError:  # the file is damaged there
        return None
    return None


def _decays(run: Run, start: int, kind: str) -> Iterator[_Decay]:
    """The decays of the step that begins at an event."""
    ends = ends_of_steps(run.whole, run.outline).get(int(run.outline.stacks[start]), [])
    rate = next((rate for event, of, rate in run.outline.rates if of == kind and event <= start), None)
    for index in range(start, next((end for end in ends if end > start), start)):
        op = run.whole.events[index]
        if not isinstance(op, OpCalled) or len(op.inputs) < 2:
            continue
        first, second = op.inputs[0], op.inputs[1]
        if op.name == "mul" and op.inplace is not None and isinstance(second.scalar, float) and 0 <= second.scalar < 1:
            yield _Decay(op, op.inplace, second.scalar, 1 - second.scalar, None)
        elif op.name == "add.alpha" and second.tensor is not None and op.attrs.get("alpha", 0) > 0:
            amount = float(op.attrs["alpha"])
            share = amount * rate if rate is not None and kind == "SGD.step" else None
            gradient, weight = _norm(run, first.tensor, index), _norm(run, second.tensor, index)
            if gradient is not None and weight is not None:
                yield _Decay(op, second.tensor, amount, share, amount * weight / max(gradient, 1e-30))


def _is_matrix(run: Run, decay: _Decay) -> bool:
    number = number_before(run.whole, run.outline, decay.tensor, decay.op.index)
    shape = () if number is None else run.whole.value(number).shape
    return len(shape) > 1 and text.size(shape) > 1


def _norm(run: Run, tensor: int | None, event: int) -> float | None:
    number = None if tensor is None else number_before(run.whole, run.outline, tensor, event)
    return None if number is None else float(run.whole.value(number).stats["norm"])


def _shrinks(run: Run, decay: _Decay) -> bool:
    first, last = (_norm(run, decay.tensor, event) for event in (decay.op.index, len(run.outline.kinds)))
    is_stronger = decay.strength is not None and decay.strength >= STRONGER
    return is_stronger and first is not None and last is not None and last < SHRUNK * first


def _finding(run: Run, decay: _Decay, optimizer: str) -> SectionFinding:
    name = run.whole.names.get(decay.tensor) or "a parameter"
    first, last = (_norm(run, decay.tensor, event) for event in (decay.op.index, len(run.outline.kinds)))
    does = f"adds {text.number(decay.amount)} × each weight to its gradient (weight_decay={text.number(decay.amount)})"
    if decay.strength is None:
        does = f"multiplies each weight by {text.number(decay.amount)}, which is 1 - lr × weight_decay"
    elif decay.strength >= STRONGER:
        does += f", for {name} {text.rough(decay.strength)} times the gradient of the loss"
    why = f"{optimizer} {does}"
    why += "" if decay.share is None else f": every step takes away {text.rough(100 * decay.share)} % of each weight"
    if first is not None and last is not None:
        why += f". The norm of {name} goes from {text.rough(first)} to {text.rough(last)}"
    fix = "Use a smaller weight_decay: 0.0001 to 0.01 is usual, and 0 switches it off."
    section = max(0, bisect_right(run.sections, decay.op.index, key=lambda one: one.start) - 1)
    return SectionFinding(section, "The weight decay is too strong", f"{why}.", fix, EFFECTS)
