"""Where torch keeps its modules: modules under torch's names, and in `module` the global hooks."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from . import container, module, sizes, state
from .layers import (
    activation,
    adaptive,
    attention,
    convolution,
    distance,
    dropout,
    image,
    lazy,
    linear,
    loss,
    normalization,
    padding,
    pooling,
    rnn,
    sparse,
    transformer,
)
from .module import Module

__all__ = [
    "Module",
    "activation",
    "adaptive",
    "batchnorm",
    "channelshuffle",
    "container",
    "conv",
    "distance",
    "dropout",
    "flatten",
    "fold",
    "instancenorm",
    "lazy",
    "linear",
    "loss",
    "module",
    "normalization",
    "padding",
    "pixelshuffle",
    "pooling",
    "rnn",
    "sparse",
    "transformer",
    "upsampling",
    "utils",
]

__path__: list[str] = []  # a package for import statements: `from torch.nn.modules.conv import Conv2d`


def _room(name: str, *rooms: ModuleType, **more: Any) -> ModuleType:
    """A module under torch's name that has what some of our rooms have."""
    module = rooms[0]
    if len(rooms) > 1 or more or module.__name__.rpartition(".")[2] != name:
        module = ModuleType(f"{__name__}.{name}", rooms[0].__doc__)
        for room in rooms:
            vars(module).update({key: value for key, value in vars(room).items() if not key.startswith("__")})
        vars(module).update(more)
    sys.modules[f"{__name__}.{name}"] = module
    return module


activation = _room("activation", activation, MultiheadAttention=attention.MultiheadAttention)
adaptive = _room("adaptive", adaptive)
batchnorm = _room("batchnorm", normalization, lazy)
channelshuffle = _room("channelshuffle", image)
container = _room("container", container)
conv = _room("conv", convolution, lazy, _ConvNd=convolution._Conv)
distance = _room("distance", distance)
dropout = _room("dropout", dropout, _DropoutNd=dropout._Dropout)
flatten = _room("flatten", image)
fold = _room("fold", image)
instancenorm = _room("instancenorm", normalization, lazy)
lazy = _room("lazy", lazy)
linear = _room("linear", linear, lazy, NonDynamicallyQuantizableLinear=attention.NonDynamicallyQuantizableLinear)
loss = _room("loss", loss)
module = _room("module", module)
normalization = _room("normalization", normalization)
padding = _room("padding", padding)
pixelshuffle = _room("pixelshuffle", image)
pooling = _room("pooling", pooling)
rnn = _room("rnn", rnn)
sparse = _room("sparse", sparse)
transformer = _room("transformer", transformer)
upsampling = _room("upsampling", image)
utils = _room(
    "utils",
    sizes,
    consume_prefix_in_state_dict_if_present=state.without_prefix,
    _single=lambda value: sizes.each(value, 1),
    _pair=lambda value: sizes.each(value, 2),
    _triple=lambda value: sizes.each(value, 3),
    _quadruple=lambda value: sizes.each(value, 4),
)
