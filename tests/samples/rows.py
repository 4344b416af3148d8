"""What a sample row is, and the numbers that rows are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_draws = {"generator": np.random.default_rng(7)}


def begin() -> None:
    """Draw from the start again: each file of rows does, so that a row added in one leaves the others' numbers."""
    _draws["generator"] = np.random.default_rng(7)


@dataclass(frozen=True, eq=False)
class Sample:
    """`spelled` is a Python expression of `torch` and x, y, z (the inputs), equal to the call; `reason` says why there
    is none.  `kink`: the derivative jumps (or is 0) at the inputs, so that small steps say nothing of the second one.
    `same_node`: the nodes are torch's, by name and edges.  `opaque` says why the rule has no closed form, `loose` why
    torch's own digits are fewer (8 of float64).
    """

    op: str
    inputs: tuple[Any, ...]
    statics: Mapping[str, Any] = field(default_factory=dict)
    spelled: str = ""
    reason: str = ""
    kink: bool = False
    same_node: bool = True
    opaque: str = ""
    loose: str = ""

    @property
    def name(self) -> str:
        """What the row is called among tests."""
        return f"{self.op}-{self.spelled or 'inner'}"


def real(*shape: int) -> np.ndarray:
    """Numbers on both sides of 0, none near 0 or a whole number."""
    return np.asarray(np.sign(_draws["generator"].random(shape) - 0.5) * positive(*shape))


def real_number() -> np.ndarray:
    """One of them, without dimensions."""
    return np.asarray(real(1)[0])


def positive(*shape: int) -> np.ndarray:
    """Numbers between 0.2 and 1.8, none within 0.05 of a whole number."""
    return np.asarray(_draws["generator"].choice([0.0, 1.0], shape) + _draws["generator"].uniform(0.2, 0.8, shape))


def unit(*shape: int) -> np.ndarray:
    """Numbers between -0.9 and 0.9."""
    return _draws["generator"].uniform(-0.9, 0.9, shape)


def mask(*shape: int) -> np.ndarray:
    """Truth values, of both kinds."""
    flat = np.arange(int(np.prod(shape))) % 3 == 0
    return np.asarray(flat.reshape(shape))


def whole(*shape: int) -> np.ndarray:
    """Integers from 1 to 5."""
    return _draws["generator"].integers(1, 6, shape)


def index(*values: Any) -> np.ndarray:
    """Places."""
    return np.array(values, dtype=np.int64)


def unary(name: str, make: Any = real, kink: bool = False, spelled: str = "") -> Sample:
    """A function of one tensor that torch has under the op's own name."""
    return Sample(name, (make(2, 3),), spelled=spelled or f"torch.{name}(x)", kink=kink)


def two(name: str, spelled: str, make: Any = real, kink: bool = False) -> list[Sample]:
    """A function of two tensors: of one shape, broadcast both ways, and of a tensor and a number."""
    return [
        Sample(name, (make(2, 3), make(2, 3)), spelled=spelled, kink=kink),
        Sample(name, (make(2, 1), make(1, 3)), spelled=spelled, kink=kink),
        Sample(name, (make(3), make(2, 3)), spelled=spelled, kink=kink),
    ]


INNER = "used by the rules of other ops; torch has no such function"
TIED = np.array([[3.0, 1.0, 3.0], [2.0, 3.0, 0.5]])
