"""What tests of scripts share: a small one, and readings of its recording."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.trace.events import ErrorRaised, Trace
from viz.record.runner import RecordedRun

ROOT = Path(__file__).parents[3]
SMALL = "import engine as torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = (x * x).sum()\ny.backward()\n"
Script = Callable[..., tuple[RecordedRun, Trace]]
"""Writes a script and runs it: the fixture `script`."""
Capture = pytest.CaptureFixture[str]


def kinds(trace: Trace) -> list[str]:
    return [type(event).__name__ for event in trace.events]


def raised(trace: Trace) -> ErrorRaised:
    """The error that a trace ends with."""
    last = trace.events[-1]
    assert isinstance(last, ErrorRaised)
    return last


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
