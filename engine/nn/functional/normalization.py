"""Normalisations.  Source: torch.nn.functional."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...api.calls.check import kind, need_tensor
from ...api.inplace import inplace as ip
from ...api.math import arithmetic as am
from ...api.math import choice as cc
from ...api.math import elementwise as el
from ...api.reduce import reduction as rd
from ...api.shape.arrange import repeat
from ...api.shape.shape import expand_as, reshape
from ...arrays import errors
from ...arrays.array import xp
from ...ops import elementwise as eo
from ...ops import normalization as no
from ...ops import scalar as sc
from ...ops import shape as so
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor
from .averaging import avg_pool2d, avg_pool3d
from .padding import pad

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]


def _normalized_shape(function: str, input: Tensor, sizes: Any, star: str) -> tuple[int, ...]:
    """`normalized_shape`, checked against the last dimensions of `input`."""
    need_tensor(input, function)
    if not isinstance(sizes, Sequence):
        raise TypeError(
            f"{function}(): argument 'normalized_shape' (position 2) must be tuple of ints, not {type(sizes).__name__}"
        )
    inner = tuple(int(n) for n in sizes)
    if not inner:
        raise errors.runtime(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    shape = input._array.shape
    if len(shape) < len(inner) or shape[len(shape) - len(inner) :] != inner:
        raise errors.runtime(
            f"Given normalized_shape={list(inner)}, expected input with shape [*{star}{', '.join(map(str, inner))}], "
            f"but got input of size{list(shape)}"
        )
    return inner


def _same_shape(name: str, tensor: Tensor | None, shape: tuple[int, ...]) -> None:
    if tensor is not None and tensor._array.shape != shape:
        raise errors.runtime(
            f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
            f"{list(tensor._array.shape)} and normalized_shape = {list(shape)}"
        )


def _same_dtype(input: Tensor, *others: Tensor | None) -> None:
    """Raise torch's error where parameters are neither of the input's dtype nor, beside float16, float32."""
    for other in others:
        if other is None or other._array.dtype == input._array.dtype:
            continue
        if other._array.dtype != "float32":
            raise errors.runtime("mixed dtype (CPU): expect parameter to have scalar type of Float")
        if input._array.dtype != "float16":
            raise errors.runtime("mixed dtype (CPU): all inputs must share same datatype.")


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """(x - mean) / sqrt(variance + eps) over the last dimensions, times `weight` plus `bias` of their shape.

    Shapes: (*, *normalized_shape), (*normalized_shape), (*normalized_shape) -> (*, *normalized_shape).  Raises
    RuntimeError for other last dimensions.  Source: torch.nn.functional.layer_norm; Ba et al., 2016.

    >>> import engine as torch
    >>> torch.nn.functional.layer_norm(torch.tensor([1.0, 3.0]), (2,), eps=0.0)
    tensor([-1.,  1.])
    """
    if isinstance(input, Tensor) and input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"LayerNormKernelImpl\" not implemented for '{kind(input)}'")
    shape = _normalized_shape("layer_norm", input, normalized_shape, ", ")
    _same_shape("weight", weight, shape)
    _same_shape("bias", bias, shape)
    _same_dtype(input, weight, bias)
    return no.layer_norm(input, weight, bias, shape, eps)[0]


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / sqrt(mean(x²) + eps) over the last dimensions, times `weight`; `eps` is that of the dtype if not given.

    Shapes: (*, *normalized_shape), (*normalized_shape) -> (*, *normalized_shape).  Raises RuntimeError for other last
    dimensions.  Source: torch.nn.functional.rms_norm; Zhang and Sennrich, 2019.

    >>> import engine as torch
    >>> torch.nn.functional.rms_norm(torch.tensor([3.0, 3.0]), (2,))
    tensor([1., 1.])
    """
    shape = _normalized_shape("rms_norm", input, normalized_shape, "")
    _same_shape("weight", weight, shape)
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{kind(input)}'")
    wide = _wide(input)
    if eps is None:
        eps = float(xp.finfo(wide._array.dtype).eps)
    rank = input._array.ndim
    level = rd.mean(am.pow(wide, 2), tuple(range(rank - len(shape), rank)), keepdim=True)
    result: Any = eo.mul(wide, eo.rsqrt(sc.add_number(level, eps)))
    if weight is not None:
        result = eo.mul(result, weight)
    return result if result._array.dtype == input._array.dtype else result.to(input.dtype)


