"""Activations.  Source: torch.nn.functional."""

from __future__ import annotations

from ...api.elementwise import relu, sigmoid, softplus, tanh
from ...api.reduction import log_softmax, softmax

__all__ = [
    "log_softmax",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
    "tanh",
]
