"""In-place changes of shape and strides: `t_`, `squeeze_`, `resize_`, `set_`; and its elements one by one.

The Python object stays.  For a recording, and for the graph, `t_` is the op that makes a view, under which name the
object goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...arrays import errors
from ...arrays.array import memory_of, strided, xp
from ...arrays.session import slot
from ...ops import shape as sh
from ...ops import views as vw
from ...tensor.grad_mode import mode
from ...tensor.inplace import apply_inplace, check_inplace
from ...tensor.storage import Storage
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import one_dim, sizes_of
from ..inplace.inplace import copy_, fill_, get_data
from .parts import as_strided, geometry, storage_offset, strides_of

__all__ = ["as_strided_", "resize_as_"]


GEOMETRY = frozenset({"as_strided_", "squeeze_", "squeeze_.dim", "squeeze_.dims", "t_", "transpose_", "unsqueeze_"})
"""The ops that `becomes` calls."""


def becomes(self: Tensor, view: Callable[[Tensor], Tensor]) -> Tensor:
    """`self` goes on as what `view` makes of it."""
    earlier = self._view
    check_inplace(self, self._requires_grad or (earlier is not None and earlier.base._requires_grad))
    if slot.active is not None:
        slot.active.see(self)
    before = object.__new__(Tensor)
    before.__dict__.update(self.__dict__)
    shared = self._storage
    before._storage = shared
    result = view(before)
    own = result._view
    history = ("_node", "_nr", "_requires_grad") if mode.enabled else ()  # unrecorded, it stays what it was
    for name in ("_array", *history, "_id", "_value"):
        setattr(self, name, getattr(result, name))
    if shared.inference:
        self._requires_grad = before._requires_grad
    self._view = None if self._view is None else own
    shared.version += 1
    if self._view is not None and earlier is not None:
        self._view.version = shared.version
        if not mode.enabled:  # how it may be written was settled when it was taken
            self._view.kind, self._view.label = earlier.kind, earlier.label
    return self


def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged, in this tensor.

    >>> import engine as torch
    >>> torch.zeros(1, 2).swapaxes_(0, 1).shape
    torch.Size([2, 1])
    """
    rank = self._array.ndim
    a, b = one_dim(dim0, rank), one_dim(dim1, rank)
    return becomes(self, lambda x: sh.transpose_into(x, a, b) if rank else sh.alias(x))


swapaxes_ = swapdims_ = transpose_


def t_(self: Tensor) -> Tensor:
    """A matrix with rows and columns exchanged, in this tensor.

    >>> import engine as torch
    >>> torch.zeros(1, 2).t_().shape
    torch.Size([2, 1])
    """
    if self._array.ndim > 2:
        raise errors.runtime(f"t_() expects a tensor with <= 2 dimensions, but self is {self._array.ndim}D")
    return becomes(self, sh.t_into)


def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """Without dimensions of size 1, in this tensor.

    >>> import engine as torch
    >>> torch.zeros(1, 2).squeeze_().shape
    torch.Size([2])
    """
    rank = self._array.ndim
    if dim is None:
        return becomes(self, sh.squeeze_into)
    if isinstance(dim, int):
        place = one_dim(dim, rank)
        return becomes(self, lambda x: sh.squeeze_dim_into(x, place))
    places = tuple(sorted(one_dim(d, rank) for d in dim)) if rank else ()
    return becomes(self, lambda x: sh.squeeze_dims_into(x, places))


def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """With a dimension of size 1 at `dim`, in this tensor.

    >>> import engine as torch
    >>> torch.zeros(2).unsqueeze_(0).shape
    torch.Size([1, 2])
    """
    place = one_dim(dim, self._array.ndim, 1)
    return becomes(self, lambda x: sh.unsqueeze_into(x, place))


def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Give this tensor other sizes and strides on the same memory.

    Shapes: (*) -> (*size).  Raises RuntimeError where the memory is too small.  Source: torch.as_strided_.

    >>> import engine as torch
    >>> torch.arange(4).as_strided_((2,), (2,))
    tensor([0, 2])
    """
    named = geometry(self, size, stride, storage_offset)
    return becomes(self, lambda x: vw.as_strided_into(x, **named))


def tril_(self: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros above a diagonal, written into the tensor.

    >>> import engine as torch
    >>> torch.ones(2, 2).tril_()
    tensor([[1., 0.],
            [1., 1.]])
    """
    return _triangle(sh.tril, "tril_", self, diagonal)


