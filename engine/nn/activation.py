"""Activations as modules."""

from __future__ import annotations

from ..tensor.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
]


class InPlace(Module):
    """What the activations that can write into their input share."""

    inplace: bool

    def _options(self) -> str:
        return ""

    def extra_repr(self) -> str:
        return ", ".join(part for part in (self._options(), "inplace=True" if self.inplace else "") if part)


class Plain(InPlace):
    """An activation whose only option is whether it writes into its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class SELU(Plain):
    """ELU, scaled so that mean 0 and variance 1 are kept.

    Shapes: (*) -> (*).  Source: torch.nn.SELU.

    >>> import engine as torch
    >>> torch.nn.SELU()(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.selu(input, self.inplace)


class SiLU(Plain):
    """x * sigmoid(x).

    Shapes: (*) -> (*).  Source: torch.nn.SiLU.

    >>> import engine as torch
    >>> torch.nn.SiLU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.silu(input, inplace=self.inplace)


class Mish(Plain):
    """x * tanh(softplus(x)).

    Shapes: (*) -> (*).  Source: torch.nn.Mish.

    >>> import engine as torch
    >>> torch.nn.Mish()(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Element by element."""
        return F.mish(input, inplace=self.inplace)


class _WithAlpha(InPlace):
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
        """Of the same shape, summing to 1 along `dim`."""
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmin(_AlongDim):
    """exp(-x) over its sum along `dim`.

    Shapes: (*) -> (*).  Source: torch.nn.Softmin.

    >>> import engine as torch
    >>> torch.nn.Softmin(0)(torch.tensor([0.0, 1.0]))
    tensor([0.7311, 0.2689])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape, summing to 1 along `dim`."""
        return F.softmin(input, self.dim, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """The logarithm of softmax.

    Shapes: (*) -> (*).  Source: torch.nn.LogSoftmax.

    >>> import engine as torch
    >>> torch.nn.LogSoftmax(0)(torch.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of the same shape."""
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
        """Of the same shape; raises ValueError where that is not 3 or 4 dimensions."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)
