"""What torch.autograd offers."""

from ..mode import enable_grad, is_grad_enabled, legacy_broadcasting, no_grad, set_grad_enabled
from .calls import backward, grad

__all__ = ["backward", "enable_grad", "grad", "is_grad_enabled", "legacy_broadcasting", "no_grad", "set_grad_enabled"]
