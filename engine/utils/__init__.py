"""torch.utils as training scripts use it: data loading, and checkpoints that save memory."""

from . import _pytree, checkpoint, data

__all__ = ["_pytree", "checkpoint", "data"]
