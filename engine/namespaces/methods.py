"""Which function is which method and operator of Tensor: one table, bound once by `engine/__init__`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api import printing
from ..api.calls import absent_functions as ab
from ..api.calls import functions as fn
from ..api.calls.out import plain
from ..api.creation import constructors, creation
from ..api.creation import conversion as mo
from ..api.creation import new_tensors as fr
from ..api.creation import types as ty
from ..api.index import indexing as ix
from ..api.index import masking as ma
from ..api.index import scatter as sa
from ..api.inplace import inplace as ip
from ..api.inplace import writers as wr
from ..api.linalg import decomposition as dc
from ..api.linalg import factors as fa
from ..api.linalg import linalg as la
from ..api.linalg import norms as no
from ..api.linalg import products as pr
from ..api.linalg import spectrum as sm
from ..api.math import arithmetic as am
from ..api.math import choice as cc
from ..api.math import elementwise as el
from ..api.math import special as sp
from ..api.math import terms as te
from ..api.random import draws as dw
from ..api.random import inplace_draws as rw
from ..api.reduce import extremes as ex
from ..api.reduce import reduction as rd
from ..api.reduce import scan as sc
from ..api.reduce import searching as se
from ..api.reduce import sorting as sr
from ..api.reduce import statistics as st
from ..api.shape import arrange as ag
from ..api.shape import joining as jo
from ..api.shape import parts as pt
from ..api.shape import replacing as rp
from ..api.shape import reshaping as rh
from ..api.shape import shape as sh
from ..api.shape import storage as memory
from ..api.shape import transposes as tr
from ..arrays import array as arrays
from ..arrays import errors
from ..arrays.array import CPU, device
from ..autograd.calls import backward
from ..ops import choice as ch
from ..ops import elementwise as eo
from ..ops import shape as so
from ..tensor import escapes
from ..tensor.fast_path import quick
from ..tensor.tensor import Tensor

ROOMS = (
    ab, am, cc, ag, dc, dw, el, ex, fa, fr, ix, jo, la, ma, no, pt, pr, rd, rp, rh, rw, sa, sc, se, sh, sr, sm, sp, st,
    memory, te, tr, ty,
)  # fmt: skip
"""The files of functions; each names in METHODS those that are methods too, the tensor first."""


def _device_method(name: str) -> Callable[..., Tensor]:
    def method(self: Tensor, where: Any = None) -> Tensor:
        return mo.on_device(self, device(name) if where is None else where)

    method.__name__ = name
    method.__doc__ = f"The tensor on the device {name}."
    return method


def _dtype_method(name: str, which: Any) -> Callable[..., Tensor]:
    def method(self: Tensor, memory_format: Any = None) -> Tensor:
        return mo.to(self, which, memory_format=memory_format)

    method.__name__ = name
    method.__doc__ = f"The tensor in dtype {which}."
    return method


def _cpu(self: Tensor) -> Tensor:
    """The tensor in the processor's memory."""
    return mo.on_device(self, CPU)


def _type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of another."""
    return mo.to(self, other.dtype)


def _element_size(self: Tensor) -> int:
    """The bytes of one element."""
    return self.itemsize


_cpu.__name__, _type_as.__name__, _element_size.__name__ = "cpu", "type_as", "element_size"


def _reversed(self: Tensor) -> Tensor:
    return ag.flip(self, 0) if self.dim() else self


def _contains(self: Tensor, element: Any) -> bool:
    if not isinstance(element, (Tensor, bool, int, float)):
        raise errors.runtime(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
        )
    return bool(ch.eq(self, element).any())


def _backward(
    self: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Accumulate the gradients of this tensor, weighted by `gradient`, into the leaves.  See autograd.backward.

    >>> import engine as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).backward(torch.tensor([1.0, 0.0]))
    >>> x.grad
    tensor([2., 0.])
    """
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


_backward.__name__ = "backward"

