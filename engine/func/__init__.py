"""torch.func: derivatives of functions, functions mapped over a batch, and modules as functions."""

from .batching import vmap
from .derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp
from .modules import functional_call, stack_module_state

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "stack_module_state",
    "vjp",
    "vmap",
]
