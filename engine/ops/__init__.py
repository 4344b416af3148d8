"""The ops, one file per kind; importing this package declares all of them."""

from . import choice, elementwise, indexing, inplace, linalg, reduction, shape

__all__ = ["choice", "elementwise", "indexing", "inplace", "linalg", "reduction", "shape"]
