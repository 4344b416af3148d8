"""Functions that are made of others: bilinear, instance_norm, local_response_norm.  Source: torch.nn.functional."""

from __future__ import annotations

import math
from typing import Any

from ... import errors
from ...api.check import need_tensor
from ...mode import no_grad
from ...tensor import Tensor
from .averaging import avg_pool2d, avg_pool3d
from .image import pad
from .normalization import batch_norm

__all__ = ["bilinear", "instance_norm", "local_response_norm"]


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 @ weight[k] @ input2 + bias[k] for every output k, over the last dimension of both inputs.

    In torch one node (TrilinearBackward0), here two products.
    """
    for place, (name, tensor) in enumerate((("input1", input1), ("input2", input2), ("weight", weight)), 1):
        need_tensor(tensor, "bilinear", name, place)
    first, second = tuple(input1.shape), tuple(input2.shape)
    if len(first) != len(second):
        raise errors.runtime(f"bilinear(): input dimensions do not match: got {len(first)} and {len(second)}")
    for dim, (a, b) in enumerate(zip(first[:-1], second[:-1], strict=True)):
        if a != b:
            raise errors.runtime(f"bilinear(): input batch dimensions do not match at dim {dim}: got {a} and {b}")
    for place, shape in ((1, first), (2, second)):
        if shape[-1] != weight.shape[place]:
            raise errors.runtime(
                f"bilinear(): input{place} size does not match weight size: got {shape[-1]} but expected "
                f"{weight.shape[place]}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise errors.runtime(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )
    outputs, left, right = weight.shape
    rows = input1.reshape(-1, left) @ weight.permute(1, 0, 2).reshape(left, outputs * right)
    found: Any = (rows.reshape(-1, outputs, right) * input2.reshape(-1, 1, right)).sum(-1)
    found = found.reshape(*first[:-1], outputs)
    return found if bias is None else found + bias  # type: ignore[no-any-return]


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel (dimension 1) of each sample normalised over its places: batch_norm with a channel per sample.

    The running statistics take the part `momentum` of the mean over the samples.
    """
    need_tensor(input, "instance_norm")
    shape = tuple(input.shape)
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size torch.Size({list(shape)})"
        )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise errors.runtime("Expected running_mean and running_var to be defined when use_input_stats is false")
    batch, channels = shape[0], shape[1]

    def repeated(tensor: Tensor | None) -> Tensor | None:
        return None if tensor is None else tensor.repeat(batch)

    with no_grad():
        mean, var = repeated(running_mean), repeated(running_var)
    found: Any = batch_norm(
        input.contiguous().view(1, batch * channels, *shape[2:]), mean, var, repeated(weight), repeated(bias),
        use_input_stats, momentum, eps,
    )  # fmt: skip
    if use_input_stats:
        with no_grad():
            for kept, moved in ((running_mean, mean), (running_var, var)):
                if kept is not None and moved is not None:
                    kept.copy_(moved.view(batch, channels).mean(0))
    return found.view(shape)  # type: ignore[no-any-return]


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """input / (k + alpha * mean square of `size` neighbouring channels) ** beta."""
    need_tensor(input, "local_response_norm")
    rank = input.dim()
    if rank < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {rank} dimensions)")
    if input.numel() == 0:
        return input
    square: Any = input.mul(input)
    before, after = size // 2, (size - 1) // 2
    if rank == 3:
        around = pad(square.unsqueeze(1), (0, 0, before, after))
        mean: Any = avg_pool2d(around, (size, 1), stride=1).squeeze(1)
    else:
        shape = tuple(input.shape)
        around = pad(square.view(shape[0], 1, shape[1], shape[2], -1), (0, 0, 0, 0, before, after))
        mean = avg_pool3d(around, (size, 1, 1), stride=1).squeeze(1).view(shape)
    found: Tensor = input / mean.mul(alpha).add(k).pow(beta)
    return found
