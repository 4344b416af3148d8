"""The steps of recurrent layers, and how they go through a sequence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..api.shape.joining import cat, stack
from ..arrays.session import slot
from ..tensor.tensor import Tensor
from .functional.activation import relu, sigmoid, tanh
from .functional.affine import linear

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

    def given(self, x: Any) -> Any:
        """What the input adds to the gates."""
        return linear(x, self.ih, self.bias_ih)


def _now(given: Any) -> Any:
    """What the input adds: computed, or to be computed now."""
    return given() if callable(given) else given


def rnn(activation: Callable[[Any], Any]) -> Step:
    """h' = activation(given + W_hh h + b_hh)."""

    def step(weights: Weights, given: Any, state: State) -> State:
        return (activation(linear(state[0], weights.hh, weights.bias_hh) + _now(given)),)

    return step


def lstm(weights: Weights, given: Any, state: State) -> State:
    """c' = f c + i g; h' = o tanh(c')."""
    hidden, cell = state
    i, f, g, o = (linear(hidden, weights.hh, weights.bias_hh) + _now(given)).unsafe_chunk(4, 1)
    cell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
    hidden = sigmoid(o) * tanh(cell)
    return (hidden if weights.hr is None else linear(hidden, weights.hr)), cell


def gru(weights: Weights, given: Any, state: State) -> State:
    """n = tanh(given + r (W_hn h + b_hn)); h' = n + z (h - n)."""
    (hidden,) = state
    r_given, z_given, n_given = _now(given).unsafe_chunk(3, 1)
    r, z, n = linear(hidden, weights.hh, weights.bias_hh).unsafe_chunk(3, 1)
    new = tanh(n_given + n * sigmoid(r + r_given))
    return ((hidden - new) * sigmoid(z + z_given) + new,)


STEPS: dict[str, Step] = {
    "RNN_TANH": rnn(tanh), "RNN_RELU": rnn(relu), "LSTM": lstm, "GRU": gru,
}  # fmt: skip


def taken(step: Step, number: int, weights: Weights, given: Any, state: State) -> State:
    """One step; a recording has its ops as a group."""
    if (active := slot.active) is None:
        return step(weights, given, state)
    with active.within(f"step {number}"):
        return step(weights, given, state)


def run(
    mode: str, weights: Weights, data: Any, state: State, sizes: list[int] | None, backwards: bool = False
) -> tuple[Any, State]:
    """One direction of one layer: the output at every step, and the last state.

    `data` is (steps, batch, size); where `sizes` are given it is packed, with so many rows per step.
    """
    step = STEPS[mode]
    given = weights.given(data)
    if sizes is not None:
        return _packed(step, weights, given, state, sizes, backwards)
    parts = given.unbind(0)
    outs = []
    order = range(len(parts))
    for number in reversed(order) if backwards else order:
        state = taken(step, number, weights, parts[number], state)
        outs.append(state[0])
    return stack(outs[::-1] if backwards else outs), state


def _packed(
    step: Step, weights: Weights, given: Any, state: State, sizes: list[int],
    backwards: bool,
) -> tuple[Any, State]:  # fmt: skip
    """Sequences end early: forwards the shorter ones leave on the way, backwards they come in on the way."""
    parts = given.split(sizes)
    whole = state
    outs: list[Any] = []
    if backwards:
        state = tuple(s[: sizes[-1]] for s in state)
        for number in reversed(range(len(sizes))):
            part, size = parts[number], sizes[number]
            here = state[0].shape[0]
            if size > here:
                state = tuple(cat([s, w[here:size]]) for s, w in zip(state, whole, strict=True))
            state = taken(step, number, weights, part, state)
            outs.append(state[0])
        return cat(outs[::-1]), state
    left: list[State] = []
    for number, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        if size < state[0].shape[0]:
            left.append(tuple(s[size:] for s in state))
            state = tuple(s[:size] for s in state)
        state = taken(step, number, weights, part, state)
        outs.append(state[0])
    ends = [state, *reversed(left)]
    return cat(outs), tuple(cat(list(kind)) for kind in zip(*ends, strict=True))
