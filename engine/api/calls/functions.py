"""Functions of one or two tensors that are one op each: which function, method and in-place method is which op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops import arithmetic as ar
from ...ops import choice as ch
from ...ops import elementwise as el
from ...ops import special as sp
from ...ops.op import OpFunction
from ...tensor.fast_path import quick
from ...tensor.tensor import Tensor
from .check import as_operand, combination, need_float, need_tensor, need_whole
from .examples import ONE, TWO, with_example
from .out import result_in

__all__ = [
    "absolute",
    "acos",
    "acosh",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "eq",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "fix",
    "floor",
    "fmax",
    "fmin",
    "frac",
    "gcd",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "hypot",
    "i0",
    "igamma",
    "igammac",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "lcm",
    "ldexp",
    "le",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "ne",
    "neg",
    "negative",
    "nextafter",
    "not_equal",
    "rad2deg",
    "reciprocal",
    "relu",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]

Function = Callable[..., Any]
Check = Callable[..., None]

FUNCTIONS: dict[str, Function] = {}
"""The names that are both functions and methods: filled by the lines below."""
WRITERS: dict[str, OpFunction] = {}
"""Ops that have an in-place form, by the name of the function."""
ANGLES = frozenset(
    ["angle", "arccos", "arcsin", "arctan", "arctan2", "acos", "asin", "atan", "atan2", "cos", "sin", "tan"]
)
"""Functions that take or return an angle."""
WRONG: dict[Check, str] = {
    need_float: "NotImplementedError for integers", need_whole: "NotImplementedError for floats",
}  # fmt: skip
"""The errors of functions that look at dtypes."""
CHECKED: dict[str, tuple[Check, str]] = {}
"""Functions that take only some dtypes: which check refuses the others, and torch's name of the kernel."""


def _named(function: Function, name: str, shapes: str = ONE) -> Function:
    function.__name__ = function.__qualname__ = name
    units = "; angles are radians" if name in ANGLES else ""
    function.__doc__ = with_example(f"torch.{name}, elementwise{units}.", name, shapes=shapes)
    return function


def _one(check: Check | None) -> str:
    """The shapes and errors of a function of one tensor."""
    return ONE if check is None else f"{ONE}  Raises {WRONG[check]}."


def _two(check: Check | None) -> str:
    """The shapes and errors of a function of two tensors."""
    return TWO.format("" if check is None else f", {WRONG[check]}")


def _checked(op: OpFunction, check: Check | None, kernel: str) -> Function:
    """The op behind a look at its arguments' dtypes."""
    if check is None:
        return op

    def checked(*args: Any) -> Any:
        check(kernel, *args)
        return op(*args)

    return _named(checked, op.__name__)


def unary(
    op: OpFunction, name: str, inplace: bool = True, check: Check | None = None, kernel: str = "", has_out: bool = True
) -> Function:
    """An op of one tensor as torch's function: the argument must be a Tensor."""
    called = quick(op) if check is None else _checked(op, check, kernel or f"{name}_cpu")

    def function(input: Any, *, out: Tensor | None = None) -> Tensor:
        if not isinstance(input, Tensor):
            need_tensor(input, name)
        return called(input) if out is None else result_in(out, function, input)

    def without_out(input: Any) -> Tensor:
        if not isinstance(input, Tensor):
            need_tensor(input, name)
        return called(input)

    _writer(op, name, inplace, check, kernel)
    chosen = function if has_out else without_out
    return _with_method(_named(chosen, name, _one(check)), op if check is None else called)


def _with_method(function: Function, method: Function) -> Function:
    """The function, whose method is `method` and says the same of itself; the op's own text is for its rules."""
    name = function.__name__
    if method.__name__ == name or not method.__doc__:
        method.__doc__ = function.__doc__
    FUNCTIONS[name] = method
    return function


def _writer(op: OpFunction, name: str, inplace: bool, check: Check | None, kernel: str) -> None:
    if inplace:
        WRITERS[name] = op
        if check is not None:
            CHECKED[name] = check, kernel or f"{name}_cpu"


def binary(op: OpFunction, name: str, inplace: bool = False) -> Function:
    """An op of a tensor and a tensor or number as torch's function."""

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        if not isinstance(input, Tensor):
            if name not in ("mul", "multiply"):
                raise combination(name, input, other)
            input = input if isinstance(other, Tensor) else as_operand(name, input)
        return op(input, other) if out is None else result_in(out, function, input, other)

    if inplace:
        WRITERS[name] = op
    return _with_method(_named(function, name, _two(None)), op)


