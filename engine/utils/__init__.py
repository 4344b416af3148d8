"""torch.utils: what training scripts need beside tensors; so far the loading of data."""

from . import data

__all__ = ["data"]
