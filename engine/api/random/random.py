"""Random draws: numpy generators under torch's handles.  The streams are not torch's."""

from __future__ import annotations

import json

import numpy as np

from ...arrays.array import device as device_at
from ...tensor.tensor import Tensor, tensor_of

__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


class Generator:
    """A stream of random numbers.

    Source: torch.Generator.

    >>> Generator().manual_seed(3).initial_seed()
    3
    """

    def __init__(self, device: object = "cpu") -> None:
        self.device = device_at(device)  # type: ignore[arg-type]  # whatever a user gives is checked there
        self._seed = 0
        self._stream = np.random.default_rng(0)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream over from `seed`."""
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = seed % 2**64
        self._stream = np.random.default_rng(self._seed)
        return self

    def seed(self) -> int:
        """Start the stream over from a seed that the system draws, and return it."""
        self.manual_seed(int(np.random.SeedSequence().entropy) % 2**63)  # type: ignore[arg-type]  # an int, none given
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the stream was started with."""
        return self._seed

    def get_state(self) -> Tensor:
        """Where the stream stands, as bytes."""
        state = {"seed": self._seed, "stream": self._stream.bit_generator.state}
        return tensor_of(np.frombuffer(json.dumps(state).encode(), dtype="uint8").copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on from where `get_state` was called."""
        state = json.loads(bytes(new_state._array))
        self._seed = state["seed"]
        self._stream.bit_generator.state = state["stream"]
        return self

    def clone_state(self) -> Generator:
        """Another generator that stands at the same place."""
        return Generator(self.device).set_state(self.get_state())


default_generator = Generator()
default_generator.seed()


def generator(own: Generator | None = None) -> np.random.Generator:
    """The numpy generator that draws: that of the user's `generator=`, or the default one."""
    return (default_generator if own is None else own)._stream


def manual_seed(seed: int) -> Generator:
    """Start the random stream over from `seed`: the same draws again.

    Source: torch.manual_seed.

    >>> import engine as torch
    >>> _ = torch.manual_seed(0); a = torch.rand(2)
    >>> _ = torch.manual_seed(0); torch.equal(a, torch.rand(2))
    True
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start the random stream over from a seed that the system draws, and return it.

    Source: torch.seed.

    >>> import engine as torch
    >>> torch.seed() == torch.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the random stream was started with.

    Source: torch.initial_seed.

    >>> import engine as torch
    >>> _ = torch.manual_seed(7)
    >>> torch.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the random stream, as bytes.

    Source: torch.get_rng_state.

    >>> import engine as torch
    >>> torch.get_rng_state().dtype
    torch.uint8
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Restore the random stream to the state that `get_rng_state` returned.

    Source: torch.set_rng_state.

    >>> import engine as torch
    >>> state = torch.get_rng_state()
    >>> first = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> torch.equal(first, torch.rand(2))
    True
    """
    default_generator.set_state(new_state)
