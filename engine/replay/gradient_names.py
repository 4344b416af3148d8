"""Which tensor `x.grad` was in a recorded program.

A trace names the gradient by its id alone.  Whether the program wrote `x.grad`, or had kept an earlier gradient under
another name, shows in whether that id was the leaf's gradient at the time: only then does an edit of the backward calls
put another tensor, or None, in its place.
"""

from __future__ import annotations

from ..trace.events import Accumulated, BackwardEnded, BackwardStarted, GradSet, LeafCreated, OpCalled, Trace


class GradientHolders:
    """The gradients that backward calls made, and whose they were when."""

    def __init__(self, trace: Trace) -> None:
        self.leaves: dict[int, int] = {}  # gradient -> the tensor that held it
        self.changes: dict[int, list[tuple[int, int | None]]] = {}  # tensor -> (event, its gradient from then on)
        own: set[int] = set()
        depth = 0
        for event in trace.events:
            depth += isinstance(event, BackwardStarted)
            depth -= isinstance(event, BackwardEnded)
            if isinstance(event, Accumulated):
                self.leaves[event.grad] = event.tensor
                self.changes.setdefault(event.tensor, []).append((event.index, event.grad))
            elif isinstance(event, GradSet):
                self.changes.setdefault(event.tensor, []).append((event.index, event.source))
            elif depth == 0 and isinstance(event, LeafCreated):
                own.add(event.tensor)
                self.changes.setdefault(event.tensor, []).append((event.index, event.grad))
            elif depth == 0 and isinstance(event, OpCalled) and event.inplace is None:
                own.update(out.tensor for out in event.outputs)
        for tensor in own:  # assigned to `.grad` by the program, which has its own name for it
            self.leaves.pop(tensor, None)

    def holder(self, gradient: int, at: int) -> int | None:
        """The tensor whose `.grad` was `gradient` just before event `at`; None where it was nobody's then."""
        leaf = self.leaves.get(gradient)
        if leaf is None:
            return None
        gradients = [grad for index, grad in self.changes[leaf] if index < at]
        return leaf if gradients and gradients[-1] == gradient else None
