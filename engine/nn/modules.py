"""Where torch keeps its modules: the same rooms, and in `module` the hooks of all of them."""

from . import (
    activation,
    attention,
    cells,
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
    recurrent,
    sparse,
    transformer,
)
from .module import Module

__all__ = [
    "Module",
    "activation",
    "attention",
    "cells",
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
    "recurrent",
    "sparse",
    "transformer",
]
