"""Where torch keeps its modules; `modules.module` has the hooks of all of them."""

from . import container, linear, module
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .linear import Bilinear, Identity, Linear
from .module import Module

__all__ = [
    "Bilinear",
    "Identity",
    "Linear",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "container",
    "linear",
    "module",
]
