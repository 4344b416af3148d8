"""detect_anomaly: which op made nan, and where it was called."""

from __future__ import annotations

import warnings

import pytest

import engine
from tests.parity.helpers.outcomes import both


def test_anomaly_detection_names_the_op_and_the_line() -> None:
    texts = []
    for library in both():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with library.autograd.detect_anomaly():
                x = library.zeros(1, requires_grad=True)
                y = library.sqrt(x) * 0
                with pytest.raises(RuntimeError) as raised:
                    y.backward()
        texts.append((str(raised.value), [str(w.message).splitlines()[0] for w in told]))
        assert "y = library.sqrt(x) * 0" in str(told[-1].message)
    assert texts[0] == texts[1]
    (engine.sqrt(engine.zeros(1, requires_grad=True)) * 0).backward()  # off again: nan passes


@pytest.mark.filterwarnings("ignore:Error detected in")
def test_a_saved_tensor_that_was_written_is_refused_in_other_words_while_anomalies_are_looked_for() -> None:
    texts = []
    for library in both():
        x = library.ones(2, requires_grad=True)
        y = x * 1
        z = y * y
        y += 1
        refused = []
        for looked_for in (True, False):
            with library.autograd.set_detect_anomaly(looked_for):
                for ask in (lambda z=z: z.grad_fn._saved_self, z.sum().backward):
                    with pytest.raises(RuntimeError) as raised:
                        ask()
                    refused.append(str(raised.value))
        texts.append(refused)
    assert texts[0] == texts[1] and len(set(texts[0])) == 2
