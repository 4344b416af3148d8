"""Where torch keeps Variable, from the time before Tensors had gradients."""

from ..api.creation.creation import Variable

__all__ = ["Variable"]
