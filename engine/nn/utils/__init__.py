"""torch.nn.utils: gradient clipping, parameters as one vector, weights computed from other parameters."""

from . import parametrizations, parametrize, prune, rnn
from .clip import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .init import skip_init
from .renorm import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm
from .vector import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
