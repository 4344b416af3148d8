"""Recurrent layers and cells: their steps, and how they go through a sequence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ...api.creation import fills
from ...api.shape.joining import cat, stack
from ...arrays import errors
from ...arrays.session import slot, unrecorded
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..functional.activation import relu, sigmoid, tanh
from ..functional.affine import linear
from ..module import Module
from ..parameter import Parameter, fresh
from ..utils.rnn import PackedSequence

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
]

State = tuple[Any, ...]
Step = Callable[["Weights", Any, State], State]
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
"""How many rows of the weights there are per hidden element."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The parameters of one layer in one direction."""

    ih: Tensor
    hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None
    hr: Tensor | None = None

    @classmethod
    def of(cls, module: Any, layer: int, suffix: str) -> Weights:
        """Those of a recurrent layer's layer and direction."""
        end = f"_l{layer}{suffix}"
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return cls(*(module._parameters.get(name + end) for name in names))

    def project(self, x: Any) -> Any:
        """Compute the input's part of the gates."""
        return linear(x, self.ih, self.bias_ih)


def _now(projected: Any) -> Any:
    """Return the input's part of the gates, and compute it if that has not been done."""
    return projected() if callable(projected) else projected


def rnn(activation: Callable[[Any], Any]) -> Step:
    """h' = activation(projected + W_hh h + b_hh)."""

    def step(weights: Weights, projected: Any, state: State) -> State:
        return (activation(linear(state[0], weights.hh, weights.bias_hh) + _now(projected)),)

    return step


def lstm(weights: Weights, projected: Any, state: State) -> State:
    """c' = f c + i g; h' = o tanh(c')."""
    hidden, cell = state
    i, f, g, o = (linear(hidden, weights.hh, weights.bias_hh) + _now(projected)).unsafe_chunk(4, 1)
    cell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
    hidden = sigmoid(o) * tanh(cell)
    return (hidden if weights.hr is None else linear(hidden, weights.hr)), cell


def gru(weights: Weights, projected: Any, state: State) -> State:
    """n = tanh(projected + r (W_hn h + b_hn)); h' = n + z (h - n)."""
    (hidden,) = state
    r_input, z_input, n_input = _now(projected).unsafe_chunk(3, 1)
    r, z, n = linear(hidden, weights.hh, weights.bias_hh).unsafe_chunk(3, 1)
    new = tanh(n_input + n * sigmoid(r + r_input))
    return ((hidden - new) * sigmoid(z + z_input) + new,)


STEPS: dict[str, Step] = {
    "RNN_TANH": rnn(tanh), "RNN_RELU": rnn(relu), "LSTM": lstm, "GRU": gru,
}  # fmt: skip


def one_step(step: Step, number: int, weights: Weights, projected: Any, state: State) -> State:
    """One step; a recording has its ops as a group."""
    if (active := slot.active) is None:
        return step(weights, projected, state)
    with active.within(f"step {number}"):
        return step(weights, projected, state)


def run(
    mode: str, weights: Weights, data: Any, state: State, sizes: list[int] | None, backwards: bool = False
) -> tuple[Any, State]:
    """One direction of one layer: the output at every step, and the last state.

    `data` is (steps, batch, size); where `sizes` are given it is packed, with so many rows per step.
    """
    step = STEPS[mode]
    projected = weights.project(data)
    if sizes is not None:
        return _packed(step, weights, projected, state, sizes, backwards)
    parts = projected.unbind(0)
    outs = []
    order = range(len(parts))
    for number in reversed(order) if backwards else order:
        state = one_step(step, number, weights, parts[number], state)
        outs.append(state[0])
    return stack(outs[::-1] if backwards else outs), state


def _packed(
    step: Step, weights: Weights, projected: Any, state: State, sizes: list[int],
    backwards: bool,
) -> tuple[Any, State]:  # fmt: skip
    """Sequences end early: forwards the shorter ones leave on the way, backwards they come in on the way."""
    parts = projected.split(sizes)
    whole = state
    outs: list[Any] = []
    if backwards:
        state = tuple(s[: sizes[-1]] for s in state)
        for number in reversed(range(len(sizes))):
            part, size = parts[number], sizes[number]
            here = state[0].shape[0]
            if size > here:
                state = tuple(cat([s, w[here:size]]) for s, w in zip(state, whole, strict=True))
            state = one_step(step, number, weights, part, state)
            outs.append(state[0])
        return cat(outs[::-1]), state
    left: list[State] = []
    for number, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        if size < state[0].shape[0]:
            left.append(tuple(s[size:] for s in state))
            state = tuple(s[:size] for s in state)
        state = one_step(step, number, weights, part, state)
        outs.append(state[0])
    ends = [state, *reversed(left)]
    return cat(outs), tuple(cat(list(kind)) for kind in zip(*ends, strict=True))


