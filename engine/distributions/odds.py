"""The common part of distributions with one parameter, a probability given directly or as log-odds."""

from __future__ import annotations

from typing import Any, ClassVar

from ..tensor.tensor import Tensor
from . import constraints
from .constraints import Constraints
from .distribution import Distribution, lazy, one_of, to_logits, together


class ByOdds(Distribution):
    """A distribution of `probs` or of `logits`; the other one is computed when it is asked for.

    Raises ValueError where both are given, or none.
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        one_of(probs=probs, logits=logits)
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        (vars(self)[name],) = together(given)
        self._param: Tensor = vars(self)[name]
        super().__init__(self._param.shape, (), validate_args)

    @lazy
    def logits(self) -> Tensor:
        """log(probs / (1 - probs))."""
        return to_logits(self.probs, binary=True)

    @lazy
    def probs(self) -> Tensor:
        """How probable a 1, or a success, is."""
        made: Tensor = self.logits.sigmoid()
        return made
