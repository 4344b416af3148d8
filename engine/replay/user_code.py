"""User code that the engine called, as a trace records it: its arguments, its ops, its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..ops.op import CUSTOM
from ..trace.events import AnyEvent, BackwardEnded, BackwardStarted, CodeEntered, CodeLeft, LeafCreated, OpCalled


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One call of such code.  `left` is None where the recording ended inside."""

    entered: CodeEntered
    events: Sequence[AnyEvent]
    left: CodeLeft | None

    @property
    def is_hook(self) -> bool:
        """Whether the code is a hook on gradients."""
        return self.entered.place in ("tensor", "before", "after", "accumulated")

    @property
    def place(self) -> tuple[str, int | None, int | None, int]:
        """The owner of the code: the same for every call of a hook."""
        entered = self.entered
        return entered.place, entered.tensor, entered.node, entered.nr


class Blocks:
    """Every block of a trace: those that stand right in a backward call, and the forward of each custom Function."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self.of_call: dict[int, list[Block]] = {}
        self.forwards: dict[int, Block] = {}  # by the index of the op that they belong to
        self.of_node: dict[int, list[Block]] = {}  # the backwards of custom Functions
        self.packs: dict[int, Block] = {}  # by their own index
        self.unpacks: dict[tuple[int | None, int], list[Block]] = {}  # by node and place
        self.loose: dict[int, Block] = {}  # forwards by their own index, after which there was no op: an error came
        self.values: dict[int, int] = {}  # the value of each tensor that was first met inside
        open_: list[CodeEntered] = []
        done: list[Block | None] = [None]  # the forward that ended last, at each depth
        for event in events:
            if isinstance(event, CodeEntered):
                open_.append(event)
                done.append(None)
            elif isinstance(event, LeafCreated) and (open_ or event.source in ("gradient", "saved")):
                self.values.setdefault(event.tensor, event.value)
            elif isinstance(event, OpCalled) and open_ and event.inplace is None:
                self.values.update({out.tensor: out.value for out in event.outputs})
                self.take(event, done)
            elif isinstance(event, CodeLeft) and open_:
                entered = open_.pop()
                done.pop()
                done[-1] = self.add(Block(entered, events[entered.index + 1 : event.index], event), open_)
            elif isinstance(event, OpCalled):
                self.take(event, done)
        for place, entered in enumerate(open_):
            self.add(Block(entered, events[entered.index + 1 :], None), open_[:place])

    def take(self, event: OpCalled, done: list[Block | None]) -> None:
        """The op of a custom Function follows its forward."""
        if event.name == CUSTOM.name and done[-1] is not None:
            self.forwards[event.index] = done[-1]
            del self.loose[done[-1].entered.index]
            done[-1] = None

    def add(self, block: Block, around: Sequence[CodeEntered]) -> Block | None:
        """Take in a block; the same where it is a forward."""
        entered = block.entered
        if entered.place == "forward":
            self.loose[entered.index] = block
            return block
        if entered.place == "pack":
            self.packs[entered.index] = block
        elif entered.place == "unpack":
            self.unpacks.setdefault((entered.node, entered.nr), []).append(block)
        elif entered.call is not None and all(other.call != entered.call for other in around):
            self.of_call.setdefault(entered.call, []).append(block)
        if entered.place == "backward" and entered.node is not None:
            self.of_node.setdefault(entered.node, []).append(block)
        return None


def outside(events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
    """The events that no code of the user's did that a backward call ran."""
    depth = 0
    for event in events:
        if isinstance(event, CodeEntered):
            depth += 1
        elif isinstance(event, CodeLeft):
            depth -= 1
        elif not depth:
            yield event


def end_of(events: Sequence[AnyEvent], start: int) -> int:
    """The place of the event that ends what begins at `start`: of a backward call, or of a block; the last one where
    the recording ended inside."""
    first = type(events[start])
    last = {BackwardStarted: BackwardEnded, CodeEntered: CodeLeft}[first]
    depth = 0
    for place in range(start, len(events)):
        depth += type(events[place]) is first
        depth -= type(events[place]) is last
        if not depth:
            return place
    return len(events) - 1
