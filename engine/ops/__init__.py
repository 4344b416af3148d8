"""The ops, one file per kind; importing this package declares all of them."""

from . import elementwise, inplace, reduction, shape

__all__ = ["elementwise", "inplace", "reduction", "shape"]
