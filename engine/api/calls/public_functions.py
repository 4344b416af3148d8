"""The public functions: each checks its arguments against torch's signatures first.

Rules, modules and other functions call them as they are written, without that look.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...arrays.errors import explained
from ...tensor.tensor import Tensor
from . import signatures
from .signature import SOME, PythonReader, Reader, strange_element, table

IN_PYTHON = frozenset({"backward", "lu", "norm", "split", "unflatten", "unique", "unique_consecutive"})
"""Methods that torch has written in Python: it is Python that reads their arguments."""
TORCH = table(signatures.TORCH)
PLACES = {"linalg": "linalg_", "special": "special_", "nn.functional": ""}
JOINT = (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod", "chain_matmul",
    "meshgrid",
)  # fmt: skip
DISPATCHED = (
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
    "threshold",
)  # fmt: skip
"""Functions that Python names otherwise in torch when it refuses their arguments."""
NAMES = {"logsigmoid": "log_sigmoid"}
"""Torch's name of a function in its messages, if it differs from the function's own."""


def offer(scope: dict[str, Any], place: str = "") -> None:
    """Put the functions of a module behind the look at their arguments."""
    tables = {"": signatures.TORCH, "linalg": signatures.LINALG, "special": signatures.SPECIAL}
    for name, signature in table(tables.get(place, signatures.FUNCTIONAL)).items():
        if name in scope:
            reader = Reader(PLACES.get(place, "") + NAMES.get(name, name), signature)
            scope[name] = reads(scope[name], reader)


def offer_handed(scope: dict[str, Any]) -> None:
    """The same for the functions of torch.nn.functional that torch has in Python."""
    for name, signature in table(signatures.HANDED).items():
        scope[name] = reads(scope[name], PythonReader(scope[name], signature), False)
    for name in DISPATCHED:
        getattr(scope[name], "__wrapped__", scope[name]).__qualname__ = f"_{name}"


def offer_joint(scope: dict[str, Any]) -> None:
    """The same for the functions that take any number of tensors."""
    for name in JOINT:
        scope[name] = _joint(scope[name])


def _joint(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except MISTAKES:
            tensors = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
            for at, item in enumerate(tensors):
                if not isinstance(item, Tensor):
                    raise explained(strange_element(at, 0, item)) from None
            raise

    return call


def offer_methods(cls: type[Tensor]) -> None:
    """The same for the methods of Tensor."""
    own = table(signatures.METHODS)
    for name, function in list(vars(cls).items()):
        signature = own.get(name) or without_input(TORCH.get(name) or TORCH.get(name.rstrip("_")) or "")
        if signature and callable(function) and not name.startswith("_") and name not in IN_PYTHON:
            setattr(cls, name, reads(function, Reader(name, signature, True), True))
    for name in IN_PYTHON:
        getattr(cls, name).__qualname__ = f"Tensor.{name}"


def without_input(signature: str) -> str:
    """The signature of a method, made of the function's: without `input`, which is the tensor, and without `out`."""
    forms: list[str] = []
    for form in signature.split(" | "):
        hidden, words = form.startswith("~"), form.lstrip("~").split()
        if "input:T" in words:
            left = [word for word in words if word != "input:T" and not word.startswith("out:")]
            text = "~" * hidden + (" ".join(left[:-1] if left[-1:] == ["*"] else left) or "()")
            forms += [text] if text not in forms else []
    return " | ".join(forms)


def reads(function: Callable[..., Any], reader: Reader | PythonReader, method: bool = False) -> Callable[..., Any]:
    """The function behind a look at its arguments.

    Types that fit whatever the values are not looked at again; a lone argument, and what no function takes for anything
    else, are looked at only where the function fails.
    """
    types_that_fit: set[tuple[Any, ...]] = set()

    def failed(error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own, others = (args[:1], args[1:]) if method else ((), args)
        refusal = reader.refusal(others, kwargs)
        if refusal is not None:
            raise explained(refusal) from None
        older = reader.older(others, kwargs)
        if older is None:
            raise error
        return function(*own, **older)

    always = reader.least > 1 - method or reader.name in GENEROUS
    if not (reader.early or always):

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                kwargs = reader.spelled(kwargs)
            try:
                return function(*args, **kwargs)
            except MISTAKES as error:
                return failed(error, args, kwargs)

        return call

    @functools.wraps(function)
    def call_known(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = reader.spelled(kwargs)
        if always or kwargs or len(args) > 1:
            key = (*map(type, args), *kwargs, *map(type, kwargs.values())) if kwargs else (*map(type, args),)
            if key not in types_that_fit:
                others = args[1:] if method else args
                refusal = reader.refusal(others, kwargs)
                if refusal is not None:
                    raise explained(refusal)
                if _fits_by_types(reader, others, kwargs):
                    types_that_fit.add(key)
                elif isinstance(reader, Reader) and SOME_TENSOR.intersection(key):
                    others, kwargs = reader.as_ints(others, kwargs)
                    args = (*args[:1], *others) if method else others
        try:
            return function(*args, **kwargs)
        except MISTAKES as error:
            return failed(error, args, kwargs)

    return call_known


def _fits_by_types(reader: Reader | PythonReader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether every call with arguments of these types fits as this one does.

    A list tells of its elements nothing by its type, nor does a class; a tensor may have been taken for a number, which
    another one is not.
    """
    if any(isinstance(value, UNSURE) for value in (*args, *kwargs.values())):
        return False
    others = [SOME if isinstance(value, Tensor) else value for value in args]
    named = {key: SOME if isinstance(value, Tensor) else value for key, value in kwargs.items()}
    return reader.refusal(tuple(others), named) is None


GENEROUS = frozenset({
    "adaptive_avg_pool1d", "addcdiv", "addcmul", "arange", "arctan2_", "atan2_", "celu", "clamp_", "clip_",
    "constant_pad_nd", "copy_", "elu_", "eq_", "fill", "fill_", "flip", "hypot_", "igamma_", "igammac_", "is_neg",
    "ldexp_", "ne_", "nextafter_", "not_equal_", "range", "resolve_conj", "resolve_neg", "roll", "scalar_tensor",
    "selu", "set_", "softplus", "threshold", "threshold_", "tile", "where",
})  # fmt: skip
"""Functions that would take more than torch's do."""
MISTAKES = (TypeError, AttributeError, ValueError, RuntimeError)
SOME_TENSOR = frozenset({Tensor})
UNSURE = (list, tuple, type)
"""Types that tell too little of a value."""
