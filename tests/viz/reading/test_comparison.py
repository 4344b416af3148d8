"""Two recordings of one program are compared step by step.  Both are the engine's here; tests/parity has PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from engine.trace.events import Trace
from viz.reading.comparison import Comparison, compared

NAMES = "the engine", "PyTorch"


def run(x: list[float], function: Any, retain: bool = False, dtype: Any = None) -> Trace:
    with engine.record() as trace:
        w = engine.tensor(x, requires_grad=True, dtype=dtype)
        y = function(w).sum()
        y.backward()
        if retain:
            y.backward()
    return trace


def found(one: Trace, other: Trace) -> Comparison:
    return compared(one, other, NAMES)


def square(x: Any) -> Any:
    return x * x


def test_same_recordings_are_equal_to_the_last_bit() -> None:
    first = run([1.0, 2.0], square)
    assert found(first, run([1.0, 2.0], square)).text == (
        "the engine and PyTorch do the same: 2 forward ops and 2 VJPs in the same order, "
        "with numbers that are equal to the last bit."
    )


def test_rounding_is_measured_and_no_difference() -> None:
    same = found(run([0.1, 2.7], lambda x: x * 3 * x), run([0.1, 2.7], lambda x: x * (1 + 2**-22) * 3 * x))
    assert same.first is not None  # another op
    near = found(run([0.3], lambda x: x.exp() * 0.1), run([0.3], lambda x: x.exp() * (0.1 + 1e-8)))
    assert near.first is None and 0 < near.worst < 1e-6 and "equal to" in near.text


def test_rounding_may_grow_and_is_measured() -> None:
    def apart(near: float) -> Comparison:
        """Recordings whose second step takes away the digits that are the same in both."""
        first, second = (run([0.3], lambda x, c=c: x * c - near) for c in (1.0, 1 + 1e-7))
        return found(first, second)

    assert apart(0.299).first is None and 1e-5 < apart(0.299).worst < 1e-3
    assert apart(0.29999).first is not None


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            run([2.0, 2.0], lambda x: x * 2),
            "the gradient of other is a tensor on the engine and None on PyTorch.",
        ),
        (run([2.0, 2.0], lambda x: x + x), "the engine has the op mul (MulBackward0) in line "),
        (run([2.0, 2.0], lambda x: x * x * 1.5), "the engine has the op sum (SumBackward0) in line "),
        (run([2.0, 2.0], square, dtype=engine.float64), "the result is float32 and float64."),
    ],
)
def test_first_difference_is_described(other: Trace, said: str) -> None:
    difference = found(run([2.0, 2.0], square), other).first
    assert difference is not None and said in difference.text


def test_recording_that_goes_on_differs_where_the_other_ends() -> None:
    with pytest.raises(RuntimeError):
        run([1.0], square, retain=True)
    whole, part = run([1.0], lambda x: x + 1, retain=True), run([1.0], lambda x: x + 1)
    difference = found(whole, part).first
    assert difference is not None and "the engine goes on with a call of backward" in difference.text
    assert difference.events[1] is None and "PyTorch has ended" in difference.text


def test_numbers_are_not_compared_where_a_leaf_begins_with_others() -> None:
    drawn = found(run([1.0, 2.0], square), run([1.5, 2.0], square))
    assert (drawn.first, drawn.random_leaf) == (None, "w") and "w starts with different values" in drawn.text
