"""Dropout in all its forms.  What is drawn is a leaf of its own: a recording keeps it, a replay uses it again.

Source: torch.nn.functional.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...api.calls.check import kind, need_tensor
from ...api.creation.creation import new_leaf
from ...api.random.random import generator
from ...arrays import errors
from ...arrays.array import xp
from ...arrays.session import callers_level
from ...ops import elementwise as eo
from ...ops import shape as so
from ...tensor.inplace import apply_inplace
from ...tensor.tensor import Tensor

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]

SELU_FLOOR = 1.7580993408473766
"""Minus the value that selu tends to on the left: what alpha_dropout writes where it drops."""


def _check(p: float) -> None:
    if p < 0 or p > 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _mask(input: Tensor, p: float, by_channel: bool) -> Any:
    """Where elements (or whole channels) are kept, each with probability 1 - p."""
    data = input._array
    if data.dtype.kind != "f":
        raise errors.runtime(f"result type Float can't be cast to the desired output type {kind(input)}")
    shape = data.shape
    if by_channel:
        if len(shape) < 2:
            raise errors.runtime("Feature dropout requires at least 2 dimensions in the input")
        shape = (*shape[:2], *(1 for _ in shape[2:]))
    return xp.asarray(generator().random(shape, dtype="float32") >= p, like=data)


def _run(op: Any, inplace: bool, *args: Any) -> Tensor:
    return apply_inplace(op.op, args, {}) if inplace else op(*args)


def _dropped(input: Tensor, p: float, training: bool, inplace: bool, by_channel: bool = False) -> Tensor:
    """Elements kept with probability 1 - p, and made larger by as much as is lost."""
    need_tensor(input, "dropout")
    if p == 0 or not training or not input._array.size:
        return input
    scale = input._array.dtype.type(0 if p == 1 else 1 / (1 - p))
    return _run(eo.mul, inplace, input, new_leaf(_mask(input, p, by_channel) * scale, "random"))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """0 with probability p, else x / (1 - p); x itself if not `training`.

    Shapes: (*) -> (*).  Raises ValueError where p is no probability.  Source: torch.nn.functional.dropout; Hinton et
    al., 2012.

    >>> import engine as torch
    >>> torch.nn.functional.dropout(torch.ones(3), p=0.0)
    tensor([1., 1., 1.])
    """
    _check(p)
    return _dropped(input, p, training, inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, L) or (C, L) dropped.

    Shapes: ([N,] C, L) -> ([N,] C, L).  Raises ValueError where p is no probability, RuntimeError for an input of other
    dimensions.  Source: torch.nn.functional.dropout1d; Tompson et al., 2014.

    >>> import engine as torch
    >>> torch.nn.functional.dropout1d(torch.ones(1, 2, 2), 1.0).sum()
    tensor(0.)
    """
    _check(p)
    rank = input.dim()
    if rank not in (2, 3):
        raise errors.runtime(
            f"dropout1d: Expected 2D or 3D input, but received a {rank}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension (i.e. 2D or 3D inputs)."
        )
    return _batched(input, p, training, inplace, rank == 3)


def _batched(input: Tensor, p: float, training: bool, inplace: bool, has_batch: bool) -> Tensor:
    """Channels dropped, of a batch or of one sample alone."""
    if has_batch:
        return _dropped(input, p, training, inplace, True)
    return so.squeeze_dim(_dropped(so.unsqueeze(input, 0), p, training, inplace, True), 0)


DEPRECATED = (
    "dropout{n}d: Received a {rank}-D input to dropout{n}d, which is deprecated and will result in an error in a "
    "future release. To retain the behavior and silence this warning, please use dropout instead. Note that "
    "dropout{n}d exists to provide channel-wise dropout on inputs with {n} spatial dimensions, a channel dimension, "
    "and an optional batch dimension (i.e. {low}D or {high}D inputs)."
)
ASSUMED = (
    "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input "
    "is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to "
    "interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
    "dropout behavior, please switch to using dropout1d instead."
)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, H, W) dropped.

    Shapes: (N, C, H, W) -> (N, C, H, W).  Raises ValueError where p is no probability.
    Source: torch.nn.functional.dropout2d; Tompson et al., 2014.

    >>> import engine as torch
    >>> torch.nn.functional.dropout2d(torch.ones(1, 2, 3, 3), training=False).shape
    torch.Size([1, 2, 3, 3])
    """
    _check(p)
    rank = input.dim()
    if rank not in (3, 4):
        warnings.warn(DEPRECATED.format(n=2, rank=rank, low=3, high=4), UserWarning, stacklevel=callers_level())
    if rank == 3:
        warnings.warn(ASSUMED, UserWarning, stacklevel=callers_level())
    return _dropped(input, p, training, inplace, True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) dropped.

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D, H, W).  Raises ValueError where p is no probability.
    Source: torch.nn.functional.dropout3d; Tompson et al., 2014.

    >>> import engine as torch
    >>> torch.nn.functional.dropout3d(torch.ones(1, 2, 2, 2, 2), 1.0).sum()
    tensor(0.)
    """
    _check(p)
    rank = input.dim()
    if rank not in (4, 5):
        warnings.warn(DEPRECATED.format(n=3, rank=rank, low=4, high=5), UserWarning, stacklevel=callers_level())
    return _batched(input, p, training, inplace, rank == 5)


def _alpha(input: Tensor, p: float, training: bool, inplace: bool, by_channel: bool) -> Tensor:
    need_tensor(input, "alpha_dropout")
    if p == 0 or not training or not input._array.size:
        return input
    if p == 1:
        return _dropped(input, p, training, inplace)
    dtype = input._array.dtype.type
    steep = 1 / math.sqrt((SELU_FLOOR * SELU_FLOOR * p + 1) * (1 - p))
    mask = _mask(input, p, by_channel)
    shift = (mask.astype(dtype) - 1) * dtype(SELU_FLOOR * steep) + dtype(SELU_FLOOR * steep * p)
    scaled = _run(eo.mul, inplace, input, new_leaf(mask * dtype(steep), "random"))
    return _run(eo.add, inplace, scaled, new_leaf(shift, "random"))


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps the mean and variance of SELU outputs.

    Shapes: (*) -> (*).  Raises ValueError where p is no probability.  Source: torch.nn.functional.alpha_dropout;
    Klambauer et al., 2017.

    >>> import engine as torch
    >>> torch.nn.functional.alpha_dropout(torch.ones(2), training=False)
    tensor([1., 1.])
    """
    _check(p)
    return _alpha(input, p, training, inplace, False)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels.

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError where p is no probability.
    Source: torch.nn.functional.feature_alpha_dropout; Klambauer et al., 2017.

    >>> import engine as torch
    >>> torch.nn.functional.feature_alpha_dropout(torch.ones(1, 2), training=False)
    tensor([[1., 1.]])
    """
    _check(p)
    return _alpha(input, p, training, inplace, True)