METHODS: dict[str, Callable[..., Any]] = {
    "split": pt.split_method, "tile": ag.tile_method, "_is_view": memory.is_view, "conj": memory.itself,
    "is_shared": memory.no, "is_pinned": memory.no, "detach": so.detach,
    "view": sh.view, "view_as": sh.view_as, "reshape_as": sh.reshape_as, "expand": sh.expand,
    "expand_as": sh.expand_as,
    "contiguous": sh.contiguous, "is_contiguous": sh.is_contiguous, "stride": sh.stride, "size": sh.size, "to": mo.to,
    "sum_to_size": sh.sum_to_size, "type": ty.type_, "where": cc.where_method, "backward": _backward,
    "type_as": _type_as, "element_size": _element_size, "cpu": _cpu, "cuda": _device_method("cuda"),
    "polygamma": sp.polygamma_method,
    "add_": ip.add_, "sub_": ip.sub_, "pow_": ip.pow_, "square_": ip.square_,
    "remainder_": ip.remainder_,
    "floor_divide_": ip.floor_divide_, "div_": ip.div_, "clamp_": ip.clamp_, "clip_": ip.clamp_,
    "clamp_min_": ip.clamp_min_, "clamp_max_": ip.clamp_max_, "zero_": ip.zero_, "fill_": ip.fill_, "copy_": ip.copy_,
    "masked_fill_": ip.masked_fill_, "detach_": ip.detach_,
    "__repr__": printing.tensor_text, "__copy__": creation.shallow, "__deepcopy__": creation.deepcopy,
    "__getitem__": ix.getitem, "__setitem__": ix.setitem, "__reversed__": _reversed,
    "__delitem__": ix.delitem, "__contains__": _contains,
    "float": _dtype_method("float", arrays.float32), "double": _dtype_method("double", arrays.float64),
    "long": _dtype_method("long", arrays.int64), "int": _dtype_method("int", arrays.int32),
    "bool": _dtype_method("bool", arrays.bool_), "half": _dtype_method("half", arrays.float16),
    "byte": _dtype_method("byte", arrays.uint8), "short": _dtype_method("short", arrays.int16),
    "char": _dtype_method("char", arrays.int8),
}  # fmt: skip
"""Methods that are no functions of the module."""

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": eo.add, "radd": eo.add, "sub": eo.sub, "rsub": am.rsub, "mul": eo.mul, "rmul": eo.mul, "truediv": eo.div,
    "rtruediv": am.rdiv, "floordiv": am.floor_divide, "rfloordiv": am.rfloordiv, "mod": am.remainder, "rmod": am.rmod,
    "pow": am.pow, "rpow": am.rpow, "matmul": la.operator,
    "rmatmul": la.reflected, "rdiv": am.rdiv, "neg": eo.neg, "pos": el.positive, "abs": el.abs,
    "invert": cc.inverted, "eq": cc.equals, "ne": cc.differs, "lt": ch.lt, "le": ch.le, "gt": ch.gt, "ge": ch.ge,
    "and": cc.bitwise_and, "rand": cc.bitwise_and, "or": cc.bitwise_or, "ror": cc.bitwise_or, "xor": cc.bitwise_xor,
    "rxor": cc.bitwise_xor, "iadd": ip.add_, "isub": ip.sub_, "imul": ip.writes(eo.mul, "__imul__"),
    "itruediv": ip.div_, "ipow": ip.pow_, "ifloordiv": ip.floor_divide_, "imod": ip.remainder_,
    "lshift": cc.bitwise_left_shift, "rlshift": cc.shifted_by, "rshift": cc.bitwise_right_shift,
    "rrshift": cc.shifted_back_by, "iand": wr.WRITERS["bitwise_and_"], "ior": wr.WRITERS["bitwise_or_"],
    "ixor": wr.WRITERS["bitwise_xor_"], "ilshift": wr.WRITERS["bitwise_left_shift_"],
    "irshift": wr.WRITERS["bitwise_right_shift_"],
}  # fmt: skip

PROPERTIES: dict[str, Any] = {
    "is_cpu": property(ty.is_cpu),
    "T": property(tr.transposed), "mT": property(tr.matrix_transposed), "mH": property(tr.conjugate_transposed),
    "H": property(tr.plane_transposed), "_base": property(memory.base), "layout": property(memory.layout_of),
    **{name: property(memory.no) for name in ("is_sparse", "is_quantized", "is_meta", "is_mkldnn", "is_xpu", "is_mps")},
    "data": property(ip.get_data, ip.set_data),
    "real": property(el.real, ip.set_real), "imag": property(el.imag),
}  # fmt: skip


def bind(cls: type[Tensor]) -> None:
    """Attach all of it to the Tensor class."""
    table: dict[str, Any] = dict(fn.FUNCTIONS)
    for room in ROOMS:
        table |= {name: getattr(room, name) for name in room.METHODS}
    rooms = (am, el, te, cc, pt, jo, pr, rp, sa, ma)
    table |= {name: plain(table[name]) for room in rooms for name in room.METHODS}
    table |= escapes.METHODS | METHODS | PROPERTIES
    table |= {f"{name}_": ip.writes(op, f"{name}_") for name, op in fn.WRITERS.items()} | wr.WRITERS
    table.update({f"__{name}__": plain(function) for name, function in OPERATORS.items()})
    for name, function in table.items():
        setattr(cls, name, quick(function) if hasattr(function, "op") else function)
    cls._constructed = staticmethod(constructors.construct)  # bound here, where it is known
