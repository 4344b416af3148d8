"""Scripts as people write them: each prints with the engine what it prints with PyTorch, where that is installed, and
a replay of its recording is the recording.

The scripts stand in `scripts/`; where they need numbers they take them from numpy, for the random streams differ.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import engine
from engine.replay.replay import replay
from tests.fresh import canonical

SCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))
ADDRESS = re.compile(r" object at 0x[0-9a-f]+")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
FROM_NUMPY = (RuntimeWarning, DeprecationWarning)
"""inf and nan are results, as in torch; torch's `__array__` is older than numpy's protocol."""


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) >= 45


def as_engine(source: str) -> str:
    """The script with the engine under torch's name."""
    source = re.sub(r"^import torch$", "import engine as torch", source, flags=re.MULTILINE)
    return re.sub(r"^(import|from) torch\b(?=[. ])", r"\1 engine", source, flags=re.MULTILINE)


def printed(source: str, path: Path) -> tuple[str, list[str]]:
    """What a script prints, and the first sentences of its warnings."""
    told = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(told):
        warnings.simplefilter("always")
        exec(compile(source, str(path), "exec"), {"__name__": "__main__", "__file__": str(path)})
    heard = [f"{w.category.__name__}: {str(w.message).split('. ')[0]}" for w in caught if w.category not in FROM_NUMPY]
    return ADDRESS.sub(" object", told.getvalue()), heard


def words(text: str) -> list[str]:
    """The text without numbers and the spaces that align them."""
    return NUMBER.sub("#", text).replace("[ ", "[").split()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_prints_as_with_torch_and_replays_as_recorded(script: Path, tmp_path: Path) -> None:
    source, path = script.read_text("utf-8"), tmp_path / f"{script.stem}.py"
    path.write_text(as_engine(source), "utf-8")  # a file as a user's, whose text the recording has
    with engine.record() as trace:
        ours, warned_here = printed(as_engine(source), path)
    if find_spec("torch"):
        theirs, warned = printed(source, path)
        assert words(ours) == words(theirs)
        found, wanted = ([float(n) for n in NUMBER.findall(text)] for text in (ours, theirs))
        # up to the last digit printed: sums have other orders
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-4)
        assert warned_here == warned
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a replay gives again the warnings that the script gave
        again = replay(trace)
    events, repeated = canonical(trace, path.name), canonical(again, path.name)
    assert again.meta["doubt"] is None
    assert repeated == events
