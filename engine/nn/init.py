"""Ways to fill a parameter before training; all write in place, without gradient, and return the tensor."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from ..api.creation import counting, fills
from ..api.creation.creation import new_leaf
from ..api.random import draws
from ..arrays.array import xp
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

EMPTY = "Initializing zero-element tensors is a no-op"
LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid")
FAR = "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much an activation shrinks the standard deviation.

    Raises ValueError for another activation.  Source: torch.nn.init.calculate_gain.

    >>> calculate_gain("tanh") == 5 / 3
    True
    """
    if nonlinearity in LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


Filler = TypeVar("Filler", bound=Callable[..., Tensor])


def _quiet(function: Filler) -> Filler:
    """The function, run without gradient."""
    return no_grad()(function)


@_quiet
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Draw evenly from [a, b).

    Shapes: (*) -> (*).  Raises RuntimeError where `a` is above `b`.  Source: torch.nn.init.uniform_.

    >>> import engine as torch
    >>> (torch.nn.init.uniform_(torch.empty(9), 3, 4) >= 3).all()
    tensor(True)
    """
    tensor.uniform_(a, b, **_by_generator(generator))
    return tensor


@_quiet
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Draw from a normal distribution.

    Shapes: (*) -> (*).  Raises RuntimeError for a negative standard deviation.  Source: torch.nn.init.normal_.

    >>> import engine as torch
    >>> torch.nn.init.normal_(torch.empty(2), mean=3.0, std=0.0)
    tensor([3., 3.])
    """
    tensor.normal_(mean, std, **_by_generator(generator))
    return tensor


def _by_generator(generator: Any) -> dict[str, Any]:
    return {} if generator is None else {"generator": generator}


@_quiet
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Draw from a normal distribution, of which only [a, b] is kept: by the inverse of its distribution function.

    Shapes: (*) -> (*).  Source: torch.nn.init.trunc_normal_.

    >>> import engine as torch
    >>> (torch.nn.init.trunc_normal_(torch.empty(9)).abs() <= 2).all()
    tensor(True)
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(FAR, stacklevel=3)
    low, high = (0.5 * (1 + math.erf((end - mean) / std / math.sqrt(2.0))) for end in (a, b))
    tensor.uniform_(2 * low - 1, 2 * high - 1, **_by_generator(generator))
    tensor.erfinv_()
    tensor.mul_(std * math.sqrt(2.0)).add_(mean)
    tensor.clamp_(min=a, max=b)
    return tensor


