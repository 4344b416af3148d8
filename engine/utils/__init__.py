"""torch.utils: what training scripts need beside tensors: the loading of data, checkpoints that save memory."""

from . import _pytree, checkpoint, data

__all__ = ["_pytree", "checkpoint", "data"]
