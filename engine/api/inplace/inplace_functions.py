"""Functions of torch that write their argument: `torch.exp_(x)` is `x.exp_()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tensor.tensor import Tensor
from ..calls.check import need_tensor
from ..calls.examples import ONE, with_example

NAMES = (
    "abs_", "acos_", "acosh_", "arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_", "arctanh_", "asin_", "asinh_",
    "atan_", "atanh_", "ceil_", "clamp_", "clamp_max_", "clamp_min_", "clip_", "cos_", "cosh_", "deg2rad_", "detach_",
    "erf_", "erfc_", "exp2_", "exp_", "expm1_", "fill_", "fix_", "floor_", "frac_", "gcd_", "i0_", "lcm_", "ldexp_",
    "log10_", "log1p_", "log2_", "log_", "logit_", "nan_to_num_", "neg_", "negative_", "rad2deg_", "reciprocal_",
    "round_", "rsqrt_", "sigmoid_", "sin_", "sinc_", "sinh_", "sqrt_", "square_", "tan_", "tanh_", "trunc_", "xlogy_",
    "zero_",
)  # fmt: skip
__all__ = list(NAMES)
BROADCAST = ("clamp_", "clamp_max_", "clamp_min_", "clip_", "gcd_", "lcm_", "ldexp_", "xlogy_")
"""Those of several tensors, of which the first keeps its shape."""
WRITTEN_TWO = "Shapes: (*), (*') -> (*).  Raises RuntimeError where (*') does not broadcast to (*)."


def _writer(name: str) -> Callable[..., Tensor]:
    plain = name.removesuffix("_")

    def function(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        need_tensor(input, name)
        result: Tensor = getattr(input, name)(*args, **kwargs)
        return result

    function.__name__ = function.__qualname__ = name
    text = WRITTEN_TWO if name in BROADCAST else ONE
    function.__doc__ = with_example(f"`input.{name}()`: {plain}, written into the tensor.", name, plain, text)
    return function


globals().update({name: _writer(name) for name in NAMES})
