"""Looking into the graph, and changing what it keeps.  Source: torch.autograd.graph."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..arrays.array import CPU
from ..arrays.session import slot
from ..backward.reentrancy import current
from ..ops.shape import clone, detach
from ..tensor import node as nodes
from ..tensor.grad_mode import mode
from ..tensor.inplace import BEFORE_WRITE
from ..tensor.node import RemovableHandle, gradient_edge
from ..tensor.tensor import Tensor
from ..tensor.views import refresh_view
from .function import BackwardCFunction

OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally "
    "recorded."
)


class Node(abc.ABC):  # noqa: B024 - what its methods are stands in the classes that are registered
    """The type of `grad_fn` and `next_functions`, for isinstance.

    Source: torch.autograd.graph.Node.

    >>> import engine as torch
    >>> isinstance((torch.ones(1, requires_grad=True) * 2).grad_fn, Node)
    True
    """


for kind in (nodes.Node, nodes.AccumulateGrad, BackwardCFunction):
    Node.register(kind)


class GradientEdge(NamedTuple):
    """The graph edge of a tensor, which backward and grad accept in its place, even when the tensor is gone.

    Source: torch.autograd.graph.GradientEdge.

    >>> import engine as torch
    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> torch.autograd.grad((x * x).sum(), GradientEdge((x * 1).grad_fn.next_functions[0][0], 0))
    (tensor([6.]),)
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor.

    Raises RuntimeError for a tensor that requires no grad.  Source: torch.autograd.graph.get_gradient_edge.

    >>> import engine as torch
    >>> get_gradient_edge(torch.ones(1, requires_grad=True) * 2).output_nr
    0
    """
    if tensor.requires_grad:
        refresh_view(tensor)
    edge = gradient_edge(tensor)
    if not tensor.requires_grad or edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(edge[0].user_node(), edge[1])


def inner_node(node: Any) -> Any:
    """The engine's node behind what the user holds."""
    return getattr(node, "_own_node", node)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write to the elements that the engine could not see.

    Source: torch.autograd.graph.increment_version.

    >>> import engine as torch
    >>> x = torch.ones(1)
    >>> increment_version(x)
    >>> x._version
    1
    """
    for one in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if slot.active is not None:
            slot.active.before_write(one)
        if not one.is_inference():
            one._storage.count_write()


class saved_tensors_hooks:
    """Inside, each saved tensor goes through `pack_hook(tensor)`, and its result through `unpack_hook` when it is used.

    Source: torch.autograd.graph.saved_tensors_hooks.

    >>> import engine as torch
    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> with saved_tensors_hooks(lambda tensor: tensor.numpy(force=True) * 10, torch.from_numpy):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([60.])
    """

    _quiet = False
    """Whether a recording leaves out the ops of the hooks."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if mode.packing_refused is not None:
            raise RuntimeError(mode.packing_refused)
        mode.packing = (*mode.packing, (self.pack_hook, self.unpack_hook, self._quiet))
        slot.note(1)

    def __exit__(self, *_: object) -> None:
        if mode.packing:  # torch lets a context be left more often than entered
            mode.packing = mode.packing[:-1]
            slot.note(-1)


