"""`out=`: a result written into a tensor that is there already.  One wrapper for all functions that take it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ...arrays import errors
from ...arrays.array import xp
from ...arrays.session import callers_level
from ...tensor.grad_mode import mode, no_grad
from ...tensor.tensor import Tensor
from ..inplace.inplace import copy_, set_data
from .check import kind

_C_WORDS = "Expected out tensor to have dtype {want_c}, but got {have_c} instead"
_DTYPE = "Found dtype {have} but expected {want}"
_BOOL = "{name} only supports bool tensor for result, got: {have}"
_SIGN = "{name} does not support non-boolean outputs."
_TENSORDOT = "tensordot: Expected the output tensor to have dtype {want}, but got an output tensor with dtype {have}"
_SCALAR = "expected scalar_type {want} but found {have}"
_QUANTILE = "quantile() out tensor must be same dtype as the input tensor"
_MATCH = "Expected the dtype for input and out to match, but got {want} for input's dtype and {have} for out's dtype."

EXACT = {
    _C_WORDS: (
        "argmax", "argmin", "cholesky", "det", "diag", "eigvalsh", "gather", "inv", "inverse", "isin",
        "kthvalue", "log_softmax", "masked_select", "matmul", "matrix_norm", "mm", "msort", "norm", "softmax", "solve",
        "svdvals", "take", "tril", "triu", "vector_norm",
    ),
    _DTYPE: (
        "abs", "absolute", "ceil", "clamp", "clamp_max", "clamp_min", "clip", "fix", "floor", "frac", "neg", "negative",
        "round", "sgn", "sign", "trunc",
    ),
    _MATCH: ("amax", "amin"),
    _SCALAR: ("diff", "logcumsumexp"),
    _TENSORDOT: ("inner", "tensordot"),
    _QUANTILE: ("nanquantile", "quantile"),
    _SIGN: ("isneginf", "isposinf", "signbit"),
    "nan_to_num: dtype of out: {have} should be same as input: {want}": ("nan_to_num",),
    "index_select(): self and result must have the same scalar type": ("index_select",),
    "linalg.vecdot: Expected out of dtype{want} but found {have}": ("vecdot",),
}  # fmt: skip
"""Functions that write an `out=` of the result's own dtype only, by torch's message; others write any that it fits in.

`{have}` is the dtype of `out`, `{want}` the result's; `{have_c}` and `{want_c}` in C++.
"""
MESSAGES = {function: message for message, functions in EXACT.items() for function in functions}
BOOLS = frozenset({"all", "any"})
"""These write bytes as well."""


def need_dtype(name: str, target: Tensor, result: Tensor) -> None:
    """Raise torch's error where `out` has another dtype than a function writes."""
    message = MESSAGES.get(name) if name not in BOOLS or target.dtype.name == "uint8" else _BOOL
    if message is None or target.dtype is result.dtype:
        return
    words = {"have": kind(target), "want": kind(result), "name": name}
    words.update(have_c=errors.C_NAMES[target.dtype.name], want_c=errors.C_NAMES[result.dtype.name])
    raise errors.runtime(message.format(**words))


