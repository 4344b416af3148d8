"""Parameter and Buffer: tensors that a module takes in as its own when they are assigned to it."""

from __future__ import annotations

from typing import Any

from ..api.calls.public_functions import TORCH, reads
from ..api.calls.signature import Reader
from ..api.creation import fills
from ..arrays import errors
from ..arrays.session import slot, unrecorded
from ..ops.shape import clone, detach
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]

NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
    "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
    "parameters before accessing their attributes."
)
NOT_YET = (
    "Attempted to use an uninitialized parameter in a function. This error happens when you are using a `LazyModule` "
    "or explicitly manipulating `torch.nn.parameter.{}` objects. When using LazyModules Call `forward` with a dummy "
    "batch to initialize the parameters before calling torch functions"
)

_empty = reads(fills.empty, Reader("empty", TORCH["empty"]))


class Parameter(Tensor):
    """A leaf that a module lists among its parameters: it shares the elements of `data`, and requires grad.

    Source: torch.nn.Parameter.

    >>> import engine as torch
    >>> Parameter(torch.tensor([1.0, 2.0]))
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Parameter:
        """Bare: the constructor fills it."""
        return object.__new__(cls)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        _share(self, data)
        if requires_grad and not self.is_floating_point():
            raise errors.runtime("Only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        text: str = super().__repr__()
        return "Parameter containing:\n" + text

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(_cloned(self), self.requires_grad)
        copy: Parameter = memo[id(self)]
        return copy


class Buffer(Tensor):
    """A tensor that a module keeps besides its parameters: state that gradients do not change.

    Source: torch.nn.Buffer.

    >>> import engine as torch
    >>> module = torch.nn.Module()
    >>> module.seen = torch.nn.Buffer(torch.zeros(1))
    >>> list(module.state_dict())
    ['seen']
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Buffer:
        """Bare: the constructor fills it."""
        return object.__new__(cls)

    def __init__(self, data: Tensor | None = None, persistent: bool = True) -> None:
        _share(self, data)
        self.persistent = persistent

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        if id(self) not in memo:
            memo[id(self)] = type(self)(_cloned(self), self.persistent)
        copy: Buffer = memo[id(self)]
        return copy


class _UninitializedMixin(Tensor):
    """A tensor whose shape is not known yet: it has a dtype, a device and no elements, and no op takes it."""

    cls_to_become: type[Tensor] = Tensor

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Bare: there are no elements yet."""
        return object.__new__(cls)

    def __init__(self, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> None:
        like = _empty(0, dtype=dtype, device=device)
        self.__dict__.update(_dtype_and_device=(like.dtype, like.device), _requires_grad=requires_grad)

    @property
    def _array(self) -> Any:
        raise ValueError(NOT_YET.format(type(self).__name__))

    @property
    def shape(self) -> Any:
        raise errors.runtime(NO_SHAPE)

    @property
    def dtype(self) -> Any:
        return self._dtype_and_device[0]

    @property
    def device(self) -> Any:
        return self._dtype_and_device[1]

    @property
    def requires_grad(self) -> bool:
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._requires_grad = value

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a float."""
        return bool(self.dtype.is_floating_point)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The same, of another dtype or on another device."""
        like = fills.empty(0, dtype=self.dtype, device=self.device).to(*args, **kwargs)
        self._dtype_and_device = like.dtype, like.device
        return self

    def _as(self, name: str) -> Any:
        return self.to(getattr(fills.empty(0, dtype=self.dtype, device=self.device), name)())

    def float(self) -> Any:
        """In float32."""
        return self._as("float")

    def double(self) -> Any:
        """In float64."""
        return self._as("double")

    def half(self) -> Any:
        """In float16."""
        return self._as("half")

    def cpu(self) -> Any:
        """On the CPU."""
        return self._as("cpu")

    def cuda(self, device: Any = None) -> Any:
        """On a GPU."""
        return self.to("cuda" if device is None else device)

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of this shape, whose elements nobody has set yet."""
        which, where = self._dtype_and_device
        values = fills.empty(
            (shape,) if isinstance(shape, int) else tuple(shape), dtype=dtype or which, device=device or where
        )
        requires = self._requires_grad
        del self._dtype_and_device
        self.__class__ = self.cls_to_become  # type: ignore[assignment]  # as torch does
        self.__dict__.update(values.__dict__, _requires_grad=requires)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self._requires_grad, self.device, self.dtype)
        return memo[id(self)]


class UninitializedParameter(_UninitializedMixin, Parameter):
    """A parameter whose shape is not known yet: `materialize(shape)` makes a Parameter of it.

    Source: torch.nn.UninitializedParameter.

    >>> import engine as torch
    >>> parameter = torch.nn.parameter.UninitializedParameter()
    >>> parameter.materialize((2, 3))
    >>> type(parameter).__name__, parameter.shape
    ('Parameter', torch.Size([2, 3]))
    """

    cls_to_become = Parameter

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(requires_grad, device, dtype)


class UninitializedBuffer(_UninitializedMixin):
    """A buffer whose shape is not known yet.

    Source: torch.nn.UninitializedBuffer.

    >>> import engine as torch
    >>> torch.nn.parameter.is_lazy(torch.nn.UninitializedBuffer())
    True
    """


def is_lazy(param: Any) -> bool:
    """Return whether the shape of a parameter or buffer is not known yet.

    Source: torch.nn.parameter.is_lazy.

    >>> import engine as torch
    >>> torch.nn.parameter.is_lazy(torch.nn.LazyLinear(2).weight)
    True
    """
    return isinstance(param, _UninitializedMixin)


def _share(parameter: Tensor, data: Tensor | None) -> None:
    """Make `parameter` the same elements as `data`, with one version for both, and no history."""
    source = fills.empty(0) if data is None else data
    recorder = slot.active
    if recorder is None or source.grad_fn is not None or not recorder.is_within_call(source):
        parameter.__dict__.update(source.detach().__dict__)
        return
    with unrecorded():  # `Parameter(torch.randn(3))`: nobody else has what was made for it, so that it is the leaf
        parameter.__dict__.update(detach(source).__dict__)
    parameter._id, parameter._seen, parameter._value = source._id, source._seen, source._value
    source._id = -1


def _cloned(source: Tensor) -> Tensor:
    with no_grad():
        return clone(source)


def fresh(*shape: Any, dtype: Any = None, device: Any = None) -> Parameter:
    """A parameter whose elements nobody has set yet.  What does not fit is refused as `torch.empty` refuses it."""
    size = shape if len(shape) == 1 else (shape,)
    return Parameter(_empty(*size, dtype=dtype, device=device))
