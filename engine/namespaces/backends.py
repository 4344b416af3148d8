"""torch.backends: switches that scripts set before they train.  They are stored but have no effect here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ..arrays.array import cuda_is_available

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]


__path__: list[str] = []  # a package for import statements: `import torch.backends.cudnn as cudnn`


class _Switches(ModuleType):
    """Attributes that may be read and set; `is_available` and `is_built` say whether such a thing is used."""

    def __init__(self, name: str, available: Any = bool, **switches: Any) -> None:
        super().__init__(f"engine.backends.{name}")
        vars(self).update(switches, is_available=available, is_built=available)
        sys.modules[self.__name__] = self


def _yes() -> bool:
    return True


@contextmanager
def _flags(**switches: Any) -> Iterator[None]:
    """Inside, the switches of cudnn are as given: `with torch.backends.cudnn.flags(enabled=False)`."""
    before = dict(vars(cudnn))
    vars(cudnn).update({"enabled": False, "benchmark": False, "deterministic": False, "allow_tf32": True, **switches})
    try:
        yield
    finally:
        vars(cudnn).update(before)


cudnn = _Switches(
    "cudnn",
    flags=_flags,
    enabled=True,
    benchmark=False,
    deterministic=False,
    allow_tf32=True,
    benchmark_limit=10,
    version=lambda: None,
)
mps = _Switches("mps")
mkl = _Switches("mkl", _yes)
mkldnn = _Switches("mkldnn", _yes, enabled=True)
openmp = _Switches("openmp", _yes)
cuda = _Switches(
    "cuda",
    cuda_is_available,
    matmul=_Switches(
        "cuda.matmul",
        allow_tf32=False,
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
    ),
    enable_flash_sdp=lambda enabled: None,
    enable_math_sdp=lambda enabled: None,
    enable_mem_efficient_sdp=lambda enabled: None,
    flash_sdp_enabled=_yes,
    math_sdp_enabled=_yes,
    mem_efficient_sdp_enabled=_yes,
)
