"""Rows of engine/ops/activation.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, Sample, begin, positive, real, unit

begin()


def _f(name: str, inputs: tuple[object, ...], call: str, kink: bool = False, **statics: object) -> Sample:
    """A function of nn.functional."""
    return Sample(name, inputs, statics, f"torch.nn.functional.{call}", kink=kink)


KINKS = np.array([-3.0, -1.0, 0.0, 0.5, 1.0, 3.0, 6.0, -0.5])
NOISE = np.array([[1.0, 0.2, 1.0], [0.3, 0.25, 1.0]])

ROWS = [
    _f("hardtanh", (2 * real(2, 3),), "hardtanh(x, -0.9, 1.1)", min_val=-0.9, max_val=1.1),
    _f("hardtanh", (KINKS,), "relu6(x)", kink=True, min_val=0.0, max_val=6.0),
    _f("leaky_relu", (real(2, 3),), "leaky_relu(x, 0.2)", negative_slope=0.2),
    _f("leaky_relu", (KINKS,), "leaky_relu(x)", kink=True),
    _f("leaky_relu_", (real(2, 3),), "leaky_relu_(x.clone(), 0.2)", negative_slope=0.2),
    _f("_prelu_kernel", (real(2, 3), positive(3)), "prelu(x, y)"),
    _f("_prelu_kernel", (real(2, 3), positive(1)), "prelu(x, y)"),
    _f("rrelu_with_noise", (real(2, 3), None), "rrelu(x)"),
    Sample(
        "rrelu_with_noise",
        (np.where(NOISE == 1, 1.0, -1.0) * positive(2, 3), NOISE),
        {"training": True},
        reason="random",
    ),
    _f("rrelu_with_noise_", (real(2, 3), None), "rrelu_(x.clone())"),
    _f("threshold", (real(2, 3),), "threshold(x, 0.1, 2.0)", threshold=0.1, value=2.0),
    _f("threshold", (KINKS,), "threshold(x, 0.5, 2.0)", kink=True, threshold=0.5, value=2.0),
    _f("threshold_", (real(2, 3),), "threshold_(x.clone(), 0.1, 0.05)", threshold=0.1, value=0.05),
    Sample("hardsigmoid", (2.1 * real(2, 3),), reason="torch has no second derivative of it"),
    _f("hardswish", (2.1 * real(2, 3),), "hardswish(x)"),
    _f("hardswish", (KINKS,), "hardswish(x)", kink=True),
    _f("hardshrink", (real(2, 3),), "hardshrink(x, 0.9)", lambd=0.9),
    _f("hardshrink", (KINKS,), "hardshrink(x)", kink=True),
    _f("softshrink", (real(2, 3),), "softshrink(x, 0.9)", lambd=0.9),
    _f("softshrink", (KINKS,), "softshrink(x)", kink=True),
    _f("elu", (real(2, 3),), "elu(x, 1.5)", alpha=1.5),
    _f("elu", (np.array([800.0, -800.0, 1.0]),), "elu(x)", kink=True),
    _f("elu", (KINKS,), "selu(x)", kink=True, alpha=1.6732632423543772, scale=1.0507009873554805),
    _f("elu_", (real(2, 3),), "elu_(x.clone(), 1.5)", alpha=1.5),
    _f("celu", (real(2, 3),), "celu(x, 2.0)", alpha=2.0),
    _f("celu_", (real(2, 3),), "celu_(x.clone(), 2.0)", alpha=2.0),
    _f("gelu", (2 * real(2, 3),), "gelu(x)"),
    _f("gelu", (2 * real(2, 3),), "gelu(x, approximate='tanh')", approximate="tanh"),
    Sample("gelu_slope", (real(2, 3),), reason=INNER),
    _f("silu", (2 * real(2, 3),), "silu(x)"),
    _f("mish", (2 * real(2, 3),), "mish(x)"),
    _f("log_sigmoid", (2 * real(2, 3),), "logsigmoid(x)"),
    _f("log_sigmoid", (np.array([800.0, -800.0]),), "logsigmoid(x)", kink=True),
    _f("glu", (unit(2, 4),), "glu(x)", dim=1),
    _f("glu", (unit(4, 3),), "glu(x, 0)", dim=0),
]
