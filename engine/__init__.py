"""An autograd engine with PyTorch's names and `backward()` semantics."""

from . import autograd, ops
from .tensor import Tensor

__all__ = ["Tensor", "autograd", "ops"]
