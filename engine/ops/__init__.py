"""The ops, one file per kind; importing this package declares all of them."""

from . import activation, choice, elementwise, indexing, inplace, linalg, normalization, reduction, scalar, shape

__all__ = [
    "activation",
    "choice",
    "elementwise",
    "indexing",
    "inplace",
    "linalg",
    "normalization",
    "reduction",
    "scalar",
    "shape",
]
