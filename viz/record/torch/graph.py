"""The nodes of the backward graph, as long as torch has them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from engine.trace.tensor_states import next_id

from .calls import STATISTICS, TensorArgument
from .tensors import TensorState
from .values import unheard

if TYPE_CHECKING:
    from .watch import Watch

SINK = "AccumulateGrad"
RESULT = "result"
NUMBERS = (float, int, bool)
NUMBER_BYTES = 8
"""The size of a number that a node saves: torch keeps it in a tensor of float64 or int64."""


class Hooks(dict[int, Any]):
    """The hooks of a node by their numbers.  To one of these torch can add others: their handles refer to it weakly."""

    OWN = -1
    """The number of ours; torch's begin at 0."""


class Node:
    """A node of the graph, and the hook that torch calls after each run of it.

    `outputs` are the results of its op, each beginning with the tensor and its version.  `retaining` are those that
    retain their gradient, `entered` is set while it runs code of the user's.  `places` says which result each of
    torch's gradients is of, if some results have none.
    """

    __slots__ = ("entered", "frees", "key", "name", "outputs", "places", "retaining", "stack", "watch")

    def __init__(self, watch: Watch, name: str, stack: int, outputs: Sequence[Any]) -> None:
        self.watch, self.name, self.stack, self.outputs = watch, name, stack, outputs
        self.key = next_id()
        self.frees = False
        self.entered: bool | None = None
        self.retaining: list[tuple[int, Any]] | None = None
        self.places: dict[int, int] | None = None

    def result(self, nr: int) -> tuple[int, int]:
        """The result that has this number among those with a gradient."""
        place = nr if self.places is None else self.places.get(nr, nr)
        number, version, *_ = self.outputs[place] if place < len(self.outputs) else self.outputs[-1]
        return number, version

    def __call__(self, sent: tuple[Any, ...], received: tuple[Any, ...]) -> None:
        """After a run: the gradients that it sends, and those that it received."""
        self.watch.while_off(self.watch.backward.ran, self, sent, received)

    def sums(self, received: tuple[Any, ...]) -> None:
        """Before a run whose gradients are summed over what was broadcast."""
        self.watch.while_off(self.watch.backward.sums_begin)

    def begins(self, received: tuple[Any, ...]) -> None:
        """Before a run of code of the user's."""
        self.watch.backward.begins(self, received)

    def ends(self, sent: tuple[Any, ...], received: tuple[Any, ...]) -> None:
        """After a run of code of the user's."""
        if self.entered is not None:
            self.watch.backward.ends(self, sent)
        self(sent, received)


class Sink:
    """The node that accumulates the gradient of a leaf."""

    __slots__ = ("__weakref__", "before", "leaf", "watch")

    def __init__(self, watch: Watch, leaf: TensorState) -> None:
        self.watch, self.leaf = watch, leaf
        self.before: int | None = None

    def begins(self, received: tuple[Any, ...]) -> None:
        """Before a gradient is added."""
        self.before = self.watch.while_off(self.watch.backward.gradient_before, self.leaf)

    def ran(self, sent: tuple[Any, ...], received: tuple[Any, ...]) -> None:
        """After it was added."""
        self.watch.while_off(self.watch.backward.accumulated, self.leaf, received[0], self.before)


