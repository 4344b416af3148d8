"""The functions of torch.nn.functional that the engine has so far."""

from ..api.elementwise import relu, sigmoid, softplus, tanh
from ..api.reduction import log_softmax, softmax

__all__ = ["log_softmax", "relu", "sigmoid", "softmax", "softplus", "tanh"]