R = TypeVar("R")
OVERLAP = (
    "unsupported operation: {} to a single memory location. Please clone() the tensor before performing the operation."
)
PICKING = ("gather", "index_select", "kthvalue", "masked_select", "take")
"""Functions that may not read what they write."""
FILLING = frozenset({"empty", "eye", "full", "ones", "rand", "randint", "randn", "randperm", "zeros"})
COUNTING = frozenset({"arange", "linspace", "logspace"})
"""Functions that make a tensor: in the dtype of one that is given, and in its shape where they count as many."""
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def takes_out(function: Callable[..., R]) -> Callable[..., R]:
    """The function with torch's `out=`: a tensor (a tuple of tensors for several results) that gets the result.

    numpy's names `axis` and `keepdims` are taken as torch takes them.
    """

    @wraps(function)
    def with_out(*args: Any, out: Any = None, **kwargs: Any) -> R:
        if kwargs and not kwargs.keys().isdisjoint(NUMPY_NAMES):
            kwargs = {NUMPY_NAMES.get(name, name): value for name, value in kwargs.items()}
        return function(*args, **kwargs) if out is None else result_in(out, function, *args, **kwargs)

    return with_out


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without `out=`: methods and operators do not have it, and do not pay for it."""
    return getattr(function, "__wrapped__", function)


def result_in(out: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `function` and write what it gives into `out`, which is resized where its shape differs.

    Raises torch's RuntimeError where an argument requires grad (a result that is written has no history) and where
    the result's dtype does not fit.
    """
    name = function.__name__
    targets = list(out) if isinstance(out, (tuple, list)) else [out]
    for target in targets:
        if not isinstance(target, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(target).__name__}")
    tensors = [v for v in (*args, *kwargs.values(), *targets) if isinstance(v, Tensor)]
    if mode.enabled and any(t.requires_grad for t in tensors):
        raise errors.runtime(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    _check_memory(name, targets, tensors[: -len(targets)])
    if (name in FILLING or name in COUNTING) and kwargs.get("dtype") is None:
        kwargs["dtype"] = targets[0].dtype
    with no_grad():
        values = function(*args, **kwargs)
        several = isinstance(values, tuple)
        if values.__class__ is Tensor:
            need_dtype(name, targets[0], values)
        if name in COUNTING and values.numel() == targets[0].numel():
            values = values.reshape(targets[0].shape)
        for target, result in zip(targets, values if several else (values,), strict=True):
            _put(target, result, several)
    return type(values)(*out) if several and hasattr(values, "_fields") else out


def _check_memory(name: str, targets: list[Tensor], inputs: list[Tensor]) -> None:
    """Raise torch's error where one place in memory would be written twice, or be read after it was written."""
    for target in targets:
        data = target._array
        if any(n > 1 and not step for n, step in zip(data.shape, data.strides, strict=True)):
            raise errors.runtime(OVERLAP.format("more than one element of the written-to tensor refers"))
        if name in PICKING and any(xp.may_share_memory(data, tensor._array) for tensor in inputs):
            raise errors.runtime(OVERLAP.format("some elements of the input tensor and the written-to tensor refer"))


def _need_dtype(target: Tensor, result: Tensor) -> None:
    if target.dtype is not result.dtype:
        of_result, of_target = (errors.C_NAMES[one.dtype.name] for one in (result, target))
        raise errors.runtime(f"Expected out tensor to have dtype {of_result}, but got {of_target} instead")


def _put(target: Tensor, result: Tensor, several: bool) -> None:
    if several:
        _need_dtype(target, result)
    if result.is_floating_point() > target.is_floating_point() or (
        result.dtype.name != "bool" and target.dtype.name == "bool"
    ):
        raise errors.runtime(f"result type {kind(result)} can't be cast to the desired output type {kind(target)}")
    if target.shape == result.shape:
        copy_(target, result)
        return
    if target.numel():
        warnings.warn(
            f"An output with one or more elements was resized since it had shape {list(target.shape)}, which does not "
            f"match the required output shape {list(result.shape)}. This behavior is deprecated, and in a future "
            "PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse an "
            "out tensor t by resizing it, inplace, to zero elements with t.resize_(0). ",
            UserWarning,
            stacklevel=callers_level(),
        )
    set_data(target, result if result.dtype is target.dtype else result.to(target.dtype))


WITH_OUT = (
    "bernoulli", "empty", "full", "ones", "zeros",
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bitwise_and", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bmm", "cholesky", "cholesky_inverse", "cholesky_solve", "dot", "ger",
    "index_copy", "inverse", "logit", "lu_solve", "matmul", "matrix_power", "mm", "mv", "mvlgamma", "narrow_copy",
    "outer", "polygamma", "qr", "svd", "tril", "triu", "where", "xlogy",
)  # fmt: skip
"""Functions of torch itself that take `out=` too: wrapped where they are offered, because methods and operators are the
plain functions.
"""
LINALG_WITH_OUT = (
    "cholesky", "cond", "cross", "det", "eigh", "eigvalsh", "householder_product", "inv", "lu_factor", "lu_solve",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve",
    "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vecdot", "vector_norm",
)  # fmt: skip
"""The functions of torch.linalg with `out`."""


def offer(scope: dict[str, Any], names: tuple[str, ...]) -> None:
    """Give the functions of a module their `out=`."""
    for name in names:
        scope[name] = takes_out(scope[name])
