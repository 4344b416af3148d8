"""torch.utils: what training scripts need beside tensors: the loading of data, checkpoints that save memory."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