def _wide(input: Tensor) -> Any:
    """The tensor in at least float32, in which statistics are taken."""
    return input.float() if input._array.dtype == "float16" else input


# -- by channel ---------------------------------------------------------------------------------------------------


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Each group of channels of each sample normalised by itself; `weight` and `bias` have one number per channel.

    Shapes: (N, C, *), (C), (C) -> (N, C, *).  Raises RuntimeError where `num_groups` does not divide C, or `weight` is
    not (C).  Source: torch.nn.functional.group_norm; Wu and He, 2018.

    >>> import engine as torch
    >>> torch.nn.functional.group_norm(torch.ones(2, 4, 3), 2).shape
    torch.Size([2, 4, 3])
    """
    need_tensor(input, "group_norm")
    shape = input._array.shape
    if len(shape) < 2:
        raise errors.runtime(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    n, c = shape[:2]
    if shape[0] * shape[1] // num_groups * math.prod(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(shape)}")
    if c % num_groups:
        raise errors.runtime(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tensor._array.shape != (c,):
            raise errors.runtime(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(tensor._array.shape)} and input of shape {list(shape)}"
            )
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"GroupNormKernelImpl\" not implemented for '{kind(input)}'")
    _same_dtype(input, weight, bias)
    result = no.group_norm(input, weight, bias, n, c, math.prod(shape[2:]), num_groups, eps)
    return result[0]


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel (dimension 1) normalised over all samples and positions.

    With `training` by the statistics of this batch, of which the running ones take the part `momentum`; else by the
    running ones.

    Shapes: (N, C, *), (C), (C), (C), (C) -> (N, C, *).  Raises ValueError in training for one value per channel,
    RuntimeError where the statistics are not (C).  Source: torch.nn.functional.batch_norm; Ioffe and Szegedy, 2015.

    >>> import engine as torch
    >>> x = torch.tensor([[1.0], [3.0]])
    >>> torch.nn.functional.batch_norm(x, None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    need_tensor(input, "batch_norm")
    shape = input._array.shape
    if training and len(shape) > 1 and math.prod(shape) == shape[1]:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size torch.Size({list(shape)})"
        )
    if eps <= 0 and (training or eps):
        least = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {least}, but got {eps}")
    return _normalised(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _normalised(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None, bias: Tensor | None,
    training: bool, momentum: float, eps: float,
) -> Tensor:  # fmt: skip
    """batch_norm of arguments of which the first look has been taken: instance_norm has another."""
    _check_batch_norm(input, running_mean, running_var, weight, bias, training)
    if not input._array.size:
        return _of_nothing(input, weight, bias)
    if not training:
        return no.batch_norm(input, weight, bias, running_mean, running_var, False, eps)[0]
    result, mean, rstd = no.batch_norm(input, weight, bias, None, None, True, eps)
    if running_mean is not None and running_var is not None:
        _move_statistics(input, running_mean, running_var, mean, rstd, momentum, eps)
    return result


def _of_nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Normalize a batch without elements: torch keeps the graph's edges and changes no statistics."""
    result: Any = el.clone(input)
    if weight is not None:
        result = eo.mul(result, so.select(weight, 0, 0))
    return result if bias is None else eo.add(result, so.select(bias, 0, 0))


