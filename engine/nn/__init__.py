"""Neural networks in torch's spelling."""

from . import functional

__all__ = ["functional"]
