"""Random draws: one numpy generator for all, which `manual_seed` sets.  The streams are not torch's."""

from __future__ import annotations

import numpy as np

__all__ = [
    "Generator",
    "default_generator",
    "manual_seed",
]

_state = {"generator": np.random.default_rng()}


def generator() -> np.random.Generator:
    """The generator that draws."""
    return _state["generator"]


class Generator:
    """A handle on the one generator.  Source: torch.Generator."""

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        self._seed = 0

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream over from `seed`."""
        self._seed = seed
        _state["generator"] = np.random.default_rng(seed % 2**64)
        return self

    def initial_seed(self) -> int:
        """The seed that the stream was started with."""
        return self._seed


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the random stream over from `seed`: the same draws again.

    >>> import engine as torch
    >>> _ = torch.manual_seed(0); a = torch.rand(2)
    >>> _ = torch.manual_seed(0); torch.equal(a, torch.rand(2))
    True
    """
    return default_generator.manual_seed(int(seed))
