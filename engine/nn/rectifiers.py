"""Piecewise linear activations."""

from __future__ import annotations

import warnings
from typing import Any

from ..arrays.session import unrecorded
from ..tensor.tensor import Tensor
from . import functional as F
from . import init
from .activation import InPlace, Plain
from .module import Module
from .parameter import fresh

__all__ = [
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "Softshrink",
    "Threshold",
]


class ReLU(Plain):
    """max(x, 0).

    Shapes: (*) -> (*).  Source: torch.nn.ReLU.

    >>> import engine as torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.relu(input, inplace=self.inplace)


class Hardsigmoid(Plain):
    """A piecewise linear sigmoid.

    Shapes: (*) -> (*).  Source: torch.nn.Hardsigmoid.

    >>> import engine as torch
    >>> torch.nn.Hardsigmoid()(torch.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardswish(Plain):
    """x * hardsigmoid(x).

    Shapes: (*) -> (*).  Source: torch.nn.Hardswish.

    >>> import engine as torch
    >>> torch.nn.Hardswish()(torch.tensor([-1.0, 4.0]))
    tensor([-0.3333,  4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Threshold(InPlace):
    """x where x > threshold, else value.

    Shapes: (*) -> (*).  Source: torch.nn.Threshold.

    >>> import engine as torch
    >>> torch.nn.Threshold(1.0, 0.0)(torch.tensor([0.5, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def _options(self) -> str:
        return f"threshold={self.threshold}, value={self.value}"


class RReLU(InPlace):
    """A leaky ReLU whose slope is drawn for every element in training, and the middle one in evaluation.

    Shapes: (*) -> (*).  Source: torch.nn.RReLU.

    >>> import engine as torch
    >>> torch.nn.RReLU().eval()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2292,  2.0000])
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def _options(self) -> str:
        return f"lower={self.lower}, upper={self.upper}"


class Hardtanh(InPlace):
    """x between min_val and max_val.

    Shapes: (*) -> (*).  Raises AssertionError where max_val <= min_val.  Source: torch.nn.Hardtanh.

    >>> import engine as torch
    >>> torch.nn.Hardtanh()(torch.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for name, old in (("min_val", min_value), ("max_val", max_value)):
            if old is not None:
                text = f"keyword argument `{name}ue` is deprecated and renamed to `{name}`"
                warnings.warn(text, FutureWarning, stacklevel=2)
        min_val, max_val = min_val if min_value is None else min_value, max_val if max_value is None else max_value
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def _options(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"


class ReLU6(Hardtanh):
    """x between 0 and 6.

    Shapes: (*) -> (*).  Source: torch.nn.ReLU6.

    >>> import engine as torch
    >>> torch.nn.ReLU6()(torch.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def _options(self) -> str:
        return ""


class LeakyReLU(InPlace):
    """x where x > 0, else negative_slope * x.

    Shapes: (*) -> (*).  Source: torch.nn.LeakyReLU.

    >>> import engine as torch
    >>> torch.nn.LeakyReLU(0.1)(torch.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def _options(self) -> str:
        return f"negative_slope={self.negative_slope}"


class Hardshrink(Module):
    """x where |x| > lambd, else 0.

    Shapes: (*) -> (*).  Source: torch.nn.Hardshrink.

    >>> import engine as torch
    >>> torch.nn.Hardshrink()(torch.tensor([-1.0, 0.2]))
    tensor([-1.,  0.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(Module):
    """x moved by lambd towards 0, which it does not cross.

    Shapes: (*) -> (*).  Source: torch.nn.Softshrink.

    >>> import engine as torch
    >>> torch.nn.Softshrink()(torch.tensor([-1.0, 0.2]))
    tensor([-0.5000,  0.0000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class PReLU(Module):
    """A leaky ReLU whose slope is a parameter: one for all channels, or one each.

    Shapes: (*) -> (*); with a slope for each of C channels (N, C, *) -> (N, C, *).  Source: torch.nn.PReLU.

    >>> import engine as torch
    >>> torch.nn.PReLU(init=0.5)(torch.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000], grad_fn=<PreluKernelBackward0>)
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        with unrecorded():
            self.weight = fresh(num_parameters, dtype=dtype, device=device)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin anew with the slope `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Element by element; channels are dimension 1."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
