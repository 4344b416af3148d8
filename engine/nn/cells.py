"""Cells: one step of a recurrent layer."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..api.creation import filled
from ..arrays import errors
from ..arrays.session import unrecorded
from ..tensor.tensor import Tensor
from . import init
from .module import Module
from .parameter import fresh
from .steps import GATES, STEPS, State, Weights

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """The base of the recurrent cells.

    Source: torch.nn.RNNCellBase.

    >>> import engine as torch
    >>> isinstance(torch.nn.GRUCell(3, 4), torch.nn.RNNCellBase)
    True
    """

    mode: ClassVar[str]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        options = {"device": device, "dtype": dtype}
        with unrecorded():
            self.weight_ih = fresh(rows, input_size, **options)
            self.weight_hh = fresh(rows, hidden_size, **options)
            self.register_parameter("bias_ih", fresh(rows, **options) if bias else None)
            self.register_parameter("bias_hh", fresh(rows, **options) if bias else None)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew, evenly from ±1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        parts = [
            f"{self.input_size}, {self.hidden_size}",
            f"bias={self.bias}" if self.bias is not True else "",
            f"nonlinearity={nonlinearity}" if nonlinearity != "tanh" else "",
        ]
        return ", ".join(part for part in parts if part)

    def _step(self, mode: str, input: Tensor, states: Any, names: tuple[str, ...]) -> State:
        """One step, with or without a batch."""
        kind = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for state, name in zip(states or (), names, strict=False):
            if state.dim() not in (1, 2):
                raise ValueError(f"{kind}: Expected {name} to be 1D or 2D, got {state.dim()}D instead")
        alone = input.dim() == 1
        x: Any = input.unsqueeze(0) if alone else input
        if states is None:
            options: dict[str, Any] = {"dtype": input.dtype, "device": input.device}
            states = tuple(filled.zeros(int(x.shape[0]), self.hidden_size, **options) for _ in names)
        elif alone:
            states = tuple(state.unsqueeze(0) for state in states)
        _check_sizes(self, x, states)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        # A cell of torch's looks at its state first: the order in which backward runs.
        found = STEPS[mode](weights, lambda: weights.given(x), tuple(states))
        return tuple(state.squeeze(0) for state in found) if alone else found


def _check_sizes(cell: RNNCellBase, x: Any, states: Any) -> None:
    if x.shape[1] != cell.input_size:
        raise errors.runtime(f"input has inconsistent input_size: got {x.shape[1]} expected {cell.input_size}")
    for place, state in enumerate(states):
        if state.shape[0] != x.shape[0]:
            raise errors.runtime(
                f"Input batch size {x.shape[0]} doesn't match hidden{place} batch size {state.shape[0]}"
            )
        if state.shape[1] != cell.hidden_size:
            raise errors.runtime(
                f"hidden{place} has inconsistent hidden_size: got {state.shape[1]}, expected {cell.hidden_size}"
            )


class RNNCell(RNNCellBase):
    """One step of an RNN.

    Shapes: ([N,] input_size), ([N,] hidden_size) -> ([N,] hidden_size).  Raises ValueError for other dimensions.
    Source: torch.nn.RNNCell.

    >>> import engine as torch
    >>> torch.nn.RNNCell(3, 4)(torch.zeros(2, 3)).shape
    torch.Size([2, 4])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        """The next state, of shape (batch, hidden_size) or (hidden_size,)."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise errors.runtime(f"Unknown nonlinearity: {self.nonlinearity}")
        states = None if hx is None else (hx,)
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, states, ("hidden",))[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM.

    Shapes: ([N,] input_size), (([N,] hidden_size), ([N,] hidden_size)) -> ([N,] hidden_size), ([N,] hidden_size).
    Raises ValueError for other dimensions.  Source: torch.nn.LSTMCell.

    >>> import engine as torch
    >>> h, c = torch.nn.LSTMCell(3, 4)(torch.zeros(2, 3))
    >>> h.shape
    torch.Size([2, 4])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, GATES["LSTM"], device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> Any:
        """The next (hidden, cell), each of shape (batch, hidden_size) or (hidden_size,)."""
        return self._step("LSTM", input, hx, ("hx[0]", "hx[1]"))


class GRUCell(RNNCellBase):
    """One step of a GRU.

    Shapes: ([N,] input_size), ([N,] hidden_size) -> ([N,] hidden_size).  Raises ValueError for other dimensions.
    Source: torch.nn.GRUCell.

    >>> import engine as torch
    >>> torch.nn.GRUCell(3, 4)(torch.zeros(2, 3)).shape
    torch.Size([2, 4])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, GATES["GRU"], device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        """The next state, of shape (batch, hidden_size) or (hidden_size,)."""
        return self._step("GRU", input, None if hx is None else (hx,), ("hidden",))[0]
