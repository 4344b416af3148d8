"""Layers that learn the size of their input at the first call, and are ordinary layers from then on.

Source: torch.nn.modules.lazy.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from ...api.creation import creation
from ...arrays.array import int64
from ...arrays.session import unrecorded
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor
from ..module import Module
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "UninitializedBuffer",
    "UninitializedParameter",
]


class LazyModuleMixin:
    """A mixin for lazy modules: `initialize_parameters(input)` is called before the first forward.

    The module then becomes one of the class `cls_to_become`.
    """

    cls_to_become: type[Any] | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, for an input; a subclass says how."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Return whether the shape of a parameter or buffer is not known yet."""
        return any(is_lazy(tensor) for tensor in chain(self._parameters.values(), self._buffers.values()))

    def reset_parameters(self: Any) -> None:
        """Draw the parameters anew, where there are any."""
        if not self.has_uninitialized_params() and self._knows_its_input():
            super().reset_parameters()  # type: ignore[misc]  # the Module that is mixed with

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        """Before the first forward: learn the sizes, and become an ordinary layer."""
        with unrecorded(), no_grad():
            module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _lazy_load_hook(self: Any, state: dict[str, Any], prefix: str, *_: Any) -> None:
        """Before a state is loaded: take the shapes from it."""
        for name, tensor in chain(self._parameters.items(), self._buffers.items()):
            value = state.get(prefix + name)
            if is_lazy(tensor) and value is not None and not is_lazy(value):
                tensor.materialize(value.shape)

    def _load_one(self: Any, name: str, key: str, mine: Tensor, value: Any, local: dict[str, Any]) -> str | None:
        if is_lazy(mine) and is_lazy(value):
            return None
        complaint: str | None = super()._load_one(name, key, mine, value, local)  # type: ignore[misc]  # of the module that mixes this in
        return complaint

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, tensor in chain(self._parameters.items(), self._buffers.items()):
            if tensor is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes `in_features` from its first input.

    Shapes: (*, in_features) -> (*, out_features).  Source: torch.nn.LazyLinear.

    >>> import engine as torch
    >>> layer = torch.nn.LazyLinear(2)
    >>> layer.weight
    <UninitializedParameter>
    >>> layer(torch.ones(1, 3)).shape, layer
    (torch.Size([1, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _knows_its_input(self) -> bool:
        return self.in_features != 0

    def initialize_parameters(self, input: Tensor) -> None:
        """Take `in_features` from the input."""
        width = input.shape[-1]
        if self.has_uninitialized_params():
            self.in_features = width
            self.weight.materialize((self.out_features, width))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:  # the parameters came with a state
            if width != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {width} is not equal to in_features from self.weight: "
                    f"{self.weight.shape[-1]}"
                )
            self.in_features = width


class _LazyConvolution(LazyModuleMixin):
    """The base of lazy convolutions."""

    dims: int

    def _begin_lazily(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _knows_its_input(self: Any) -> bool:
        return bool(self.in_channels != 0)

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take `in_channels` from the input."""
        if not self.has_uninitialized_params():
            return
        alone = self.dims + 1
        if input.dim() not in (alone, alone + 1):
            raise RuntimeError(
                f"Expected {alone}D (unbatched) or {alone + 1}D (batched) input to {type(self).__name__}, but got "
                f"input of size: {input.shape}"
            )
        self.in_channels = input.shape[-alone]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        sizes = [self.out_channels, self.in_channels // self.groups]
        if self.transposed:
            sizes = [self.in_channels, self.out_channels // self.groups]
        self.weight.materialize((*sizes, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyForward(_LazyConvolution):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._begin_lazily(out_channels, bias, device, dtype)


class _LazyTransposed(_LazyConvolution):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype
        )
        self._begin_lazily(out_channels, bias, device, dtype)


class _LazyNorm(LazyModuleMixin):
    """The base of lazy batch and instance norms."""

    def __init__(
        self: Any, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = creation.tensor(0, dtype=int64, device=device)

    def _knows_its_input(self: Any) -> bool:
        return bool(self.num_features != 0)

    def initialize_parameters(self: Any, input: Tensor) -> None:
        """Take `num_features` from the input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for tensor in chain(self._parameters.values(), self._buffers.values()):
                if is_lazy(tensor):
                    tensor.materialize((self.num_features,))
            self.reset_parameters()


def _lazily(how: type[Any], layer: type[Module]) -> type[Any]:
    """The lazy form of a layer."""
    layer_class = type(f"Lazy{layer.__name__}", (how, layer), {"cls_to_become": layer, "__module__": __name__})
    size, call = ("num_features", "()") if how is _LazyNorm else ("in_channels", "(4, 3)")
    layer_class.__doc__ = (
        f"A {layer.__name__} that takes `{size}` from its first input.\n\n"
        f"    Shapes and errors are those of {layer.__name__}.  Source: torch.nn.{layer_class.__name__}.\n\n"
        "    >>> import engine as torch\n"
        f"    >>> torch.nn.{layer_class.__name__}{call}.{size}\n    0\n    "
    )
    return layer_class


LazyConv1d = _lazily(_LazyForward, Conv1d)
LazyConv2d = _lazily(_LazyForward, Conv2d)
LazyConv3d = _lazily(_LazyForward, Conv3d)
LazyConvTranspose1d = _lazily(_LazyTransposed, ConvTranspose1d)
LazyConvTranspose2d = _lazily(_LazyTransposed, ConvTranspose2d)
LazyConvTranspose3d = _lazily(_LazyTransposed, ConvTranspose3d)
LazyBatchNorm1d = _lazily(_LazyNorm, BatchNorm1d)
LazyBatchNorm2d = _lazily(_LazyNorm, BatchNorm2d)
LazyBatchNorm3d = _lazily(_LazyNorm, BatchNorm3d)
LazyInstanceNorm1d = _lazily(_LazyNorm, InstanceNorm1d)
LazyInstanceNorm2d = _lazily(_LazyNorm, InstanceNorm2d)
LazyInstanceNorm3d = _lazily(_LazyNorm, InstanceNorm3d)
