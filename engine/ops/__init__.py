"""The ops, one file per kind; importing this package declares all of them."""

from . import (
    activation,
    choice,
    convolution,
    distance,
    elementwise,
    image,
    indexing,
    inplace,
    linalg,
    loss,
    normalization,
    reduction,
    scalar,
    shape,
)

__all__ = [
    "activation",
    "choice",
    "convolution",
    "distance",
    "elementwise",
    "image",
    "indexing",
    "inplace",
    "linalg",
    "loss",
    "normalization",
    "reduction",
    "scalar",
    "shape",
]
