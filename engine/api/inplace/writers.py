"""In-place forms of functions that take more than tensors: `lerp_`, `round_`, `cumsum_`, `lt_` ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...arrays import errors
from ...arrays.array import as_numpy_dtype
from ...ops import arithmetic as ar
from ...ops import choice as ch
from ...ops import elementwise as eo
from ...ops import inplace as ip
from ...ops import reduction as rd
from ...ops import scan as sc
from ...ops import special as sp
from ...ops import statistics as st
from ...ops.op import OpFunction
from ...tensor.grad_mode import no_grad
from ...tensor.inplace import apply_inplace, need_shape
from ...tensor.tensor import Tensor
from ..calls import functions as fn
from ..calls.check import kind, need_divisor, need_numbers, need_tensor, one_dim, refused
from ..math import choice
from ..math.terms import need_lerp, need_quotient
from ..reduce.statistics import need_renorm
from .inplace import div_, sub_, writes

Writer = Callable[..., Tensor]


def _write(op: OpFunction, *args: Any, **statics: Any) -> Tensor:
    return apply_inplace(op.op, args, statics)


def lerp_(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Go the part `weight` of the way to `end`."""
    need_lerp(self, end, weight)
    if isinstance(weight, Tensor):
        return _write(ar.lerp, self, end, weight)
    return _write(ar.lerp_number, self, end, weight=weight)


def addcmul_(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """self += value * tensor1 * tensor2."""
    return _write(ar.addcmul, self, tensor1, tensor2, value=value)


def addcdiv_(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """self += value * tensor1 / tensor2."""
    need_quotient(tensor1, tensor2)
    return _write(ar.addcdiv, self, tensor1, tensor2, value=value)


def abs_(self: Tensor) -> Tensor:
    """Take the absolute value."""
    need_numbers("abs_cpu", self)
    return _write(eo.absolute, self)


def round_(self: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to so many decimals."""
    if not decimals:
        return _write(eo.round_half_even, self)
    if not self.is_floating_point():
        raise refused("round_cpu", self)
    return _write(ar.round_decimals, self, decimals=decimals)


def fmod_(self: Tensor, other: Any) -> Tensor:
    """The remainder, of the dividend's sign."""
    need_divisor(self, other)
    need_numbers("fmod_cpu", self, other)
    return _write(eo.fmod if isinstance(other, Tensor) else eo.fmod_scalar, self, other)


def copysign_(self: Tensor, other: Any) -> Tensor:
    """Take the sign of `other`."""
    return _write(ar.copysign if isinstance(other, Tensor) else ar.copysign_number, self, other)


def heaviside_(self: Tensor, values: Tensor) -> Tensor:
    """0 below 0, 1 above, `values` at 0."""
    need_tensor(values, "heaviside_", "values")
    if self.dtype is not values.dtype:
        raise errors.runtime("heaviside is not yet implemented for tensors with different dtypes.")
    return _write(ar.heaviside, self, values)


def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """self **= exponent, of float64 alone."""
    if self.dtype.name != "float64":
        raise errors.runtime(
            f"the base given to float_power_ has dtype {kind(self)} but the operation's result requires dtype Double"
        )
    if isinstance(exponent, Tensor):
        return _write(eo.pow_tensor, self, exponent.double())
    return _write(eo.pow_number, self, exponent=float(exponent))


def nan_to_num_(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replace nan, inf and -inf."""
    return _write(ar.nan_to_num, self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


def logit_(self: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x))."""
    return _write(sp.logit, self, eps=eps)


def polygamma_(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma."""
    if n < 0:
        raise errors.runtime("polygamma(n, x) does not support negative n.")
    return _write(sp.polygamma, self, n=n)


def mvlgamma_(self: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function."""
    if p < 1:
        raise errors.runtime("p has to be greater than or equal to 1")
    return _write(sp.mvlgamma, self, p=p)


def xlogy_(self: Tensor, other: Any) -> Tensor:
    """self * log(other)."""
    return _write(sp.xlogy, self, other) if isinstance(other, Tensor) else _write(sp.xlogy_number, self, other=other)


def cumsum_(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The running sum."""
    return _write(rd.cumsum, self, dim=one_dim(dim, self._array.ndim), dtype=as_numpy_dtype(dtype))


def cumprod_(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The running product."""
    return _write(sc.cumprod, self, dim=one_dim(dim, self._array.ndim), dtype=as_numpy_dtype(dtype))


def renorm_(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale the parts along `dim` that are too long."""
    place = need_renorm(self, p, dim, maxnorm)
    return _write(st.renorm, self, p=float(p), dim=place, maxnorm=float(maxnorm))


def _checked(name: str) -> Writer:
    """The in-place method of a function that looks at the dtypes of its arguments first."""
    check, kernel = fn.CHECKED[name]
    write = writes(fn.WRITERS[name], f"{name}_")

    def method(self: Tensor, *others: Any) -> Tensor:
        check(kernel, self, *others)
        return write(self, *others)

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = write.__doc__
    return method


def _comparison(name: str) -> Writer:
    """A comparison, written as 1 and 0."""
    with_number, with_tensor = ch.COMPARISONS[name]

    def method(self: Tensor, other: Any) -> Tensor:
        return _write(with_tensor if isinstance(other, Tensor) else with_number, self, other)

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"{name}, written into the tensor as 1 and 0."
    return method


def _by_copy(function: Callable[..., Tensor], name: str) -> Writer:
    """The result of a function that torch writes unseen by the tensor's history."""

    def method(self: Tensor, *others: Any) -> Tensor:
        result = function(self, *others)
        need_shape(self, result._array.shape)
        if self._array.dtype.kind == "b" != result._array.dtype.kind:
            raise errors.runtime(f"result type {kind(result)} can't be cast to the desired output type Bool")
        with no_grad():
            return _write(ip.copy, self, result)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name.removesuffix('_')}, written into the tensor."
    return method


COPIED: dict[str, Callable[..., Tensor]] = {
    **{name: getattr(fn, name) for name in (
        "logical_and", "logical_or", "logical_xor", "logical_not",
    )},
    **{name: getattr(choice, name) for name in (
        "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift",
    )},
}  # fmt: skip
WRITERS: dict[str, Writer] = {
    **{f"{name}_": _comparison(name) for name in ch.COMPARISONS},
    "not_equal_": _comparison("ne"), "less_": _comparison("lt"), "less_equal_": _comparison("le"),
    "greater_": _comparison("gt"), "greater_equal_": _comparison("ge"),
    "subtract_": sub_, "divide_": div_, "true_divide_": div_,
    **{f"{name}_": _checked(name) for name in fn.CHECKED},
    "abs_": abs_, "lerp_": lerp_, "addcmul_": addcmul_, "addcdiv_": addcdiv_, "round_": round_,
    "fmod_": fmod_,
    "copysign_": copysign_, "heaviside_": heaviside_, "float_power_": float_power_, "nan_to_num_": nan_to_num_,
    "logit_": logit_, "polygamma_": polygamma_, "mvlgamma_": mvlgamma_, "xlogy_": xlogy_, "cumsum_": cumsum_,
    "cumprod_": cumprod_, "renorm_": renorm_,
    **{f"{name}_": _by_copy(function, f"{name}_") for name, function in COPIED.items()},
}  # fmt: skip
"""In-place methods by name."""
