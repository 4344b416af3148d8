"""torch.nn: modules, parameters and containers, layers; `functional` has the functions, `init` the first values."""

from . import functional, init, modules, parameter, utils
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .linear import Bilinear, Identity, Linear
from .module import Module
from .parameter import Buffer, Parameter

__all__ = [
    "Bilinear",
    "Buffer",
    "Identity",
    "Linear",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "functional",
    "init",
    "modules",
    "parameter",
    "utils",
]
