"""What a user is told: each error and warning in torch's words, held beside torch and, where that is not installed, as
stored.  The texts were written by torch 2.13.
"""

from __future__ import annotations

from typing import Any

import pytest

import engine
from tests.parity.autograd import messages_of_backward, messages_of_tensors
from tests.parity.helpers.outcomes import first_sentences, outcome, program

ROWS = [*messages_of_backward.ROWS, *messages_of_tensors.ROWS]


@pytest.mark.parametrize(("name", "source", "told"), ROWS, ids=[row[0] for row in ROWS])
def test_message_is_the_stored_one(name: str, source: str, told: tuple[str, ...]) -> None:
    assert first_sentences(outcome(program(source), engine)) == told


@pytest.mark.parity
@pytest.mark.parametrize(("name", "source", "told"), ROWS, ids=[row[0] for row in ROWS])
def test_stored_message_is_torchs(name: str, source: str, told: tuple[str, ...]) -> None:
    torch: Any = pytest.importorskip("torch")
    torch.set_warn_always(True)
    assert first_sentences(outcome(program(source), torch)) == told
