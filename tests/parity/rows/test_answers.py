"""Every row against torch's stored answers, on each device; and the store against torch itself."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.engine.arrays import elsewhere_cupy as elsewhere
from tests.parity.rows.answers import Answer, ask, digest, numbered, stored
from tests.samples import SAMPLES, Sample

ROWS = numbered(SAMPLES)
ANEW = "run `python -m tests.parity.rows.answers`, where torch is installed"


@pytest.fixture(params=["cpu", "elsewhere", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where tensors live: the processor, arrays that behave as cupy's, and a GPU where there is one."""
    if request.param == "elsewhere":
        elsewhere.install(monkeypatch)
        return "cuda"
    if request.param == "cuda" and not engine.cuda.is_available():
        pytest.skip("cupy finds no GPU here")
    return str(request.param)


def same(sample: Sample, found: Answer, expected: Answer) -> None:
    tolerance = 1e-6 if sample.loose else 1e-9  # the last digits of exp, pow or a sum are the library's own
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        if mine is None or theirs is None:  # one of the two knows that it is 0
            rest = theirs if mine is None else mine
            assert rest is None or not rest.any()
            continue
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine.astype("float64"), theirs, rtol=tolerance, atol=tolerance)


def first(row: tuple[str, Sample]) -> str:
    return row[0]


def test_every_row_has_a_stored_answer() -> None:
    answers = stored()
    assert set(answers) == {name for name, _ in ROWS}, ANEW
    assert [name for name, sample in ROWS if answers[name][0] != digest(sample)] == [], ANEW


@batches("name, sample", ROWS, first)
def test_row_gives_torchs_stored_answer(name: str, sample: Sample, device: str) -> None:
    same(sample, ask(sample, engine, device), stored()[name][1])


@batches("name, sample", ROWS, first)
def test_stored_answer_is_torchs(name: str, sample: Sample) -> None:
    torch = pytest.importorskip("torch")
    same(sample, ask(sample, torch), stored()[name][1])
