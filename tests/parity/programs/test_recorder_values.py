"""Values of tensors on a GPU, which arrive later; here a CPU stands for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.trace.log_reader import value_of
from engine.trace.summary import sample_of, statistics

pytestmark = pytest.mark.parity
torch: Any = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "elements",
    [np.arange(-500.0, 500.0, dtype="float32"), np.array([np.nan, 1, -np.inf, 0, -0.0, 7], "float64"),
     np.array([np.nan, np.inf], "float32"), np.arange(300, dtype="int64"), np.array([True, False, True])],
)  # fmt: skip
def test_statistics_on_a_device_are_those_on_the_cpu_and_wait_for_it(
    elements: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from viz.record.torch import device_values

    steps: list[str] = []

    class Event:
        def record(self, stream: str) -> None:
            steps.append(f"recorded on {stream}")

        def synchronize(self) -> None:
            steps.append("waits")

    stands = SimpleNamespace(Event=Event, current_stream=lambda device: f"the stream of {device}")
    monkeypatch.setattr(torch, "cuda", stands)
    monkeypatch.setattr(device_values, "fetch", lambda tensor: tensor.clone())
    kept = device_values.summary(torch.from_numpy(elements), elements.dtype, elements.size)
    assert steps == ["recorded on the stream of cpu"]
    value = value_of(kept)
    assert steps[1:] and set(steps[1:]) == {"waits"}
    expected = statistics(elements)
    assert {name: value.stats[name] for name in expected} == pytest.approx(expected, rel=1e-6)
    np.testing.assert_array_equal(value.sample, sample_of(elements))
