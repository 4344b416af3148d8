"""The node of a custom Function: it runs user code instead of rules.

What the user sees of it, as `ctx` and as `grad_fn`, is a `BackwardCFunction`: a face with the user's own attributes and
nothing else among them.  The node does not hold its face, only the attributes, so that there is no reference cycle.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..arrays import errors
from ..arrays.array import float32, xp
from ..arrays.session import slot
from ..ops.op import CUSTOM, Plan
from ..tensor.grad_mode import mode
from ..tensor.node import Node, next_number
from ..tensor.saved_tensors import packed, saved_value, saved_version, unpack_saved
from ..tensor.tensor import Tensor, tensor_of

NO_OUTPUT: tuple[tuple[int, ...], Any] = ((), float32.numpy)


def _unknown(grad: Any, node: Any) -> Any:
    raise NotImplementedError("a custom Function has no rules")


_PLAN = Plan(CUSTOM, (), (), (), (), 1, _unknown, 0, False, False)


class CustomNode(Node):
    """The node; `space` has what the user set on ctx.

    `needs_input_grad` has a bool per argument of apply, `places` the arguments that are tensors (one edge each),
    `others` the outputs that are none.
    """

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.plan = _PLAN
        self.shape, self.dtype, self.saved = None, None, ()
        self.metas, self.more = [], {}
        self.targets, self.numbers = (), None
        self.needs_input_grad: tuple[bool, ...] = ()
        self.places: tuple[int, ...] = ()
        self.others: frozenset[int] = frozenset()
        self.saved_entries: tuple[tuple[Any, int], ...] = ()
        self.materialize, self.released = True, False
        self.space: dict[str, Any] = {}
        self.face: Any = None
        self.sequence_nr = next_number()

    def name(self) -> str:
        """`FBackward` for the Function F."""
        return self.cls._node_name or str(self.cls._backward_cls.__name__)

    def user_node(self) -> Any:
        """The face of this node: one as long as somebody holds it."""
        face = None if self.face is None else self.face()
        if face is None:
            face = object.__new__(self.cls._backward_cls)
            face._own_node = self
            face.__dict__ = self.space
            self.face = weakref.ref(face)
        return face

    def free(self) -> bool:
        """Drop the saved tensors; False where there was none."""
        self.released = True
        had, self.saved_entries = bool(self.saved_entries), ()
        return had

    def saved_tensors(self) -> tuple[Any, ...]:
        """Return the tensors that `save_for_backward` kept; raises torch's error if they were freed or written."""
        if self.released:
            raise self.freed_error()
        tensors = tuple(self.unpack(place, value, version) for place, (value, version) in enumerate(self.saved_entries))
        if slot.active is not None:
            for place, tensor in enumerate(tensors):
                if tensor is not None:
                    slot.active.see(tensor, f"saved_tensors[{place}]")
        return tensors

    def unpack(self, place: int, value: Any, version: int) -> Any:
        """One saved tensor."""
        if value is None:
            return None
        if value._shared is not None and value._shared.version != version:
            raise self._changed_error(value, f"saved_tensors[{place}]", value._shared.version, version)
        return unpack_saved(self, value)

    def keep(self, tensors: tuple[Any, ...]) -> None:
        """Keep what forward asked to be saved."""
        packed = []
        for place, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                kind = type(tensor).__name__
                raise TypeError(f"save_for_backward can only save variables, but argument {place} is of type {kind}")
            value = None if tensor is None else saved_value(self, tensor)
            packed.append((value, saved_version(value)))
        self.saved_entries = tuple(packed)

    def pack(self) -> None:
        """Give what is kept to the hooks of saved_tensors_hooks."""
        if mode.packing:
            self.saved_entries = tuple(
                (value if value is None else packed(self, value, place), 0)
                for place, (value, _) in enumerate(self.saved_entries)
            )

    # -- backward -------------------------------------------------------------------------------------------------

    def own(self, upstream: list[Any], run: Any) -> list[Any]:
        """Run the user's backward; a cotangent (array, or Tensor with `create_graph`) per edge, None where none."""
        graph: bool = run.create_graph
        arguments = [self.argument(nr, gradient, graph) for nr, gradient in enumerate(upstream)]
        active = slot.active
        if active is not None:
            active.enter_code("backward", [g for nr, g in enumerate(arguments) if nr not in self.others], node=self)
        cotangents: Any = None
        try:
            cotangents = self.cls._run_backward(self.user_node(), arguments)
            cotangents = cotangents if isinstance(cotangents, tuple) else (cotangents,)
        except Exception as error:
            if getattr(error, "place", None) is None:  # whatever the user's backward raises, it is at this node
                error.place = errors.Place(self)  # type: ignore[attr-defined]  # where it happened goes with it
            raise
        finally:
            if active is not None:
                completed = cotangents is not None and all(r is None or isinstance(r, Tensor) for r in cotangents)
                active.leave_code(cotangents if completed else None, completed)
        return self.checked(cotangents, graph)

    def argument(self, nr: int, gradient: Any, graph: bool) -> Any:
        """A gradient as backward is given it."""
        shape, dtype = (self.metas or ())[nr]
        if gradient is not None:
            return gradient if graph else tensor_of(gradient)
        if not self.materialize or nr in self.others:
            return None
        return tensor_of(xp.zeros(shape, dtype=dtype))

    def checked(self, cotangents: tuple[Any, ...], graph: bool) -> list[Any]:
        """Check the result of backward and return one cotangent per edge; raises torch's errors if it does not fit."""
        count = len(self.needs_input_grad)
        while len(cotangents) > count and cotangents[-1] is None:
            cotangents = cotangents[:-1]
        if len(cotangents) != count:
            raise errors.runtime(
                f"function {self.name()} returned an incorrect number of gradients (expected {count}, got "
                f"{len(cotangents)})",
                f"Backstep: {self.cls.__name__}.forward took {count} argument(s) besides ctx, and backward "
                "returns one gradient for each, None for those that are not tensors.",
                node=self,
            )
        edges = []
        for place, gradient in enumerate(cotangents):
            if place not in self.places:
                if gradient is not None:
                    raise errors.runtime(
                        f"function {self.name()} returned a gradient different than None at position {place + 1}, "
                        "but the corresponding forward input was not a Variable",
                        node=self,
                    )
                continue
            if gradient is not None and not isinstance(gradient, Tensor):
                raise errors.runtime(f"expected Variable or None (got {type(gradient).__name__})", node=self)
            edges.append(gradient)
        return [self.fitted(edge, gradient, graph) for edge, gradient in enumerate(edges)]

    def fitted(self, edge: int, gradient: Any, graph: bool) -> Any:
        """A cotangent that can be summed to the shape of what it is for; that of an input that requires none, which
        only hooks see, as it is."""
        if gradient is None:
            return None
        target = self.targets[edge]
        have = gradient._array.shape
        want = have if target is None else target.meta(self.number(edge))[0]
        if have != want and not _expands(want, have):
            raise errors.runtime(
                f"Function {self.name()} returned an invalid gradient at index {edge} - got {list(have)} but expected "
                f"shape compatible with {list(want)}",
                node=self,
            )
        return gradient if graph else gradient._array


def _expands(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    try:
        return bool(xp.broadcast_shapes(small, large) == large)
    except ValueError:
        return False