class Graph:
    """The nodes of a recording.

    Each is in the `metadata` of torch's node and is freed with it: sequence numbers begin again in every thread.
    """

    def __init__(self, watch: Watch) -> None:
        self.watch, self.tensors = watch, watch.tensors
        self.mark = f"backstep-{next_id()}"
        self.saved_names: dict[type, tuple[tuple[str, str], ...]] = {}
        self.number_is_saved: dict[tuple[type, str], bool] = {}
        self.packing = 0  # how many hooks of the user's pack what is saved: to read it would unpack it

    def node(self, fn: Any, stack: int, results: Sequence[Any], arguments: Any, code: bool = False,
             broadcasts: bool = False, is_plain: bool = True) -> Any:  # fmt: skip
        """Watch a new node; the fields of its record.

        If its results are not plain, their class would hear of a saved one that is read: its size is then unknown.
        """
        name = fn.name()
        if "::" in name:
            name = name.rpartition("::")[2]
        node = Node(self.watch, name, stack, results)
        edges = tuple([None if up is None else self.edge(up, nr, stack) for up, nr in fn.next_functions])
        # A saved result is detached once more when it is read.
        saved = unheard(self.saved, fn, results, arguments, is_plain)
        node.frees = bool(saved)
        fn.metadata[self.mark] = node
        if code:
            fn.register_prehook(node.begins)
            fn.register_hook(node.ends)
        else:
            if broadcasts:
                fn.register_prehook(node.sums)
            fn.register_hook(node)
        return node.key, node.name, edges, saved

    def node_of(self, fn: Any) -> Any:
        """The node that stands for one of torch's; None if it is not recorded."""
        return fn.metadata.get(self.mark)

    def edge(self, up: Any, nr: int, stack: int) -> tuple[int, ...]:
        """The place that a gradient goes to: (node, output) or (leaf,)."""
        node = up.metadata.get(self.mark)
        if node is None:
            if type(up).__name__ == SINK:
                return (self.sink(up, stack).number,)
            node = self.unseen(up, stack)
        return node.key, nr if node.places is None else node.places.get(nr, nr)

    def sink(self, up: Any, stack: int) -> TensorState:
        """The leaf of an AccumulateGrad, which is watched from now on."""
        tensor = up.variable
        state = self.tensors.find(tensor) or self.tensors.see(tensor, stack)
        if state.sink is None or state.sink() is None:
            sink = Sink(self.watch, state)
            up.register_prehook(sink.begins)
            up.register_hook(sink.ran)
            state.sink = weakref.ref(sink)
        return state

    def unseen(self, fn: Any, stack: int, tensor: Any = None) -> Node:
        """A node that no recorded op made, perhaps that of a known `tensor`, and those before it: recorded as ops that
        say so."""
        last = fn
        waiting = [(fn, False)]
        while waiting:
            fn, ready = waiting.pop()
            if self.node_of(fn) is not None:
                continue
            before = [up for up, _ in fn.next_functions if up is not None and type(up).__name__ != SINK]
            unknown = [up for up in before if self.node_of(up) is None]
            if unknown and not ready:
                waiting += [(fn, True), *((up, False) for up in unknown)]
            else:
                self.watch.forward.unseen(fn, stack, tensor if fn is last else None)
        node: Node = self.node_of(last)
        return node

    def saved(self, fn: Any, results: Sequence[Any], arguments: Any, is_plain: bool) -> tuple[Any, ...]:
        """(name, value, tensor, bytes) of the saved tensors of a node."""
        kind = type(fn)
        names = self.saved_names.get(kind)
        if names is None:
            attributes = (name for name in dir(kind) if name.startswith("_saved_"))
            names = self.saved_names[kind] = tuple((name, name.removeprefix("_saved_")) for name in attributes)
        if not names:
            return self.saved_by_user(fn) if hasattr(fn, "saved_tensors") and not self.packing else ()
        arguments_by_name = dict(arguments)
        saved = []
        if self.packing:
            return tuple(self.packed(fn, names, arguments_by_name, results))
        unused = STATISTICS if arguments_by_name.get("training") else ()  # never read again
        for attribute, name in names:
            if name in unused:
                continue
            if not is_plain and name.startswith(RESULT):
                nr = int(name.removeprefix(RESULT) or 0)
                if nr < len(results):
                    saved.append((name, results[nr][2], results[nr][0], 0))
                continue
            if type(arguments_by_name.get(name)) in NUMBERS:
                if self.saves_number(fn, attribute):
                    saved.append((name, None, None, NUMBER_BYTES))
                continue
            try:
                value = getattr(fn, attribute)
            except RuntimeError:  # written in place since, or freed
                continue
            if value is None:
                continue
            if hasattr(value, "_version"):
                saved.append(self.saved_fields(name, value, arguments_by_name, results))
            elif type(value) is tuple and value and hasattr(value[0], "_version"):
                saved += [
                    self.saved_fields(f"{name}[{i}]", one, {}, ()) for i, one in enumerate(value) if one is not None
                ]
        return tuple(saved)

    def saves_number(self, fn: Any, attribute: str) -> bool:
        """Return whether a node saves a number among its arguments as a tensor, as all nodes of its class do.

        Only the first is looked at: torch makes a tensor of the number to show it, which takes longer than all else.
        """
        key = type(fn), attribute
        is_saved = self.number_is_saved.get(key)
        if is_saved is None:
            is_saved = self.number_is_saved[key] = hasattr(getattr(fn, attribute), "_version")
        return is_saved

    @staticmethod
    def packed(fn: Any, names: Any, arguments: Any, results: Sequence[Any]) -> Iterator[Any]:
        """The same of what hooks of the user's packed, as it is packed: the bytes of a tensor, 0 for anything else.
        Older versions of torch do not show what was packed; then there is nothing to say."""
        for attribute, name in names:
            raw = getattr(fn, f"_raw{attribute}", None)
            content: Any = getattr(raw, "data", None)
            size = content.numel() * content.element_size() if hasattr(content, "_version") else 0
            argument = arguments.get(name)
            if type(argument) is TensorArgument and content is not None:
                yield name, argument.value, argument.number, size
            elif name.startswith(RESULT) and hasattr(raw, "data"):  # while its hook runs it is not there yet
                nr = int(name.removeprefix(RESULT) or 0)
                if nr < len(results):
                    yield name, results[nr][2], results[nr][0], size

    def saved_by_user(self, fn: Any) -> tuple[Any, ...]:
        """The values that the forward of a custom Function saved."""
        try:
            tensors = fn.saved_tensors
        except RuntimeError:
            return ()
        return tuple(
            self.saved_fields(f"saved_tensors[{i}]", one, {}, ()) for i, one in enumerate(tensors) if one is not None
        )

    def saved_fields(self, name: str, tensor: Any, arguments: Any, results: Sequence[Any]) -> Any:
        """A saved tensor: an input or a result has a value already."""
        argument = arguments.get(name)
        size = tensor.numel() * tensor.element_size()
        if type(argument) is TensorArgument and argument.shape == tensor.shape:
            return name, argument.value, argument.number, size
        if name.startswith(RESULT):
            nr = int(name.removeprefix(RESULT) or 0)
            if nr < len(results):
                return name, results[nr][2], results[nr][0], size
        state = self.tensors.find(tensor)
        if state is None:
            return name, self.tensors.keep(tensor), None, size
        return name, state.value, state.number, size

    def stopped_at(self, roots: Sequence[Any], ran: set[int]) -> Node | None:
        """The node at which a backward call failed: of those that had all of their gradients and did not run, the one
        that torch takes first."""
        missing: dict[Any, int] = {}
        waiting = [fn for fn in roots if fn is not None and type(fn).__name__ != SINK]
        edges: dict[Any, list[Any]] = {}
        while waiting:
            fn = waiting.pop()
            if fn not in edges:
                edges[fn] = [up for up, _ in fn.next_functions if up is not None and type(up).__name__ != SINK]
                waiting += edges[fn]
                for up in edges[fn]:
                    missing[up] = missing.get(up, 0) + 1
        nodes = {fn: self.node_of(fn) for fn in edges}
        for fn, node in nodes.items():
            if node is not None and node.key in ran:
                for up in edges[fn]:
                    missing[up] -= 1
        ready = [fn for fn, node in nodes.items() if node is not None and node.key not in ran and not missing.get(fn)]
        return nodes[max(ready, key=lambda fn: fn._sequence_nr())] if ready else None
