"""Functions of torch that Backstep leaves out on purpose: calling one raises an error that says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...arrays import errors
from ...arrays.array import dtype

__all__ = ["complex", "polar", "view_as_complex", "view_as_real"]


def _absent(name: str, what: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise errors.OutOfScope(f"{name}(): {what} are out of scope in Backstep")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raises OutOfScope: {what} are left out.  Source: torch.{name}."
    return function


COMPLEX, SPARSE, QUANTIZED, SMALL = "complex tensors", "sparse tensors", "quantised tensors", "bfloat16 tensors"

complex = _absent("complex", COMPLEX)
polar = _absent("polar", COMPLEX)
view_as_complex = _absent("view_as_complex", COMPLEX)
view_as_real = _absent("view_as_real", COMPLEX)
cfloat, cdouble, chalf = _absent("cfloat", COMPLEX), _absent("cdouble", COMPLEX), _absent("chalf", COMPLEX)
to_sparse, to_sparse_csr = _absent("to_sparse", SPARSE), _absent("to_sparse_csr", SPARSE)
coalesce = _absent("coalesce", SPARSE)
dequantize, int_repr = _absent("dequantize", QUANTIZED), _absent("int_repr", QUANTIZED)
bfloat16 = _absent("bfloat16", SMALL)


class UnsupportedDtype(dtype):
    """Raises OutOfScope if a tensor would have it: a script may only name this dtype."""

    __slots__ = ("is_complex", "what")

    def __init__(self, name: str, itemsize: int, what: str) -> None:
        self.name, self.itemsize, self.legacy, self.what = name, itemsize, "", what
        self.is_signed, self.is_complex = True, what == COMPLEX
        self.is_floating_point = not self.is_complex

    @property
    def numpy(self) -> Any:  # type: ignore[override]
        """Never: numpy has no such numbers."""
        raise errors.OutOfScope(f"torch.{self.name}: {self.what} are out of scope in Backstep; use torch.float32")


bfloat16_dtype = UnsupportedDtype("bfloat16", 2, SMALL)
complex64_dtype = UnsupportedDtype("complex64", 8, COMPLEX)
complex128_dtype = UnsupportedDtype("complex128", 16, COMPLEX)

METHODS = (
    "cfloat", "cdouble", "chalf", "to_sparse", "to_sparse_csr", "coalesce", "dequantize", "int_repr", "bfloat16",
)  # fmt: skip
"""Methods of Tensor."""
