"""What torch.autograd offers."""

from ..creation import Variable
from ..mode import enable_grad, is_grad_enabled, legacy_broadcasting, no_grad, set_grad_enabled
from . import functional
from .calls import backward, grad
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Variable",
    "backward",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "is_grad_enabled",
    "legacy_broadcasting",
    "no_grad",
    "set_grad_enabled",
]
