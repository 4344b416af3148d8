"""Rare uses beside torch: whole programs, of which the values, or the first sentence of the error, are the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from tests.engine.tables import first_line

Program = Callable[[Any], Any]


def outcome(program: Program, library: Any) -> Any:
    """The tensors that a program makes, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return program(library)
        except Exception as error:  # noqa: BLE001 - which one is what the tests are about
            return error


def assert_same(program: Program) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(program, engine), outcome(program, torch)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert first_line(ours) == first_line(theirs)
        return
    for mine, other in zip(ours, theirs, strict=True):
        assert (tuple(mine.shape), str(mine.dtype)) == (tuple(other.shape), str(other.dtype))
        np.testing.assert_allclose(mine.tolist(), other.tolist(), rtol=1e-5, atol=1e-6)


def activated(name: str, *arguments: Any) -> Program:
    """An activation written into its input, and the gradient through it."""

    def program(t: Any) -> list[Any]:
        x = t.tensor([-2.0, 2.0], requires_grad=True)
        y = getattr(t.nn.functional, name)(x * 1, *arguments)
        y.sum().backward()
        return [y, x.grad]

    return program


SLOPES = {
    "elu_ -0.5": activated("elu_", -0.5),
    "elu_ 0": activated("elu_", 0.0),
    "celu_ -0.5": activated("celu_", -0.5),
    "leaky_relu_ -0.5": activated("leaky_relu_", -0.5),
    "leaky_relu_ 0": activated("leaky_relu_", 0.0),
    "leaky_relu_ 0.5": activated("leaky_relu_", 0.5),
    "leaky_relu -0.5": activated("leaky_relu", -0.5),
    "rrelu_ -0.5": activated("rrelu_", -0.5, -0.5, False),
    "rrelu_ -0.5 in training": activated("rrelu_", -0.5, -0.5, True),
    "rrelu_ 0.5 in training": activated("rrelu_", 0.5, 0.5, True),
}


@pytest.mark.parametrize("program", SLOPES.values(), ids=SLOPES)
def test_slope_below_0_written_in_place_has_torchs_gradient_or_error(program: Program) -> None:
    assert_same(program)
