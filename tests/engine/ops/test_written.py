"""A result that is computed straight into the written tensor equals that of the op's kernel, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine.ops.inplace import INTO, fits_into
from engine.ops.op import REGISTRY

ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "mul": [(0,), (2.5,), (-1,)],
    "add": [(0,), (2.5,)],
    "sub": [(0,), (2.5,)],
    "div": [(0,), (2.5,)],
    "add.alpha": [(0, {"alpha": 0.3}), (0, {"alpha": -2})],
    "sub.alpha": [(0, {"alpha": 0.3})],
    "addcmul": [(0, 1, {"value": 0.3}), (0, 1, {"value": 1})],
    "addcdiv": [(0, 1, {"value": -0.3}), (0, 1, {"value": 1})],
    "lerp.Scalar": [(0, {"weight": 0.3}), (0, {"weight": 0.7}), (0, {"weight": -0.6})],
}
"""Per op its arguments: a number of one of two arrays, or a number as it is where it is no such."""


def test_table_is_tried_whole() -> None:
    assert set(ARGUMENTS) == set(INTO) and set(INTO) <= set(REGISTRY)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", INTO)
def test_written_result_is_the_kernels(name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    for given in ARGUMENTS[name]:
        target, *others = (rng.standard_normal((4, 5)).astype(dtype) for _ in range(3))
        statics = given[-1] if isinstance(given[-1], dict) else {}
        inputs = [others[a] if type(a) is int and 0 <= a < 2 else a for a in given if not isinstance(a, dict)]
        expected = REGISTRY[name].kernel(target, *inputs, **statics)
        written = target.copy()
        assert fits_into([written, *inputs])
        INTO[name](written, *inputs, **statics)
        assert written.dtype == expected.dtype
        assert written.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["mul_", "add_", "addcmul_", "lerp_"])
def test_tensor_that_is_its_own_argument_is_written_right(name: str) -> None:
    data = np.arange(9.0).reshape(3, 3) + 1
    x = engine.from_numpy(data.copy())
    other = {"addcmul_": (x, x), "lerp_": (x, 0.25)}.get(name, (x,))
    expected = {"mul_": data * data, "add_": data + data, "addcmul_": data + data * data, "lerp_": data}[name]
    getattr(x, name)(*other)
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize("name", ["mul_", "add_", "copy_", "addcmul_", "lerp_"])
def test_argument_that_lies_partly_in_what_is_written_is_refused(name: str) -> None:
    x = engine.arange(9.0).view(3, 3)
    y = engine.arange(9.0)
    for target, other in ((x, x.T), (y[1:], y[:-1]), (y[:-1], y[1:])):
        more = {"addcmul_": (other, target), "lerp_": (other, 0.25)}.get(name, (other,))
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to"):
            getattr(target, name)(*more)
    np.testing.assert_array_equal(y.numpy(), np.arange(9.0))
    y[:4].add_(y[5:])  # apart
    np.testing.assert_array_equal(y.numpy()[:4], [5, 7, 9, 11])


def test_what_does_not_fit_takes_the_longer_way() -> None:
    single, double = np.ones((2, 2), "float32"), np.ones((2, 2))
    assert not fits_into([single, double])
    assert not fits_into([single, np.ones(2, "float32")])
    assert not fits_into([np.ones((2, 2), "int64"), 2])
    assert not fits_into([single, True])
