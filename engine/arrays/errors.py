"""Exceptions in torch's words, with a second part of our own.

`str(error)` is torch's message, word for word; what we add (the op, the shapes, the user's line, the way on) is a note
in the sense of PEP 678, so that Python prints it under the message and no parser of messages is disturbed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from traceback import walk_tb
from typing import Any

from .session import is_users, slot, users_line

C_NAMES = {
    "float16": "c10::Half", "float32": "float", "float64": "double", "uint8": "unsigned char", "int8": "signed char",
    "int16": "short int", "int32": "int", "int64": "long int", "bool": "bool",
}  # fmt: skip
"""Torch's names of the dtypes in messages from C++."""


@dataclass(slots=True)
class Place:
    """Where in the graph an error arose: the node that ran and the tensors that it is about."""

    node: object = None
    tensors: tuple[object, ...] = field(default=())


def explained(
    error: BaseException, note: str = "", *, node: object = None, tensors: tuple[object, ...] = ()
) -> BaseException:
    """Return `error` with our note and its place in the graph.

    The note ends with the user's line; a recording knows it better (columns, and the line of the forward op too).
    """
    line = users_line() if slot.active is None else None
    if note:
        error.add_note(note)
    if line is not None:
        error.add_note(f"Backstep: in {line}")
    error.place = Place(node, tensors)  # type: ignore[attr-defined]  # where it happened goes with it
    return error


def note_node(error: BaseException, node: object) -> None:
    """Note the node at which an error arose, where the error does not know it."""
    if getattr(error, "place", None) is None:
        error.place = Place(node)  # type: ignore[attr-defined]


def runtime(message: str, note: str = "", *, node: object = None, tensors: tuple[object, ...] = ()) -> RuntimeError:
    """A RuntimeError with torch's `message` and our `note`."""
    error = RuntimeError(message)
    explained(error, note, node=node, tensors=tensors)
    return error


class LinAlgError(RuntimeError):
    """A matrix that cannot be decomposed or inverted: torch.linalg.LinAlgError.

    Source: torch.linalg.LinAlgError.

    >>> import engine as torch
    >>> try:
    ...     torch.linalg.inv(torch.zeros(2, 2))
    ... except torch.linalg.LinAlgError as error:
    ...     print(str(error).partition(":")[0])
    linalg.inv
    """


class OutOfScope(NotImplementedError):
    """Something that torch has and Backstep leaves out on purpose (complex and sparse tensors, other devices)."""


SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floor_divide": "//", "remainder": "%", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "pow.Tensor_Tensor": "** or "
    "pow()",
}  # fmt: skip
"""The operator behind an op, for Python's own sentence about operands that do not fit."""

_REFUSED = {
    "numpy boolean subtract": (
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
        "operator instead."
    ),
    "boolean subtract of another dtype": (
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
        "the `~` or `logical_not()` operator instead."
    ),
    "numpy boolean negative": (
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
        "`~` or `logical_not()` operator instead."
    ),
    "Integers to negative": "Integers to negative integer powers are not allowed.",
    "read-only": (
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation."
    ),
}


def from_kernel(name: str, shapes: list[Any], error: Exception, note: str) -> BaseException:
    """numpy's complaint about the arguments of op `name` in torch's words.

    `shapes` has the shape of each array among the arguments, and other arguments as they are.
    """
    if isinstance(error, AttributeError):
        stranger = next((s for s in shapes if not isinstance(s, (tuple, bool, int, float))), None)
        return explained(strange_operand(name, stranger), note)
    for words, message in _REFUSED.items():
        if words in str(error):
            return runtime(message, note)
    if ".at only supports" in str(error):  # cupy adds, and takes the largest, in place for wide types alone
        return explained(OutOfScope(f"{name}() of this dtype is left out on a GPU: {error}"), note)
    sizes = [s for s in shapes if isinstance(s, tuple)]
    if "broadcast" in str(error) and len(sizes) >= 2:
        for mismatch in (_mismatch(a, b) for i, a in enumerate(sizes) for b in sizes[i + 1 :]):
            if mismatch is not None:
                return runtime(mismatch, note)
    return explained(error, note)


_SHAPES = re.compile(r"\((\d[\d,]*)?\)")
_CHANGED = (
    "Backstep: a saved tensor has changed its shape since the forward pass: `.data` was set to a tensor of another "
    "shape."
)


def of_shapes(error: ValueError) -> BaseException:
    """numpy's complaint about the shapes of saved values, which `.data` can have changed, in torch's words.

    What code of the user's raised, a hook or a Function, stays as it is.
    """
    own = any(is_users(frame.f_code.co_filename) for frame, _ in walk_tb(error.__traceback__))
    if own or not str(error).startswith(("operands could not be broadcast", "shapes (")):
        return error
    shapes = [tuple(int(n) for n in text.split(",") if n) for text in _SHAPES.findall(str(error))]
    if "not aligned" in str(error):
        sizes = " and ".join("x".join(map(str, shape)) for shape in shapes[:2])
        return runtime(f"mat1 and mat2 shapes cannot be multiplied ({sizes})", _CHANGED)
    return from_kernel("backward", list(shapes), error, _CHANGED)


def strange_operand(name: str, stranger: object) -> TypeError | OutOfScope:
    """Python's error for an operand that is neither a tensor nor a number."""
    kind = type(stranger).__name__
    if isinstance(stranger, complex):
        return OutOfScope("complex numbers are out of scope in Backstep")
    if name == "mul" and isinstance(stranger, (list, tuple)):  # Python would repeat it
        return TypeError("only integer tensors of a single element can be converted to an index")
    if name in ("lt", "le", "gt", "ge"):
        return TypeError(f"'{SYMBOLS[name]}' not supported between instances of 'Tensor' and '{kind}'")
    if name in SYMBOLS:
        return TypeError(f"unsupported operand type(s) for {SYMBOLS[name]}: 'Tensor' and '{kind}'")
    return TypeError(f"{name}(): argument must be Tensor, not {kind}")


def _mismatch(a: tuple[int, ...], b: tuple[int, ...]) -> str | None:
    """torch's sentence for the last dimension in which two shapes do not broadcast."""
    for back in range(1, 1 + min(len(a), len(b))):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return (
                f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at non-singleton "
                f"dimension {max(len(a), len(b)) - back}"
            )
    return None