def two_tensors(
    op: OpFunction, name: str, inplace: bool = False, check: Check | None = None, kernel: str = "",
    second: str = "other",
) -> Function:  # fmt: skip
    """An op of two tensors as torch's function and method."""
    called = _checked(op, check, kernel or f"{name}_cpu")

    def function(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        need_tensor(input, name)
        need_tensor(other, name, second, 2)
        return called(input, other) if out is None else result_in(out, function, input, other)

    def method(self: Tensor, other: Tensor) -> Tensor:
        need_tensor(other, name, second)
        return called(self, other)

    FUNCTIONS[name] = _named(method, name, _two(check))
    _writer(op, name, inplace, check, kernel)
    return _named(function, name, _two(check))


# -- functions of one tensor --------------------------------------------------------------------------------------

exp = unary(el.exp, "exp")
expm1 = unary(el.expm1, "expm1")
exp2 = unary(el.exp2, "exp2")
log = unary(el.log, "log")
log2 = unary(el.log2, "log2")
log10 = unary(el.log10, "log10")
log1p = unary(el.log1p, "log1p")
sqrt = unary(el.sqrt, "sqrt")
rsqrt = unary(el.rsqrt, "rsqrt")
reciprocal = unary(el.reciprocal, "reciprocal")
sin = unary(el.sin, "sin")
cos = unary(el.cos, "cos")
tan = unary(el.tan, "tan")
asin = unary(el.asin, "asin")
acos = unary(el.acos, "acos")
atan = unary(el.atan, "atan")
sinh = unary(el.sinh, "sinh")
cosh = unary(el.cosh, "cosh")
tanh = unary(el.tanh, "tanh")
asinh = unary(el.asinh, "asinh")
acosh = unary(el.acosh, "acosh")
atanh = unary(el.atanh, "atanh")
erf = unary(el.erf, "erf")
erfc = unary(el.erfc, "erfc")
sigmoid = unary(el.sigmoid, "sigmoid")
relu = unary(el.relu, "relu", has_out=False)
sign = unary(el.sign, "sign")
floor = unary(el.floor, "floor")
ceil = unary(el.ceil, "ceil")
trunc = unary(el.trunc, "trunc")
neg = unary(el.neg, "neg")
fix = unary(el.trunc, "fix")
negative = unary(el.neg, "negative")
absolute = unary(el.absolute, "absolute")
arcsin = unary(el.asin, "arcsin")
arccos = unary(el.acos, "arccos")
arctan = unary(el.atan, "arctan")
arcsinh = unary(el.asinh, "arcsinh")
arccosh = unary(el.acosh, "arccosh")
arctanh = unary(el.atanh, "arctanh")
sgn = unary(ar.sgn, "sgn")
rad2deg = unary(ar.rad2deg, "rad2deg")
deg2rad = unary(ar.deg2rad, "deg2rad")
frac = unary(ar.frac, "frac", check=need_float)
angle = unary(ar.angle, "angle", inplace=False)
lgamma = unary(sp.lgamma, "lgamma")
digamma = unary(sp.digamma, "digamma")
erfinv = unary(sp.erfinv, "erfinv")
i0 = unary(sp.i0, "i0")
sinc = unary(sp.sinc, "sinc")
signbit = unary(ar.signbit, "signbit", inplace=False)
isposinf = unary(ar.isposinf, "isposinf", inplace=False)
isneginf = unary(ar.isneginf, "isneginf", inplace=False)
isreal = unary(ar.isreal, "isreal", inplace=False, has_out=False)
isnan = unary(ch.isnan, "isnan", inplace=False, has_out=False)
isinf = unary(ch.isinf, "isinf", inplace=False, has_out=False)
isfinite = unary(ch.isfinite, "isfinite", inplace=False, has_out=False)
logical_not = unary(ch.logical_not, "logical_not", inplace=False)

# -- functions of two ---------------------------------------------------------------------------------------------

mul = binary(el.mul, "mul", inplace=True)
multiply = binary(el.mul, "multiply", inplace=True)
eq = binary(ch.eq, "eq")
ne = binary(ch.ne, "ne")
not_equal = binary(ch.ne, "not_equal")
lt = binary(ch.lt, "lt")
less = binary(ch.lt, "less")
le = binary(ch.le, "le")
less_equal = binary(ch.le, "less_equal")
gt = binary(ch.gt, "gt")
greater = binary(ch.gt, "greater")
ge = binary(ch.ge, "ge")
greater_equal = binary(ch.ge, "greater_equal")
logical_and = two_tensors(ch.logical_and, "logical_and")
logical_or = two_tensors(ch.logical_or, "logical_or")
logical_xor = two_tensors(ch.logical_xor, "logical_xor")
maximum = two_tensors(ch.maximum, "maximum")
minimum = two_tensors(ch.minimum, "minimum")
atan2 = two_tensors(el.atan2, "atan2", inplace=True)
arctan2 = two_tensors(el.atan2, "arctan2", inplace=True)
fmax = two_tensors(ar.fmax, "fmax")
fmin = two_tensors(ar.fmin, "fmin")
hypot = two_tensors(ar.hypot, "hypot", inplace=True, check=need_float)
ldexp = two_tensors(ar.ldexp, "ldexp", inplace=True)
nextafter = two_tensors(ar.nextafter, "nextafter", inplace=True, check=need_float)
gcd = two_tensors(ar.gcd, "gcd", inplace=True, check=need_whole)
lcm = two_tensors(ar.lcm, "lcm", inplace=True, check=need_whole)
logaddexp = two_tensors(sp.logaddexp, "logaddexp", check=need_float)
logaddexp2 = two_tensors(sp.logaddexp2, "logaddexp2", check=need_float)
igamma = two_tensors(sp.igamma, "igamma", inplace=True, check=need_float)
igammac = two_tensors(sp.igammac, "igammac", inplace=True, check=need_float)