def _move_statistics(
    input: Tensor, running_mean: Tensor, running_var: Tensor, mean: Any, rstd: Any, momentum: float, eps: float
) -> None:
    """Take the part `momentum` of this batch's mean and unbiased variance into the running ones.

    As in torch no version counts it: what an earlier call in evaluation saved of them may be used all the same.
    """
    size = input._array.size // input._array.shape[1]
    with no_grad():
        variance = eo.sub(am.pow(rstd, -2), eps) * (size / (size - 1))
        for running, statistic in ((running_mean, mean), (running_var, variance)):
            ip.add_(ip.get_data(running).mul_(1 - momentum), statistic, alpha=momentum)


def _check_batch_norm(
    input: Tensor, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool
) -> None:
    if training and (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    shape = input._array.shape
    channels = shape[1] if len(shape) > 1 else 0
    named = (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias))
    for name, tensor in named:
        if tensor is None:
            if not training and name.startswith("running"):
                raise errors.runtime(f"{name} must be defined in evaluation mode")
        elif tensor._array.size != channels:
            raise errors.runtime(f"{name} should contain {channels} elements not {tensor._array.size}")
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"batch_norm\" not implemented for '{kind(input)}'")
    _same_dtype(input, *(tensor for _, tensor in named))


def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
    bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel of each sample normalised by itself: batch_norm of the samples as channels.

    With `use_input_stats` by the statistics of the input, whose mean over the samples moves the running ones.

    Shapes: (N, C, *), (C), (C), (C), (C) -> (N, C, *).  Raises ValueError for one value per channel.
    Source: torch.nn.functional.instance_norm; Ulyanov et al., 2016.

    >>> import engine as torch
    >>> torch.nn.functional.instance_norm(torch.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """
    need_tensor(input, "instance_norm")
    shape = input._array.shape
    if (use_input_stats and len(shape) >= 2 and math.prod(shape[2:]) == 1) or (len(shape) < 2 and use_input_stats):
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size torch.Size({list(shape)})"
        )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise errors.runtime("Expected running_mean and running_var to be defined when use_input_stats is false")
    samples, channels = shape[:2]
    parts: list[Tensor | None] = [
        None if x is None else repeat(x, samples) for x in (running_mean, running_var, weight, bias)
    ]
    wide = reshape(input, 1, samples * channels, *shape[2:])
    result = _normalised(wide, parts[0], parts[1], parts[2], parts[3], use_input_stats, momentum, eps)
    with no_grad():
        for running, moved in ((running_mean, parts[0]), (running_var, parts[1])):
            if running is not None and moved is not None and use_input_stats:
                ip.copy_(running, rd.mean(reshape(moved, samples, channels), 0))
    return reshape(result, *shape)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha * mean of the squares of `size` neighbouring channels)^beta.

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError for fewer than three dimensions.
    Source: torch.nn.functional.local_response_norm; Krizhevsky et al., 2012.

    >>> import engine as torch
    >>> torch.nn.functional.local_response_norm(torch.ones(1, 2, 1), 2, alpha=1.0).flatten()
    tensor([0.7378, 0.5946])
    """
    rank = input.dim()
    if rank < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {rank} dimensions)")
    if not input._array.size:
        return input
    shape = input._array.shape
    squares: Any = eo.mul(input, input)
    around = (size // 2, (size - 1) // 2)
    if rank == 3:
        level = avg_pool2d(pad(so.unsqueeze(squares, 1), (0, 0, *around)), (size, 1), stride=1)
        level = so.squeeze_dim(level, 1)
    else:
        wide = so.view(squares, (shape[0], 1, shape[1], shape[2], math.prod(shape[3:])))
        level = avg_pool3d(pad(wide, (0, 0, 0, 0, *around)), (size, 1, 1), stride=1)
        level = so.view(so.squeeze_dim(level, 1), shape)
    return eo.div(input, am.pow(eo.add(eo.mul(level, alpha), k), beta))


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Tensor:
    """x / max(|x|_p, eps) along `dim`.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.nn.functional.normalize.

    >>> import engine as torch
    >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    size = cc.clamp_min(input.norm(p, dim, keepdim=True), eps)
    return eo.div(input, expand_as(size, input))
