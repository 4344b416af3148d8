"""PyTorch as the oracle of whole programs."""

from __future__ import annotations

import importlib.util
import os

import pytest


@pytest.fixture
def oracle() -> None:
    """A test that uses this needs PyTorch: without it, it is skipped, and in CI it fails."""
    if importlib.util.find_spec("torch") is not None:
        return
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail("the parity tests need torch; in CI they may not be left out: pip install torch")
    pytest.skip("torch is not installed")
