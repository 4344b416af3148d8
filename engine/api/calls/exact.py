"""Functions that write an `out=` of the result's own dtype only, while others write any dtype that can hold the result.

Each with torch's message: `{have}` is the dtype of `out`, `{want}` the result's; `{have_c}` and `{want_c}` in C++.
"""

from __future__ import annotations

from ...arrays import errors
from ...tensor.tensor import Tensor
from .check import kind

_C_WORDS = "Expected out tensor to have dtype {want_c}, but got {have_c} instead"
_FOUND = "Found dtype {have} but expected {want}"
_BOOL = "{name} only supports bool tensor for result, got: {have}"
_SIGN = "{name} does not support non-boolean outputs."
_TENSORDOT = "tensordot: Expected the output tensor to have dtype {want}, but got an output tensor with dtype {have}"
_SCALAR = "expected scalar_type {want} but found {have}"
_QUANTILE = "quantile() out tensor must be same dtype as the input tensor"
_MATCH = "Expected the dtype for input and out to match, but got {want} for input's dtype and {have} for out's dtype."

NAMES = {
    _C_WORDS: (
        "argmax", "argmin", "cholesky", "det", "diag", "eigvalsh", "gather", "inv", "inverse", "isin",
        "kthvalue", "log_softmax", "masked_select", "matmul", "matrix_norm", "mm", "msort", "norm", "softmax", "solve",
        "svdvals", "take", "tril", "triu", "vector_norm",
    ),
    _FOUND: (
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
MESSAGES = {function: message for message, functions in NAMES.items() for function in functions}
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
