"""Where torch keeps Variable, from the time before Tensors had gradients."""

from ..creation import Variable

__all__ = ["Variable"]
