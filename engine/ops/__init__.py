"""The ops, one file per kind; importing this package declares all of them."""

from . import (
    activation,
    choice,
    distance,
    elementwise,
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
    "distance",
    "elementwise",
    "indexing",
    "inplace",
    "linalg",
    "loss",
    "normalization",
    "reduction",
    "scalar",
    "shape",
]
