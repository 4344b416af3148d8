"""The fast path for ops of one or two inputs: `dispatch.apply` without a loop over the arguments.

Most ops of a program are of this kind, and small: the time per op decides how fast the engine is.  Each case is
therefore one function, longer than others, that makes as few calls as possible.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numpy import ndarray

from ..arrays.array import apart, as_array, xp
from ..arrays.session import slot
from ..ops.op import Op, OpFunction
from .dispatch import KERNEL_ERRORS, SINGLE, kernel_error, target_of
from .grad_mode import mode
from .node import Node, SavedResult, accumulator, next_number
from .saved_tensors import save
from .storage import Storage
from .tensor import Tensor

_new = object.__new__
OPERATORS: dict[Callable[..., Any], Callable[..., Any]] = {
    xp.add: operator.add,
    xp.subtract: operator.sub,
    xp.multiply: operator.mul,
    xp.true_divide: operator.truediv,
    xp.negative: operator.neg,
}
"""The same functions, called without parsing arguments."""


def quick(function: OpFunction) -> OpFunction:
    """The function of an op of one or two inputs, faster for the common case: Tensors of one dtype, or a number.  It
    does the same as `apply`, without a loop over the arguments, and calls it in all other cases.  Ops with static
    arguments, several outputs or views are not changed.
    """
    op = function.op
    if op.statics or op.lists or op.view or op.arity > 2 or op.mask not in (0, (1 << op.arity) - 1):
        return function
    fast: OpFunction = _quick_one(op, function) if op.arity == 1 else _quick_two(op, function, 0)
    fast.op = op
    return fast


def quick_product(function: OpFunction, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The product of two matrices of one dtype; all other products go to `otherwise`."""
    return _quick_two(function.op, otherwise, 2)  # `ndarray.dot` is a microsecond faster than `@`


def _quick_one(op: Op, function: OpFunction) -> Any:
    kernel, plans, key = OPERATORS.get(op.kernel, op.kernel), op.plans, op.mask

    def one(self: Any) -> Any:
        array = self._array
        if slot.noted or (array.dtype is not SINGLE and array.dtype.kind != "f"):
            return function(self)
        try:
            result = kernel(array)
        except KERNEL_ERRORS as error:
            raise kernel_error(op, [array], error) from None
        if type(result) is not ndarray:
            result = as_array(result)
        out: Tensor = _new(Tensor)
        out._array = result
        out._shared = node = None  # set on the object, it is found at once: a default of the class takes two look-ups
        if key and self._requires_grad and (not slot.off or mode.enabled):
            try:
                plan = plans[key]
            except KeyError:
                plan = op.plan(key)
            node = _new(Node)
            node.plan = plan
            node.more = None
            shared = self._shared
            if shared is None:
                node.targets = (self._node or accumulator(self),)
            else:
                node.targets = (target_of(self),)
                if self._nr:
                    node.numbers = (self._nr,)
            node.sequence_nr = next_number()
            node.shape = result.shape
            node.dtype = result.dtype
            if plan.of_result:
                saved_result: SavedResult = _new(SavedResult)
                saved_result._array, saved_result._nr = result, 0
                saved_result._shared = out._shared = shared = _new(Storage)
                shared.version = 0
                out._view, out._nr = None, 0
                node.saved = (saved_result,)
            elif not plan.pick:
                node.saved = ()
            elif plan.inputs == 1 and (shared is None or not shared.version):
                node.saved = (self,)
            else:
                save(node, (self,), None, (out,))
            out._node = node
            out._requires_grad = True
        else:
            out._requires_grad = False
        if slot.active is not None:
            slot.active.plain(op, self, None, out, node)
        return out

    return _as(one, function)


def _quick_two(op: Op, function: Callable[..., Any], rank: int) -> Any:
    """The function for two inputs; if `rank` is 2, for two matrices only."""
    kernel, plans, mask = ndarray.dot if rank else OPERATORS.get(op.kernel, op.kernel), op.plans, op.mask

    def two(self: Any, other: Any) -> Any:
        kind = type(other)
        first = self._array
        dtype = first.dtype
        if kind is Tensor or isinstance(other, Tensor):
            second = other._array
            if second.dtype is not dtype or (dtype is not SINGLE and dtype.kind != "f") or slot.noted:
                return function(self, other)
            if rank and (first.ndim != 2 or second.ndim != 2):
                return function(self, other)
            needs = (3 if other._requires_grad else 1) if self._requires_grad else 2 if other._requires_grad else 0
        elif (kind is float or kind is int) and (dtype is SINGLE or dtype.kind == "f") and not (rank or slot.noted):
            second = other
            needs = 9 if self._requires_grad else 0  # 8: the second input is not a tensor, as in `Op.plan`
        else:
            return function(self, other)
        try:
            result = kernel(first, second)
        except KERNEL_ERRORS as error:
            if rank or apart((first, second)):
                return function(self, other)
            raise kernel_error(op, [first, second], error) from None
        if type(result) is not ndarray:
            result = as_array(result)
        out: Tensor = _new(Tensor)
        out._array = result
        out._shared = node = None
        if needs and mask and (not slot.off or mode.enabled):
            try:
                plan = plans[needs]
            except KeyError:
                plan = op.plan(needs & 3, needs >> 2)
            node = _new(Node)
            node.plan = plan
            node.more = None
            node.sequence_nr = next_number()
            node.shape = result.shape
            node.dtype = dtype
            target = target_2 = None
            if needs & 1:
                if self._shared is None:
                    target = self._node
                    if target is None:
                        reference = self._accumulator
                        target = reference() or accumulator(self)
                else:
                    target = self._node
                    if target is None or self._view is not None:
                        target = target_of(self)
                    if self._nr:
                        node.numbers = (self._nr, 0)
            if needs & 2:
                if other._shared is None:
                    target_2 = other._node
                    if target_2 is None:
                        reference = other._accumulator
                        target_2 = reference() or accumulator(other)
                else:
                    target_2 = other._node
                    if target_2 is None or other._view is not None:
                        target_2 = target_of(other)
                    if other._nr:
                        node.numbers = (node.number(0), other._nr)
            node.targets = (target, target_2)
            inputs = plan.inputs
            if not plan.pick:
                node.saved = ()
            elif (
                inputs
                and ((shared := self._shared) is None or not shared.version)
                and (needs & 8 or (shared := other._shared) is None or not shared.version)
            ):
                node.saved = (self, other) if inputs == 3 else (self,) if inputs == 1 else (other,)
            else:
                save(node, (self, other), None, (out,))
            out._node = node
            out._requires_grad = True
        else:
            out._requires_grad = False
        if slot.active is not None:
            slot.active.plain(op, self, other, out, node)
        return out

    return _as(two, function)


def _as(fast: Any, function: Callable[..., Any]) -> Any:
    """The fast function of an op, under the name of the general one."""
    fast.__name__, fast.__qualname__, fast.__doc__ = function.__name__, function.__qualname__, function.__doc__
    return fast
