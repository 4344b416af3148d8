"""Normalisations."""

from __future__ import annotations

import warnings
from typing import Any

from ...api.creation import creation, fills
from ...arrays.array import int64
from ...arrays.session import unrecorded
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import fresh

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]


class _Affine(Module):
    """The base of all norms: a factor and a summand that begin as 1 and 0, or none."""

    def _parameters_of(self, shape: tuple[Any, ...], weight: bool, bias: bool, device: Any, dtype: Any) -> None:
        with unrecorded():
            self.register_parameter("weight", fresh(*shape, dtype=dtype, device=device) if weight else None)
            self.register_parameter("bias", fresh(*shape, dtype=dtype, device=device) if weight and bias else None)

    def reset_parameters(self) -> None:
        """Begin anew with ones and zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self._parameters.get("bias") is not None:
            init.zeros_(self.bias)


class _WithStatistics(_Affine):
    """Batch and instance norms: with running means and variances where asked for."""

    _version = 2

    def _begin(
        self, num_features: int, eps: float, momentum: float | None, affine: bool, track_running_stats: bool,
        device: Any, dtype: Any, bias: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._parameters_of((num_features,), affine, bias, device, dtype)
        with unrecorded():
            options = {"dtype": dtype, "device": device}
            self.register_buffer("running_mean", fills.zeros(num_features, **options) if track_running_stats else None)
            self.register_buffer("running_var", fills.ones(num_features, **options) if track_running_stats else None)
            count = creation.tensor(0, dtype=int64, device=device) if track_running_stats else None
            self.register_buffer("num_batches_tracked", count)
            self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Begin anew with mean 0 and variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Begin anew."""
        self.reset_running_stats()
        super().reset_parameters()

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, *rest: Any) -> None:
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            state_dict.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_WithStatistics):
    dims: tuple[int, ...]
    dims_named: str

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        self._begin(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape; raises ValueError for another number of dimensions."""
        if input.dim() not in self.dims:
            raise ValueError(f"expected {self.dims_named} input (got {input.dim()}D input)")
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        has_both = not self.training or self.track_running_stats
        return F.batch_norm(
            input, self.running_mean if has_both else None, self.running_var if has_both else None, self.weight,
            self.bias, self.training or self.running_mean is None, factor, self.eps,
        )  # fmt: skip


class BatchNorm1d(_BatchNorm):
    """Each channel of (batch, channels) or (batch, channels, length) to mean 0 and variance 1 over the batch.

    Shapes: (N, num_features, *) -> (N, num_features, *); * is (L) or nothing.  Raises ValueError for an input of
    other dimensions, and in training for one value per channel.  Source: torch.nn.BatchNorm1d.

    >>> import engine as torch
    >>> torch.nn.BatchNorm1d(1)(torch.tensor([[1.0], [3.0]])).detach()
    tensor([[-1.0000],
            [ 1.0000]])
    """

    dims, dims_named = (2, 3), "2D or 3D"


class BatchNorm2d(_BatchNorm):
    """Each channel of (batch, channels, height, width) to mean 0 and variance 1 over the batch.

    Shapes: (N, num_features, H, W) -> (N, num_features, H, W).  Raises ValueError for an input of other dimensions,
    and in training for one value per channel.  Source: torch.nn.BatchNorm2d.

    >>> import engine as torch
    >>> torch.nn.BatchNorm2d(3)
    BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    dims, dims_named = (4,), "4D"


class BatchNorm3d(_BatchNorm):
    """Each channel of (batch, channels, depth, height, width) to mean 0 and variance 1 over the batch.

    Shapes: (N, num_features, D, H, W) -> (N, num_features, D, H, W).  Raises ValueError for an input of other
    dimensions, and in training for one value per channel.  Source: torch.nn.BatchNorm3d.

    >>> import engine as torch
    >>> torch.nn.BatchNorm3d(3, affine=False)
    BatchNorm3d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=True)
    """

    dims, dims_named = (5,), "5D"


class _InstanceNorm(_WithStatistics):
    dims: int

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        self._begin(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape; the batch may be missing."""
        alone = self.dims + 1
        if input.dim() not in (alone, alone + 1):
            raise ValueError(f"expected {alone}D or {alone + 1}D input (got {input.dim()}D input)")
        channel = input.dim() - alone
        if input.size(channel) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channel} to match num_features ({self.num_features}), but got: "
                    f"{input.size(channel)}."
                )
            warnings.warn(
                f"input's size at dim={channel} does not match num_features. You can silence this warning by not "
                "passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if input.dim() == alone:
            out: Tensor = self._normalised(input.unsqueeze(0)).squeeze(0)
            return out
        return self._normalised(input)

    def _normalised(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (batch, channels, length) to mean 0 and variance 1.

    Shapes: ([N,] num_features, L) -> ([N,] num_features, L).  Raises ValueError for an input of other dimensions, and
    in training for one value per channel.  Source: torch.nn.InstanceNorm1d.

    >>> import engine as torch
    >>> torch.nn.InstanceNorm1d(1)(torch.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """

    dims = 1


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (batch, channels, height, width) to mean 0 and variance 1.

    Shapes: ([N,] num_features, H, W) -> ([N,] num_features, H, W).  Raises ValueError for an input of other
    dimensions, and in training for one value per channel.  Source: torch.nn.InstanceNorm2d.

    >>> import engine as torch
    >>> torch.nn.InstanceNorm2d(3)
    InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)
    """

    dims = 2


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (batch, channels, depth, height, width) to mean 0 and variance 1.

    Shapes: ([N,] num_features, D, H, W) -> ([N,] num_features, D, H, W).  Raises ValueError for an input of other
    dimensions, and in training for one value per channel.  Source: torch.nn.InstanceNorm3d.

    >>> import engine as torch
    >>> torch.nn.InstanceNorm3d(3)
    InstanceNorm3d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)
    """

    dims = 3


def _shape(sizes: Any) -> tuple[int, ...]:
    return (sizes,) if isinstance(sizes, int) else tuple(sizes)


class LayerNorm(_Affine):
    """The last dimensions of each sample to mean 0 and variance 1.

    Shapes: (*, *normalized_shape) -> (*, *normalized_shape).  Raises RuntimeError for other last dimensions.
    Source: torch.nn.LayerNorm.

    >>> LayerNorm(4)
    LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
    """

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._parameters_of((self.normalized_shape,), elementwise_affine, bias, device, dtype)
        with unrecorded():
            self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(_Affine):
    """Each group of channels of each sample to mean 0 and variance 1.

    Shapes: (N, num_channels, *) -> (N, num_channels, *).  Raises ValueError where num_groups does not divide
    num_channels.  Source: torch.nn.GroupNorm.

    >>> import engine as torch
    >>> torch.nn.GroupNorm(1, 2)(torch.tensor([[1.0, 3.0]])).detach()
    tensor([[-1.0000,  1.0000]])
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._parameters_of((num_channels,), affine, bias, device, dtype)
        with unrecorded():
            self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape, (batch, channels, ...)."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """The last dimensions of each sample over the root of their mean square.

    Shapes: (*, *normalized_shape) -> (*, *normalized_shape).  Raises RuntimeError for other last dimensions.
    Source: torch.nn.RMSNorm.

    >>> import engine as torch
    >>> torch.nn.RMSNorm(2)(torch.tensor([1.0, 7.0])).detach()
    tensor([0.2000, 1.4000])
    """

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        with unrecorded():
            weight = fresh(self.normalized_shape, dtype=dtype, device=device) if elementwise_affine else None
            self.register_parameter("weight", weight)
            self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """A tensor of the same shape."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LocalResponseNorm(Module):
    """Each channel over a power of the mean square of its neighbours.

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError for fewer than three dimensions.
    Source: torch.nn.LocalResponseNorm.

    >>> import engine as torch
    >>> torch.nn.LocalResponseNorm(2, alpha=1.0)(torch.ones(1, 2, 1)).flatten()
    tensor([0.7378, 0.5946])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape, (batch, channels, ...)."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
