"""Where torch keeps its modules: the same rooms, and in `module` the hooks of all of them."""

from . import (
    activation,
    container,
    convolution,
    distance,
    dropout,
    image,
    linear,
    loss,
    module,
    normalization,
    padding,
    pooling,
    sparse,
)
from .module import Module

__all__ = [
    "Module",
    "activation",
    "container",
    "convolution",
    "distance",
    "dropout",
    "image",
    "linear",
    "loss",
    "module",
    "normalization",
    "padding",
    "pooling",
    "sparse",
]