class RNNBase(Module):
    """Recurrent layers over a sequence, in one direction or both.

    `mode` is RNN_TANH, RNN_RELU, LSTM or GRU.

    Raises ValueError for another mode.  Source: torch.nn.RNNBase.

    >>> import engine as torch
    >>> isinstance(torch.nn.LSTM(3, 4), torch.nn.RNNBase)
    True
    """

    name: ClassVar[str] = "RNN"

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        _check(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights: list[list[str]] = []
        with unrecorded():
            for layer in range(num_layers):
                for suffix in self._suffixes():
                    self._add_weights(layer, suffix, device, dtype)
            self.reset_parameters()

    def _suffixes(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    @property
    def _out_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _add_weights(self, layer: int, suffix: str, device: Any, dtype: Any) -> None:
        gates = GATES[self.mode] * self.hidden_size
        width = self._out_size * len(self._suffixes()) if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, width), "weight_hh": (gates, self._out_size)}
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = [f"{name}_l{layer}{suffix}" for name in shapes]
        for name, shape in zip(names, shapes.values(), strict=True):
            self.register_parameter(name, fresh(*shape, dtype=dtype, device=device))
        self._all_weights.append(names)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters by layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self) -> None:
        """Draw all parameters anew, evenly from ±1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing here: torch puts the parameters side by side for cuDNN."""

    def extra_repr(self) -> str:
        parts = [
            f"{self.input_size}, {self.hidden_size}",
            f"proj_size={self.proj_size}" if self.proj_size else "",
            f"num_layers={self.num_layers}" if self.num_layers != 1 else "",
            f"bias={self.bias}" if self.bias is not True else "",
            f"batch_first={self.batch_first}" if self.batch_first is not False else "",
            f"dropout={self.dropout}" if self.dropout else "",
            f"bidirectional={self.bidirectional}" if self.bidirectional is not False else "",
        ]
        return ", ".join(part for part in parts if part)

    # -- calls ----------------------------------------------------------------------------------------------------

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer at every step, and the last state of every layer and direction.

        Shapes: (steps, batch, size), with `batch_first` (batch, steps, size), or (steps, size); a PackedSequence gives
        a packed one.
        """
        if isinstance(input, PackedSequence):
            data, sizes = input.data, input.sizes()
            hx = self._given_state(hx, input.sorted_indices)
            state = self._checked(data, sizes[0], hx, packed=True)
            out, last = self._layers(data, state, sizes)
            packed = PackedSequence(out, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
            return packed, self._public_state(self._given_state(last, input.unsorted_indices))
        if input.dim() not in (2, 3):
            word = " tensor" if self.mode.startswith("RNN") else ""
            raise ValueError(f"{self.name}: Expected input to be 2D or 3D, got {input.dim()}D{word} instead")
        batched = input.dim() == 3
        hx = self._with_batch(hx, batched)
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        state = self._checked(input, int(input.size(0 if self.batch_first else 1)), hx)
        out, last = self._layers(input.transpose(0, 1) if self.batch_first else input, state, None)
        out = out.transpose(0, 1) if self.batch_first else out
        if not batched:
            out, last = out.squeeze(0 if self.batch_first else 1), tuple(s.squeeze(1) for s in last)
        return out, self._public_state(last)

    def _states(self, hx: Any) -> State:
        """The state as a tuple, also where it is one tensor."""
        return (hx,) if isinstance(hx, Tensor) else tuple(hx)

    def _public_state(self, state: State) -> Any:
        return state if self.mode == "LSTM" else state[0]

    def _given_state(self, hx: Any, order: Tensor | None) -> Any:
        """The state with its sequences in another order."""
        if hx is None or order is None:
            return hx
        return tuple(s.index_select(1, order) for s in self._states(hx))

    def _with_batch(self, hx: Any, batched: bool) -> Any:
        if hx is None:
            return None
        states = self._states(hx)
        rank, word = (3, "batched") if batched else (2, "unbatched")
        if any(s.dim() != rank for s in states):
            if self.mode == "LSTM":
                raise errors.runtime(
                    f"For {word} {rank}-D input, hx and cx should also be {rank}-D but got ({states[0].dim()}-D, "
                    f"{states[1].dim()}-D) tensors"
                )
            raise errors.runtime(
                f"For {word} {rank}-D input, hx should also be {rank}-D but got {states[0].dim()}-D tensor"
            )
        return states if batched else tuple(s.unsqueeze(1) for s in states)

    def _checked(self, input: Tensor, batch: int, hx: Any, packed: bool = False) -> State:
        """The state to begin with: what was given, or zeros."""
        count = self.num_layers * len(self._suffixes())
        sizes = (self._out_size, self.hidden_size) if self.mode == "LSTM" else (self._out_size,)
        if hx is None:
            options: dict[str, Any] = {"dtype": input.dtype, "device": input.device}
            hx = tuple(fills.zeros(count, batch, size, **options) for size in sizes)
        weight = self.all_weights[0][0]
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        rank = 2 if packed else 3
        if input.dim() != rank:
            raise errors.runtime(f"input must have {rank} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise errors.runtime(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        states = self._states(hx)
        for place, (state, size) in enumerate(zip(states, sizes, strict=True)):
            name = f"hidden[{place}]" if self.mode == "LSTM" else "hidden"
            if tuple(state.shape) != (count, batch, size):
                raise errors.runtime(f"Expected {name} size {(count, batch, size)}, got {list(state.shape)}")
        return states

    def _layers(self, data: Any, state: State, sizes: list[int] | None) -> tuple[Any, State]:
        """All layers, each in its directions."""
        if sizes is None and not data.shape[0]:
            raise errors.runtime("Expected sequence length to be larger than 0 in RNN")
        begins = list(zip(*(s.unbind(0) for s in state), strict=True))
        ends: list[State] = []
        for layer in range(self.num_layers):
            outs = []
            for direction, suffix in enumerate(self._suffixes()):
                weights = Weights.of(self, layer, suffix)
                out, end = run(self.mode, weights, data, begins[len(ends)], sizes, backwards=bool(direction))
                outs.append(out)
                ends.append(end)
            data = outs[0] if len(outs) == 1 else cat(outs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                data = F.dropout(data, self.dropout)
        return data, tuple(stack(list(parts)) for parts in zip(*ends, strict=True))


def _check(
    input_size: Any, hidden_size: Any, num_layers: int, bias: Any, batch_first: Any, dropout: Any, proj_size: int
) -> None:
    """torch's checks of the arguments."""
    if not isinstance(dropout, (int, float)) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (
        ("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
    ):  # fmt: skip
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        if kind is int and value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu by `nonlinearity`.

    Shapes: (L, N, input_size) -> (L, N, D hidden_size), (D num_layers, N, hidden_size); D = 2 both ways, else 1; N
    first with `batch_first`, or no N.  Raises RuntimeError for other sizes, ValueError for other dimensions.
    Source: torch.nn.RNN.

    >>> RNN(2, 3, num_layers=2)
    RNN(2, 3, num_layers=2)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity, args = args[3], (*args[:3], *args[4:])
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A state that gates let in, keep and let out; with `proj_size` the output is projected.

    Shapes: (L, N, input_size) -> (L, N, D hidden_size), ((D num_layers, N, hidden_size),
    (D num_layers, N, hidden_size)); D = 2 both ways, else 1; N first with `batch_first`, or no N.  Raises RuntimeError
    for other sizes, ValueError for other dimensions.  Source: torch.nn.LSTM.

    >>> import engine as torch
    >>> out, (h, c) = torch.nn.LSTM(3, 4)(torch.zeros(5, 2, 3))
    >>> out.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([1, 2, 4]))
    """

    name = "LSTM"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """A state that gates reset and update.

    Shapes: (L, N, input_size) -> (L, N, D hidden_size), (D num_layers, N, hidden_size); D = 2 both ways, else 1; N
    first with `batch_first`, or no N.  Raises RuntimeError for other sizes, ValueError for other dimensions.
    Source: torch.nn.GRU.

    >>> import engine as torch
    >>> out, last = torch.nn.GRU(3, 4)(torch.zeros(5, 2, 3))
    >>> out.shape, last.shape
    (torch.Size([5, 2, 4]), torch.Size([1, 2, 4]))
    """

    name = "GRU"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


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
            states = tuple(fills.zeros(int(x.shape[0]), self.hidden_size, **options) for _ in names)
        elif alone:
            states = tuple(state.unsqueeze(0) for state in states)
        _check_sizes(self, x, states)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        # A cell of torch's looks at its state first: the order in which backward runs.
        following = STEPS[mode](weights, lambda: weights.project(x), tuple(states))
        return tuple(state.squeeze(0) for state in following) if alone else following


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