@_quiet
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Write `val` everywhere.

    Shapes: (*) -> (*).  Source: torch.nn.init.constant_.

    >>> import engine as torch
    >>> torch.nn.init.constant_(torch.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    tensor.fill_(val)
    return tensor


def ones_(tensor: Tensor) -> Tensor:
    """Write 1 everywhere.

    Shapes: (*) -> (*).  Source: torch.nn.init.ones_.

    >>> import engine as torch
    >>> torch.nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


@_quiet
def zeros_(tensor: Tensor) -> Tensor:
    """Write 0 everywhere.

    Shapes: (*) -> (*).  Source: torch.nn.init.zeros_.

    >>> import engine as torch
    >>> torch.nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])
    """
    tensor.zero_()
    return tensor


@_quiet
def eye_(tensor: Tensor) -> Tensor:
    """Write ones on the diagonal of a matrix, zeros elsewhere.

    Shapes: (N, M) -> (N, M).  Raises ValueError for other dimensions than two.  Source: torch.nn.init.eye_.

    >>> import engine as torch
    >>> torch.nn.init.eye_(torch.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    tensor.copy_(counting.eye(*tensor.shape, dtype=tensor.dtype))
    return tensor


@_quiet
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Weights of a convolution that passes on unchanged as many channels as its input and output have in common.

    Shapes: (N, C, *) -> (N, C, *), three to five dimensions.  Raises ValueError for other dimensions, or groups that do
    not divide N.  Source: torch.nn.init.dirac_.

    >>> import engine as torch
    >>> torch.nn.init.dirac_(torch.empty(2, 2, 1)).squeeze()
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.shape
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    values = xp.zeros(tuple(sizes), dtype=tensor._array.dtype)
    per_group = sizes[0] // groups
    same = xp.arange(min(per_group, sizes[1]))
    centre = tuple(n // 2 for n in sizes[2:])
    for group in range(groups):
        values[(group * per_group + same, same, *centre)] = 1
    tensor.copy_(new_leaf(values, "dirac"))
    return tensor


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output has, and how many outputs an input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


_calculate_fan_in_and_fan_out = _fans


def _fan(tensor: Tensor, mode: str) -> int:
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return _fans(tensor)[modes.index(mode.lower())]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Draw evenly, with the standard deviation gain * sqrt(2 / (fan_in + fan_out)).

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError for fewer than two dimensions.
    Source: torch.nn.init.xavier_uniform_; Glorot and Bengio, 2010.

    >>> import engine as torch
    >>> (torch.nn.init.xavier_uniform_(torch.empty(2, 4)).abs() <= 1).all()
    tensor(True)
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(sum(_fans(tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Draw from a normal distribution of the standard deviation gain * sqrt(2 / (fan_in + fan_out)).

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError for fewer than two dimensions.
    Source: torch.nn.init.xavier_normal_; Glorot and Bengio, 2010.

    >>> import engine as torch
    >>> torch.nn.init.xavier_normal_(torch.empty(3, 4)).shape
    torch.Size([3, 4])
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_fans(tensor)))), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Draw evenly, with the standard deviation gain / sqrt(fan).

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError for fewer than two dimensions, or another mode.
    Source: torch.nn.init.kaiming_uniform_; He et al., 2015.

    >>> import engine as torch
    >>> (torch.nn.init.kaiming_uniform_(torch.empty(3, 4)).abs() <= (6 / 4) ** 0.5).all()
    tensor(True)
    """
    if 0 in tensor.shape:
        warnings.warn(EMPTY, stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Draw from a normal distribution of the standard deviation gain / sqrt(fan).

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError for fewer than two dimensions, or another mode.
    Source: torch.nn.init.kaiming_normal_; He et al., 2015.

    >>> import engine as torch
    >>> torch.nn.init.kaiming_normal_(torch.empty(3, 4)).shape
    torch.Size([3, 4])
    """
    if 0 in tensor.shape:
        warnings.warn(EMPTY, stacklevel=2)
        return tensor
    return normal_(tensor, 0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


@_quiet
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Rows (or columns, where there are more rows) that are orthogonal and of length `gain`, evenly distributed.

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError for fewer than two dimensions.
    Source: torch.nn.init.orthogonal_; Saxe et al., 2013.

    >>> import engine as torch
    >>> w = torch.nn.init.orthogonal_(torch.empty(2, 2))
    >>> torch.allclose(w @ w.T, torch.eye(2), atol=1e-6)
    True
    """
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    normal = fills.empty(rows, columns, dtype=tensor.dtype).normal_(0, 1, **_by_generator(generator))._array
    q, r = xp.linalg.qr(normal.T if rows < columns else normal)
    q = q * xp.sign(xp.diagonal(r))
    values = (q.T if rows < columns else q).reshape(tuple(tensor.shape)) * gain
    tensor.copy_(new_leaf(values.astype(tensor._array.dtype), "orthogonal"))
    return tensor


@_quiet
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Draw from a normal distribution, and write zeros into the part `sparsity` of each column.

    Shapes: (N, M) -> (N, M).  Raises ValueError for other dimensions than two.  Source: torch.nn.init.sparse_; Martens,
    2010.

    >>> import engine as torch
    >>> (torch.nn.init.sparse_(torch.empty(4, 2), 0.5) == 0).sum(0)
    tensor([2, 2])
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, **_by_generator(generator))
    values = tensor._array.copy()
    for column in range(columns):
        values[draws.randperm(rows)._array[:zeros], column] = 0
    tensor.copy_(new_leaf(values, "sparse"))
    return tensor


def _old(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The name without the underscore, which torch has given up."""
    new = function.__name__

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{new[:-1]}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    called.__name__ = new[:-1]
    return called


uniform = _old(uniform_)
normal = _old(normal_)
constant = _old(constant_)
eye = _old(eye_)
dirac = _old(dirac_)
xavier_uniform = _old(xavier_uniform_)
xavier_normal = _old(xavier_normal_)
kaiming_uniform = _old(kaiming_uniform_)
kaiming_normal = _old(kaiming_normal_)
orthogonal = _old(orthogonal_)
sparse = _old(sparse_)