class save_on_cpu(saved_tensors_hooks):
    """Inside, tensors that ops save on a GPU are kept in the memory of the host.

    Source: torch.autograd.graph.save_on_cpu.

    >>> import engine as torch
    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> with save_on_cpu():
    ...     y = x * x
    >>> torch.autograd.grad(y, x)
    (tensor([6.]),)
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.to(CPU)), lambda packed: packed[1].to(packed[0]))


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, saved_tensors_hooks raise an error with this message.

    Source: torch.autograd.graph.disable_saved_tensors_hooks.

    >>> with disable_saved_tensors_hooks("none here"):
    ...     try:
    ...         with save_on_cpu():
    ...             pass
    ...     except RuntimeError as error:
    ...         print(error)
    none here
    """
    if mode.packing:
        raise RuntimeError(error_message)
    before, mode.packing_refused = mode.packing_refused, error_message
    try:
        yield
    finally:
        mode.packing_refused = before


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` in each backward when the gradients of all `tensors` that take part are there (a list, None for those
    that do not); or, with `mode="any"`, when the first of them is.

    Raises ValueError for another mode.  Source: torch.autograd.graph.register_multi_grad_hook.

    >>> import engine as torch
    >>> a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    >>> _ = register_multi_grad_hook((a, b), lambda grads: print(grads))
    >>> (2 * a + 3 * b).backward()
    [tensor([2.]), tensor([3.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    for tensor in tensors:
        refresh_view(tensor)
    watch = _AllGradients(tensors, fn) if mode == "all" else _AnyGradient(fn)
    handles = [t.register_hook(watch.hook(place)) for place, t in enumerate(tensors)]
    return _HandleGroup(handles)


class _HandleGroup(RemovableHandle):
    """One handle for several hooks."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


NO_LEAVES = (
    "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
    "currently not supported."
)


class _AllGradients:
    """Counts what arrives in one backward pass."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[..., None]) -> None:
        self.fn = fn
        edges = [gradient_edge(tensor) for tensor in tensors]
        self.nodes = [edge[0] for edge in edges if edge is not None]
        if len(self.nodes) < len(edges):
            raise AssertionError("Expected gradient function to be set")
        self.run: Any = None
        self.gradients: list[Any] = []
        self.left = 0

    def asked_for(self, node: Any) -> bool:
        """Return whether autograd.grad() returns a leaf's gradient: torch cannot tell then whether it will run."""
        return type(node) is nodes.AccumulateGrad and not self.run.accumulate and (node, 0) in self.run.by_capture

    def hook(self, place: int) -> Callable[[Tensor], None]:
        """The hook of one tensor."""

        def arrived(gradient: Tensor) -> None:
            if self.run is not current.run:
                self.run, self.gradients = current.run, [None] * len(self.nodes)
                self.left = sum(self.run is not None and self.run.will_run(node) for node in self.nodes)
                if self.run is not None and any(self.asked_for(node) for node in self.nodes):
                    raise RuntimeError(NO_LEAVES)
            self.gradients[place] = gradient
            self.left -= 1
            if not self.left:
                gradients, self.run, self.gradients = self.gradients, None, []
                self.fn(gradients)

        return arrived


class _AnyGradient:
    """Knows in which backward pass something has arrived."""

    def __init__(self, fn: Callable[..., None]) -> None:
        self.fn = fn
        self.run: Any = None

    def hook(self, place: int) -> Callable[[Tensor], None]:
        """The hook of one tensor."""

        def arrived(gradient: Tensor) -> None:
            if self.run is not current.run:
                self.run = current.run
                self.fn(gradient)

        return arrived


class _CopyOnWrite:
    """A saved tensor that is copied when it is about to be written."""

    def __init__(self, table: _Table, tensor: Tensor) -> None:
        self.table, self.tensor, self.copied = table, tensor, False
        self.storage, self.version = tensor._storage, tensor._storage.version

    def copy_tensor(self) -> None:
        """Keep a copy from now on."""
        if not self.copied:
            self.tensor, self.copied = clone(detach(self.tensor)), True  # ops, which a replay does again


class _Table:
    """The tensors saved within one `allow_mutation_on_saved_tensors`, by storage."""

    def __init__(self) -> None:
        self.saved_by_storage: dict[int, list[weakref.ref[_CopyOnWrite]]] = {}

    def pack(self, tensor: Tensor) -> _CopyOnWrite:
        """A place for a saved tensor, one for all that save the same."""
        entries = self.saved_by_storage.setdefault(id(tensor._storage), [])
        for reference in entries:
            entry = reference()
            if entry is not None and not entry.copied and entry.tensor._array is tensor._array:
                return entry
        entry = _CopyOnWrite(self, tensor)
        entries.append(weakref.ref(entry))
        return entry

    def unpack(self, entry: _CopyOnWrite) -> Tensor:
        """The tensor as it was saved; raises torch's error outside of the context."""
        if allowed.table is not entry.table:
            raise AssertionError(OUTSIDE)
        return entry.tensor

    def before_write(self, storage: Any) -> None:
        """Copy what was saved of a storage."""
        for reference in self.saved_by_storage.pop(id(storage), ()):
            entry = reference()
            if entry is not None and entry.storage is storage:
                entry.copy_tensor()


class _MutationMode:
    table: _Table | None = None


allowed = _MutationMode()


def _before_write(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if allowed.table is not None:
        allowed.table.before_write(args[0]._storage)


BEFORE_WRITE.append(_before_write)


class allow_mutation_on_saved_tensors:
    """Inside, a saved tensor may be written in place: the graph keeps its old value. Backward runs inside too.

    Source: torch.autograd.graph.allow_mutation_on_saved_tensors.

    >>> import engine as torch
    >>> x = torch.ones(1, requires_grad=True)
    >>> with allow_mutation_on_saved_tensors():
    ...     y = x * 3
    ...     z = y**2
    ...     _ = y.zero_()
    ...     z.backward()
    >>> x.grad
    tensor([18.])
    """

    def __enter__(self) -> Any:
        if allowed.table is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        table = allowed.table = _Table()
        self.hooks = saved_tensors_hooks(table.pack, table.unpack)
        self.hooks.__enter__()
        return table

    def __exit__(self, *_: object) -> None:
        self.hooks.__exit__()
        allowed.table = None
