"""What tests of scripts share: a small one, and readings of its recording."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.trace import Trace

ROOT = Path(__file__).parents[2]
SMALL = "import engine as torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = (x * x).sum()\ny.backward()\n"


def kinds(trace: Trace) -> list[str]:
    return [type(event).__name__ for event in trace.events]


def array(trace: Trace, value: int) -> np.ndarray:
    found = trace.value(value).array
    assert found is not None
    return found


def wait_for(true: Callable[[], object]) -> None:
    """Wait for a state, for at most 30 seconds."""
    pause = threading.Event()
    for _ in range(600):
        if true():
            return
        pause.wait(0.05)
    raise AssertionError("the state never came")
