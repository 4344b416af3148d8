"""torch.backends: switches that scripts set before they train.  They are kept, and change nothing here."""

from __future__ import annotations

from typing import Any

from .array import cuda_is_available

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]


class _Switches:
    """Attributes that may be read and set; `is_available` and `is_built` say whether such a thing is used."""

    def __init__(self, available: Any = bool, **switches: Any) -> None:
        self.is_available = self.is_built = available
        vars(self).update(switches)


def _yes() -> bool:
    return True


cudnn = _Switches(
    enabled=True, benchmark=False, deterministic=False, allow_tf32=True, benchmark_limit=10, version=lambda: None
)
mps = _Switches()
mkl = _Switches(_yes)
mkldnn = _Switches(_yes, enabled=True)
openmp = _Switches(_yes)
cuda = _Switches(
    cuda_is_available,
    matmul=_Switches(
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
