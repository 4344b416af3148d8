"""Layers that are matrix products."""

from __future__ import annotations

import math
from typing import Any

from ...arrays.session import unrecorded
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import fresh

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Returns its input; all arguments are ignored.

    Shapes: (*) -> (*).  Source: torch.nn.Identity.

    >>> import engine as torch
    >>> torch.nn.Identity()(torch.tensor([1.0]))
    tensor([1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """`input`."""
        return input


class Linear(Module):
    """x @ weight.T + bias; `weight` is (out_features, in_features).

    Shapes: (*, in_features) -> (*, out_features).  Raises RuntimeError for another last dimension.
    Source: torch.nn.Linear.

    >>> Linear(2, 3)
    Linear(in_features=2, out_features=3, bias=True)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        with unrecorded():
            self.weight = fresh(out_features, in_features, dtype=dtype, device=device)
            self.register_parameter("bias", fresh(out_features, dtype=dtype, device=device) if bias else None)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, evenly from ±1/sqrt(in_features)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """From shape (..., in_features) to (..., out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1 @ weight[k] @ x2 + bias[k] for every output k.

    Shapes: (*, in1_features), (*, in2_features) -> (*, out_features).  Raises ValueError where in1_features < 1,
    RuntimeError for other last dimensions.  Source: torch.nn.Bilinear.

    >>> import engine as torch
    >>> torch.nn.Bilinear(2, 3, 4)(torch.zeros(5, 2), torch.zeros(5, 3)).shape
    torch.Size([5, 4])
    """

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if in1_features == 0:
            raise ValueError(f"in1_features must be > 0, but got ({in1_features=})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        with unrecorded():
            self.weight = fresh(out_features, in1_features, in2_features, dtype=dtype, device=device)
            self.register_parameter("bias", fresh(out_features, dtype=dtype, device=device) if bias else None)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, evenly from ±1/sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """From shapes (..., in1_features) and (..., in2_features) to (..., out_features)."""
        out: Tensor = F.bilinear(input1, input2, self.weight, self.bias)
        return out

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
