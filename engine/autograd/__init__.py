"""torch.autograd: `backward` and `grad`, custom Functions, grad modes, functional derivatives, checks.
The backward pass itself is in `backward`.
"""

from ..api.creation.creation import Variable
from ..backward.anomaly import detect_anomaly, is_anomaly_enabled, set_detect_anomaly
from ..tensor.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    legacy_broadcasting,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from . import forward_ad, function, functional, grad_mode, graph, profiler, variable
from .calls import backward, grad
from .function import Function
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "legacy_broadcasting",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