def triu_(self: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros below a diagonal, written into the tensor.

    >>> import engine as torch
    >>> torch.ones(2, 2).triu_()
    tensor([[1., 1.],
            [0., 1.]])
    """
    return _triangle(sh.triu, "triu_", self, diagonal)


def _triangle(op: Any, name: str, self: Tensor, diagonal: int) -> Tensor:
    if self._array.ndim < 2:
        raise errors.runtime(f"{name.removesuffix('_')}: input tensor must have at least 2 dimensions")
    return apply_inplace(op.op, (self,), {"diagonal": diagonal})


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """A number written to the main diagonal; with `wrap` it starts again below in a tall matrix.

    >>> import engine as torch
    >>> torch.zeros(2, 2).fill_diagonal_(3)
    tensor([[3., 0.],
            [0., 3.]])
    """
    sizes = self._array.shape
    if len(sizes) < 2:
        raise errors.runtime("dimensions must larger than 1")
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise errors.runtime("all dimensions of input must be of equal length")
    step, first = sum(strides_of(self)), storage_offset(self)
    fill_(as_strided(self, (min(sizes),), (step,), first), fill_value)
    if wrap and len(sizes) == 2 and sizes[0] > sizes[1] + 1:
        rest = -(-self._array.size // (sizes[1] + 1)) - min(sizes)
        fill_(as_strided(self, (rest,), (step,), first + strides_of(self)[0] * (sizes[1] + 1)), fill_value)
    return self


def resize_(self: Tensor, *sizes: Any) -> Tensor:
    """Another shape for the same memory; if that is too small, larger memory that starts with the same elements.

    >>> import engine as torch
    >>> torch.arange(4).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    if self._requires_grad:
        raise errors.runtime("cannot resize variables that require grad")
    shape = sizes_of(sizes)
    if shape == self._array.shape:
        return self  # torch leaves the strides as they are, too
    if any(n < 0 for n in shape):
        raise errors.runtime(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    memory, first = memory_of(self._array)
    count = 1
    for n in shape:
        count *= n
    if count * memory.itemsize >= 2**63:
        raise errors.runtime(f"Storage size calculation overflowed with sizes={list(shape)}")
    if slot.active is not None:
        slot.active.before_write(self)
        self._storage.unseen += 1
    if first + count > memory.size:
        larger = xp.zeros(first + count, dtype=memory.dtype, like=memory)
        larger[: memory.size] = memory
        memory = larger
    steps, step = [], memory.itemsize
    for n in reversed(shape):
        steps.append(step)
        step *= max(n, 1)
    self._array = strided(memory[first:] if first < memory.size else memory, shape, steps[::-1])
    self._storage.version += 1
    return self


def resize_as_(self: Tensor, the_template: Tensor) -> Tensor:
    """The shape of another tensor, as resize_ does it.

    Shapes: (*), (*size) -> (*size).  Source: torch.resize_as_.

    >>> import engine as torch
    >>> torch.resize_as_(torch.arange(4), torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return resize_(self, *the_template._array.shape)


def set_(self: Tensor, source: Tensor | None = None) -> Tensor:
    """The memory and geometry of another tensor, shared with it; nothing without one.

    >>> import engine as torch
    >>> x = torch.arange(2)
    >>> torch.zeros(3, dtype=torch.int64).set_(x)
    tensor([0, 1])
    """
    if self._requires_grad and mode.enabled:
        raise errors.runtime("Can't set_ a tensor that requires grad.")
    if source is not None and source._array.dtype != self._array.dtype:
        raise errors.runtime(f"Could not set tensor of type {_c_name(source)} to a tensor of type {_c_name(self)}")
    if slot.active is not None:
        slot.active.before_write(self)
        self._storage.unseen += 1
    self._array = xp.zeros(0, dtype=self._array.dtype) if source is None else source._array
    self._storage = Storage() if source is None else source._storage
    self._view = None
    return self


def _c_name(tensor: Tensor) -> str:
    return errors.C_NAMES[tensor.dtype.name]


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Every element replaced by the result of a Python function; slow, for functions without an op.

    >>> import engine as torch
    >>> torch.tensor([1.0, 2.0]).apply_(lambda a: a + 1)
    tensor([2., 3.])
    """
    if self._requires_grad:
        raise errors.runtime("Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
    if self.is_cuda:
        raise TypeError("apply_ is only implemented on CPU tensors")
    return _rewritten(self, [callable(v) for v in self._array.reshape(-1).tolist()])


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Every element replaced by the result of a Python function of it and of another tensor's element.

    >>> import engine as torch
    >>> torch.tensor([1.0, 2.0]).map_(torch.tensor([3.0, 4.0]), lambda a, b: a * b)
    tensor([3., 8.])
    """
    if self._requires_grad:
        raise errors.runtime("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
    other = xp.broadcast_to(tensor._array, self._array.shape)
    pairs = zip(self._array.reshape(-1).tolist(), other.reshape(-1).tolist(), strict=True)
    return _rewritten(self, [callable(a, b) for a, b in pairs])


def _rewritten(self: Tensor, values: list[Any]) -> Tensor:
    result = tensor_of(xp.asarray(values, dtype=self._array.dtype).reshape(self._array.shape))
    copy_(get_data(self), result)  # which the version does not count, as in torch
    return self


METHODS = (
    "transpose_", "swapaxes_", "swapdims_", "t_", "squeeze_", "unsqueeze_", "as_strided_", "tril_", "triu_",
    "fill_diagonal_", "resize_", "resize_as_", "set_", "apply_", "map_",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
