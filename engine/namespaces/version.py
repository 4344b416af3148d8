"""torch.version: the torch version that the engine follows, for scripts that check it."""

from __future__ import annotations

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

OWN = "0.1.0"
"""Backstep's own version: that of its package, which a test compares."""
OF_TORCH = "2.13.0"
"""The torch whose names, arguments and messages the engine has."""

__version__ = f"{OF_TORCH}+backstep.{OWN}"
debug = False
git_version = "Unknown"
"""No commit of torch's: what its own build writes where it was not made from one."""
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
