"""Tensor: an array that remembers how it was made.

This file has the data.  How an op is applied to a Tensor is in `dispatch` (a new Tensor) and `inplace` (the same one,
written); how values leave for Python, in `escapes`; `engine.namespaces.methods` says which functions are methods.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from numpy import ndarray

from ..arrays import errors
from ..arrays.array import CPU, Array, as_array, device, device_of, dtype, dtype_of, is_array
from ..arrays.session import reserve, slot, warn
from ..arrays.size import Size
from ..ops.op import HANDLERS
from .grad_mode import mode
from .node import RemovableHandle
from .storage import Storage
from .views import View, refresh_view

NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
    "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)
GRAD_DTYPE = (
    "The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's "
    "grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging "
    "the dtypes of a tensor and its gradient may break downstream systems that assume they match."
)


class Tensor:
    """A multi-dimensional array with gradient.

    `_array` is the numpy or cupy array, `_node` and `_nr` are the node (and its output) that computed it, `_storage` is
    shared with its views.  The other attributes have defaults in the class, so that a new result sets few of them.
    All modules of the engine may read attributes with an underscore, because a property would slow down each op;
    no module of `viz` does.

    Source: torch.Tensor.

    >>> import engine as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    _array: Array
    _node: Any = None
    _nr = 0
    _requires_grad = False
    _grad: Tensor | None = None
    _shared: Storage | None = None
    _accumulator: Any = staticmethod(lambda: None)  # or a weak reference to its AccumulateGrad
    _view: View | None = None
    _hooks: dict[int, Any] | None = None
    _post_hooks: dict[int, Any] | None = None
    _retains = False
    _tangent: Any = None
    _dual: Any = None  # its tangent, if it is part of a dual number
    _id = -1
    _value = -1
    _seen = 0
    __array_priority__ = 1000
    _constructed: ClassVar[Callable[[type[Tensor], tuple[Any, ...], dict[str, Any]], Tensor]]
    """The result of `Tensor(...)`: set by `engine.namespaces.methods`, which knows the constructors."""

    if TYPE_CHECKING:  # stubs of the methods, operators and indexing that `engine/__init__` binds

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
        def __float__(self) -> float: ...
        def __int__(self) -> int: ...
        def __index__(self) -> int: ...
        def _unary(self) -> Tensor: ...
        def _binary(self, other: Any) -> Tensor: ...

        __neg__ = __pos__ = __abs__ = __invert__ = _unary
        __add__ = __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = __mul__ = __rmul__ = __imul__ = _binary
        __truediv__ = __rtruediv__ = __itruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _binary
        __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __and__ = __or__ = __xor__ = _binary
        __lt__ = __le__ = __gt__ = __ge__ = _binary

    def __new__(cls, *args: Any, **kwargs: Any) -> Tensor:
        """torch's old constructor: from numbers, sizes or another tensor."""
        return cls._constructed(cls, args, kwargs)

    def __init_subclass__(cls) -> None:
        HANDLERS[cls] = HANDLERS[Tensor]

    # -- shape and type -------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The size of each dimension.

        >>> import engine as torch
        >>> torch.zeros(2, 3).shape
        torch.Size([2, 3])
        """
        return tuple.__new__(Size, self._array.shape)

    def dim(self) -> int:
        """The number of dimensions.

        >>> import engine as torch
        >>> torch.zeros(2, 3).dim()
        2
        """
        return int(self._array.ndim)

    def numel(self) -> int:
        """The number of elements.

        >>> import engine as torch
        >>> torch.zeros(2, 3).numel()
        6
        """
        return int(self._array.size)

    ndim = property(dim)
    ndimension = dim
    nelement = numel

    @property
    def dtype(self) -> dtype:
        """The type of the elements.

        >>> import engine as torch
        >>> torch.tensor([1, 2]).dtype
        torch.int64
        """
        return dtype_of(self._array)

    @property
    def device(self) -> device:
        """Where the elements lie.

        >>> import engine as torch
        >>> torch.zeros(1).device
        device(type='cpu')
        """
        return CPU if type(self._array) is ndarray else device_of(self._array)

    @property
    def itemsize(self) -> int:
        """The bytes of one element.

        >>> import engine as torch
        >>> torch.zeros(1).itemsize
        4
        """
        return int(self._array.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements.

        >>> import engine as torch
        >>> torch.zeros(2, 3).nbytes
        24
        """
        return int(self._array.nbytes)

    @property
    def is_cuda(self) -> bool:
        """Whether the elements lie on a GPU.

        >>> import engine as torch
        >>> torch.zeros(1).is_cuda
        False
        """
        return self.device.type == "cuda"

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a float.

        >>> import engine as torch
        >>> torch.zeros(1).is_floating_point()
        True
        """
        return bool(self._array.dtype.kind == "f")

    # -- graph ----------------------------------------------------------------------------------------------------

    @property
    def grad_fn(self) -> Any:
        """The node that computed this tensor; None for a leaf.

        >>> import engine as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> (x * x).grad_fn.name()
        'MulBackward0'
        """
        refresh_view(self)
        return None if self._node is None else self._node.user_node()

    @property
    def output_nr(self) -> int:
        """Which output of its node it is.

        >>> import engine as torch
        >>> torch.tensor([1.0, 2.0], requires_grad=True).unbind()[1].output_nr
        1
        """
        return self._nr

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op computed the tensor: gradients end here.

        >>> import engine as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> x.is_leaf, (x * x).is_leaf
        (True, False)
        """
        refresh_view(self)
        return self._node is None

    @property
    def requires_grad(self) -> bool:
        """Whether backward computes gradients with respect to the tensor.

        >>> import engine as torch
        >>> torch.zeros(1).requires_grad
        False
        """
        return self._requires_grad

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if not isinstance(flag, bool):
            raise errors.runtime("requires_grad must be a bool", tensors=(self,))
        if self._node is not None:
            raise errors.runtime(
                "you can only change requires_grad flags of leaf variables."
                + (
                    ""
                    if flag
                    else " If you want to use a computed variable in a subgraph that doesn't require "
                    "differentiation use var_no_grad = var.detach()."
                ),
                tensors=(self,),
            )
        if flag and not mode.inference and self.is_inference():
            raise errors.runtime("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if flag and self._array.dtype.kind != "f":
            raise errors.runtime(
                "only Tensors of floating point and complex dtype can require gradients", tensors=(self,)
            )
        if slot.active is not None and self._requires_grad != flag:
            slot.active.event("flag", slot.active.see(self)[0], "requires_grad", bool(flag))
        self._requires_grad = bool(flag)
        if self._view is not None:
            self._view.lent = False
        for reference in self._shared.views or () if self._shared is not None else ():
            view = reference()
            if view is not None and view._node is None and view._view is not None and view._view.base is self:
                view._requires_grad = view._view.lent = self._requires_grad

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` in place.

        >>> import engine as torch
        >>> torch.zeros(1).requires_grad_()
        tensor([0.], requires_grad=True)
        """
        if requires_grad and self._array.dtype.kind != "f":
            raise errors.runtime("only Tensors of floating point dtype can require gradients", tensors=(self,))
        if self._node is None or not requires_grad:
            self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The sum of the gradients from backward calls; None before the first.

        >>> import engine as torch
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> (x * x).backward()
        >>> x.grad
        tensor(6.)
        """
        if self._node is not None and not self._retains and self._grad is None:
            warn(NON_LEAF_GRAD)
        return self._grad

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value is self:
                raise errors.runtime("can't assign Variable as its own grad", tensors=(self,))
            if value._array.shape != self._array.shape:
                raise errors.runtime(
                    f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                    f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size",
                    tensors=(self,),
                )
            if type(value._array) is not type(self._array):
                raise errors.runtime(
                    f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device "
                    f"type '{self.device.type}'. Please ensure that the gradient and the tensor are on the same device",
                    tensors=(self,),
                )
            if value._array.dtype != self._array.dtype:
                raise errors.runtime(
                    f"attempting to assign a gradient with dtype '{errors.C_NAMES[value.dtype.name]}' to a tensor with "
                    f"grad_dtype '{self.dtype.legacy.removesuffix('Tensor')}'. {GRAD_DTYPE}"
                )
        self._grad = value
        if (active := slot.active) is not None:
            active.grad_set(self, value)

    def is_inference(self) -> bool:
        """Return whether this was made in inference mode."""
        return self._shared is not None and self._shared.inference

    @property
    def _version(self) -> int:
        if self._shared is not None and self._shared.inference:
            raise errors.runtime("Inference tensors do not track version counter.")
        return 0 if self._shared is None else self._shared.version

    @property
    def _storage(self) -> Storage:
        """The part shared with views; created when it is first needed, for most tensors never."""
        if self._shared is None:
            self._shared = Storage()
            if self._id >= 0:
                self._shared.number, self._shared.recorded = self._id, [self._value]
        return self._shared

    @_storage.setter
    def _storage(self, storage: Storage) -> None:
        self._shared = storage

    def _comes_from(self, node: Any, nr: int) -> None:
        """Make this output `nr` of a node.  Outputs after the first get a storage, so that a tensor without one needs
        no further checks: it is not a view, was never written, and is its node's first output."""
        self._node, self._nr, self._requires_grad = node, nr, True
        if nr:
            _ = self._storage

    def retain_grad(self) -> None:
        """Make backward fill in `.grad` of this non-leaf tensor.

        >>> import engine as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> y = x * x
        >>> y.retain_grad()
        >>> (3 * y).backward()
        >>> y.grad
        tensor(3.)
        """
        if not self._requires_grad:
            raise errors.runtime("can't retain_grad on Tensor that has requires_grad=False", tensors=(self,))
        if self._node is None or self._retains:
            return
        self._retains = True
        extras = self._node.extras()
        extras.setdefault("retain", {})[self._nr] = weakref.ref(self)
        if slot.active is not None:
            slot.active.event("flag", slot.active.see(self)[0], "retain_grad", True)

    @property
    def retains_grad(self) -> bool:
        """Whether backward fills in `.grad` of this non-leaf tensor; see retain_grad.

        >>> import engine as torch
        >>> torch.zeros(1).retains_grad
        False
        """
        return self._retains

    def register_hook(self, hook: Any) -> RemovableHandle:
        """Call `hook(grad)` when the gradient of this tensor is complete; a result replaces it.

        >>> import engine as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> _ = x.register_hook(lambda grad: 10 * grad)
        >>> (x * x).backward()
        >>> x.grad
        tensor(40.)
        """
        if not self._requires_grad:
            raise errors.runtime("cannot register a hook on a tensor that doesn't require gradient")
        if self._hooks is None:
            self._hooks = {}
        if self._node is not None:
            self._node.extras().setdefault("tensor_hooks", {})[self._nr] = (self._hooks, weakref.ref(self))
        return RemovableHandle(self._hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> RemovableHandle:
        """Call `hook(self)` after `.grad` was accumulated; for leaves.

        >>> import engine as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> _ = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
        >>> (x * x).backward()
        tensor(4.)
        """
        if not self._requires_grad:
            raise errors.runtime("cannot register a hook on a tensor that doesn't require gradient")
        if self._node is not None:
            raise errors.runtime("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self._post_hooks is None:
            self._post_hooks = {}
        return RemovableHandle(self._post_hooks, hook)

    # -- as a thing of Python -------------------------------------------------------------------------------------

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __hash__(self) -> int:
        return id(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("Tensors are not pickled; save the values (numpy), or the whole program with trace.save(path)")


def tensor_of(array: Any, requires_grad: bool = False) -> Tensor:
    """The Tensor of an array, or of a numpy number, which is not copied."""
    tensor: Tensor = object.__new__(Tensor)
    tensor._array = array if type(array) is ndarray or is_array(array) else as_array(array)
    tensor._node = tensor._shared = None
    tensor._requires_grad = requires_grad
    return tensor


reserve(
    Tensor, "_array", "_shared", "_requires_grad", "_node", "_id", "_value", "_view", "_nr", "_accumulator", "_grad",
    "_seen",
)  # fmt: skip
