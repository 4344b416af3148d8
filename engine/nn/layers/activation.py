"""Activations as modules."""

from __future__ import annotations

import warnings
from typing import Any

from ...arrays.session import unrecorded
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import fresh

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class InPlaceActivation(Module):
    """The base of the activations that can write into their input."""

    inplace: bool

    def _options(self) -> str:
        return ""

    def extra_repr(self) -> str:
        return ", ".join(part for part in (self._options(), "inplace=True" if self.inplace else "") if part)


class PlainActivation(InPlaceActivation):
    """An activation whose only option is whether it writes into its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class SELU(PlainActivation):
    """ELU, scaled so that mean 0 and variance 1 are kept.

    Shapes: (*) -> (*).  Source: torch.nn.SELU.

    >>> import engine as torch
    >>> torch.nn.SELU()(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.selu(input, self.inplace)


class SiLU(PlainActivation):
    """x * sigmoid(x).

    Shapes: (*) -> (*).  Source: torch.nn.SiLU.

    >>> import engine as torch
    >>> torch.nn.SiLU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.silu(input, inplace=self.inplace)


class Mish(PlainActivation):
    """x * tanh(softplus(x)).

    Shapes: (*) -> (*).  Source: torch.nn.Mish.

    >>> import engine as torch
    >>> torch.nn.Mish()(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.mish(input, inplace=self.inplace)


class _WithAlpha(InPlaceActivation):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def _options(self) -> str:
        return f"alpha={self.alpha}"


class ELU(_WithAlpha):
    """x where x > 0, else alpha * (exp(x) - 1).

    Shapes: (*) -> (*).  Source: torch.nn.ELU.

    >>> import engine as torch
    >>> torch.nn.ELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_WithAlpha):
    """x where x > 0, else alpha * (exp(x / alpha) - 1).

    Shapes: (*) -> (*).  Source: torch.nn.CELU.

    >>> import engine as torch
    >>> torch.nn.CELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.celu(input, self.alpha, self.inplace)


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    Shapes: (*) -> (*).  Source: torch.nn.Sigmoid.

    >>> import engine as torch
    >>> torch.nn.Sigmoid()(torch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        out: Tensor = F.sigmoid(input)
        return out


class Tanh(Module):
    """The hyperbolic tangent.

    Shapes: (*) -> (*).  Source: torch.nn.Tanh.

    >>> import engine as torch
    >>> torch.nn.Tanh()(torch.tensor([-1.0, 2.0]))
    tensor([-0.7616,  0.9640])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        out: Tensor = F.tanh(input)
        return out


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x))).

    Shapes: (*) -> (*).  Source: torch.nn.LogSigmoid.

    >>> import engine as torch
    >>> torch.nn.LogSigmoid()(torch.tensor([0.0, 2.0]))
    tensor([-0.6931, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|).

    Shapes: (*) -> (*).  Source: torch.nn.Softsign.

    >>> import engine as torch
    >>> torch.nn.Softsign()(torch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x).

    Shapes: (*) -> (*).  Source: torch.nn.Tanhshrink.

    >>> import engine as torch
    >>> torch.nn.Tanhshrink()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2384,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.tanhshrink(input)


class GLU(Module):
    """The first half along `dim` times the sigmoid of the second.

    Shapes: (*, D, *) -> (*, D / 2, *).  Raises RuntimeError where D is odd.  Source: torch.nn.GLU.

    >>> import engine as torch
    >>> torch.nn.GLU()(torch.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Half as long along `dim`."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """x times the normal distribution function of x; `approximate` is "none" or "tanh".

    Shapes: (*) -> (*).  Source: torch.nn.GELU.

    >>> import engine as torch
    >>> torch.nn.GELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.

    Shapes: (*) -> (*).  Source: torch.nn.Softplus.

    >>> import engine as torch
    >>> torch.nn.Softplus()(torch.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class _AlongDim(Module):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(x) over its sum along `dim`.

    Shapes: (*) -> (*).  Source: torch.nn.Softmax.

    >>> import engine as torch
    >>> torch.nn.Softmax(0)(torch.tensor([0.0, 1.0]))
    tensor([0.2689, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape, summing to 1 along `dim`."""
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmin(_AlongDim):
    """exp(-x) over its sum along `dim`.

    Shapes: (*) -> (*).  Source: torch.nn.Softmin.

    >>> import engine as torch
    >>> torch.nn.Softmin(0)(torch.tensor([0.0, 1.0]))
    tensor([0.7311, 0.2689])
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape, summing to 1 along `dim`."""
        return F.softmin(input, self.dim, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """The logarithm of softmax.

    Shapes: (*) -> (*).  Source: torch.nn.LogSoftmax.

    >>> import engine as torch
    >>> torch.nn.LogSoftmax(0)(torch.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H, W).  Raises ValueError for an input of other dimensions.
    Source: torch.nn.Softmax2d.

    >>> import engine as torch
    >>> torch.nn.Softmax2d()(torch.zeros(1, 2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape; raises ValueError where that is not 3 or 4 dimensions."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class ReLU(PlainActivation):
    """max(x, 0).

    Shapes: (*) -> (*).  Source: torch.nn.ReLU.

    >>> import engine as torch
    >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.relu(input, inplace=self.inplace)


class Hardsigmoid(PlainActivation):
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


class Hardswish(PlainActivation):
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


class Threshold(InPlaceActivation):
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


class RReLU(InPlaceActivation):
    """A leaky ReLU whose slope is drawn for every element in training; evaluation uses the middle slope.

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


class Hardtanh(InPlaceActivation):
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


class LeakyReLU(InPlaceActivation):
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
    """x moved by lambd towards 0, but not beyond it.

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
