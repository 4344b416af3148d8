"""Methods that write to their tensor: `add_`, `zero_`, `copy_` ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...arrays import errors
from ...arrays.array import pointer, xp
from ...arrays.session import slot
from ...ops import choice as ch
from ...ops import elementwise as el
from ...ops import inplace as ip
from ...ops import shape as so
from ...ops.op import OpFunction
from ...tensor.dispatch import kernel_error
from ...tensor.inplace import apply_inplace, need_shape, share_data
from ...tensor.tensor import Tensor
from ..calls.check import as_operand, bounds, combination, fitted, need_alpha, need_divisor, need_filling, need_numbers


def writes(op: OpFunction, name: str) -> Callable[..., Tensor]:
    """The in-place method of an op whose arguments are torch's."""
    declared = op.op

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return apply_inplace(declared, (self, *args), kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name.removesuffix('_')}, written into the tensor."
    return method


def _write(op: OpFunction, *args: Any, **statics: Any) -> Tensor:
    return apply_inplace(op.op, args, statics)


def add_(self: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """self += alpha * other."""
    if type(alpha) is not int:
        need_alpha(self, other, alpha)
    return _write(el.add, self, other) if alpha == 1 else _write(el.add_scaled, self, other, alpha=alpha)


def sub_(self: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """self -= alpha * other."""
    if type(alpha) is not int:
        need_alpha(self, other, alpha)
    return _write(el.sub, self, other) if alpha == 1 else _write(el.sub_scaled, self, other, alpha=alpha)


def pow_(self: Tensor, exponent: Any) -> Tensor:
    """self **= exponent."""
    if isinstance(exponent, Tensor):
        return _write(el.pow_tensor, self, exponent)
    return _write(el.pow_number, self, exponent=exponent)


def square_(self: Tensor) -> Tensor:
    """self **= 2."""
    return pow_(self, 2)


def remainder_(self: Tensor, other: Any) -> Tensor:
    """self %= other."""
    need_divisor(self, other)
    need_numbers("remainder_cpu", self, other)
    return _write(el.remainder if isinstance(other, Tensor) else el.remainder_scalar, self, other)


def floor_divide_(self: Tensor, other: Any) -> Tensor:
    """self //= other."""
    need_divisor(self, other)
    need_numbers("div_floor_cpu", self, other)
    return _write(el.floor_divide, self, other)


def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """self /= other."""
    if rounding_mode is not None:
        need_divisor(self, other)
        return _write(el.div_rounded, self, other, rounding_mode=rounding_mode)
    return _write(el.div, self, other)


def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Keep the elements between `min` and `max`."""
    if min is None and max is None:
        raise errors.runtime("torch.clamp: At least one of 'min' or 'max' must not be None")
    min, max = bounds(min, max)
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if not all(bound is None or isinstance(bound, Tensor) for bound in (min, max)):
            raise combination("clamp_", self, min, max)
        return _write(ch.clamp_tensor, self, min, max)
    return _write(ch.clamp, self, min=min, max=max)


def clamp_min_(self: Tensor, min: Any) -> Tensor:
    """Raise elements to `min`."""
    if isinstance(min, Tensor):
        return _write(ch.clamp_min_tensor, self, min)
    return _write(ch.clamp_min, self, min=min)


def clamp_max_(self: Tensor, max: Any) -> Tensor:
    """Lower elements to `max`."""
    if isinstance(max, Tensor):
        return _write(ch.clamp_max_tensor, self, max)
    return _write(ch.clamp_max, self, max=max)


def zero_(self: Tensor) -> Tensor:
    """Write 0 everywhere.

    >>> import engine as torch
    >>> torch.ones(2).zero_()
    tensor([0., 0.])
    """
    return apply_inplace(ch.zero.op, (self,), {})


def fill_(self: Tensor, value: Any) -> Tensor:
    """Write `value` everywhere.

    >>> import engine as torch
    >>> torch.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise errors.runtime(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
            )
        return _write(ip.fill_tensor, self, value)
    number = fitted(value, self._array.dtype) if isinstance(value, (int, float)) else value
    return apply_inplace(ip.fill_number.op, (self,), {"value": number})


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write the elements of `src`, broadcast to this shape.

    >>> import engine as torch
    >>> torch.zeros(2).copy_(torch.tensor([1, 2]))
    tensor([1., 2.])
    """
    if not isinstance(src, Tensor):
        src = as_operand("copy_", src)
    shape, source = self._array.shape, src._array.shape
    if shape != source:
        try:
            joint = xp.broadcast_shapes(shape, source)
        except ValueError as error:
            raise kernel_error(ip.copy.op, [self._array, src._array], error) from None
        need_shape(self, joint)
    return _write(ip.copy, self, src)


def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Write `value` where `mask`.

    >>> import engine as torch
    >>> torch.zeros(2).masked_fill_(torch.tensor([True, False]), 3)
    tensor([3., 0.])
    """
    need_filling(mask, value)
    if isinstance(value, Tensor):
        return _write(ch.masked_fill_tensor, self, mask, value)
    return _write(ch.masked_fill, self, mask, value=value)


def detach_(self: Tensor) -> Tensor:
    """Cut the tensor from its history, making it a leaf.

    >>> import engine as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> (2 * x).detach_()
    tensor([2.])
    """
    if self._view is not None:
        raise errors.runtime(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
            "detach_() cannot be called on these gradients. To fix this error, please refer to the "
            "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
        )
    if slot.active is not None and self._requires_grad:
        slot.active.event("flag", slot.active.see(self)[0], "requires_grad", False)
    self._node, self._nr, self._requires_grad = None, 0, False
    return self


def set_real(self: Tensor, value: Tensor) -> None:
    """`x.real = value`: of real numbers all of them."""
    copy_(self, value)


def get_data(self: Tensor) -> Tensor:
    """`x.data`: the same elements without history, with a separate version counter, which writes to x do not change.

    >>> import engine as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> x.data
    tensor([1.])
    """
    result: Tensor = so.data(self)
    share_data(self, result)
    return result


def set_data(self: Tensor, value: Tensor) -> None:
    """`x.data = value`: the elements of `value`, shared with it, for the same tensor; unseen by its history."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if value._array.dtype.kind != "f" and self._requires_grad:
        raise errors.runtime("data set to a tensor that requires gradients must be floating point or complex dtype")
    old, new = self._array, value._array
    if pointer(old) == pointer(new) and (old.shape, old.strides, old.dtype) == (new.shape, new.strides, new.dtype):
        return  # `x.data -= y` has written through `x.data` and sets what it wrote
    active = slot.active
    if active is not None:
        active.see(self)
        active.see(value)
        active.before_write(self)  # views of what it was may still be written
    if new.dtype != old.dtype or type(new) is not type(old):
        self.__dict__.pop("_accumulator", None)  # torch's rule: what accumulates now takes gradients of the new kind
    self._array = new
    self._storage.join(value._storage)
    if active is not None:
        self._storage.unseen += 1
        active.data_set(self, value)
