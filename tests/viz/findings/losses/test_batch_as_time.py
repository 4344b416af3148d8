"""Recurrent layers that read the batch as time, and those that are used as they were created."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.helpers.recordings import recorded_here
from viz.findings.losses.batch_as_time import batches_as_time
from viz.reading.facts import collect

from ...helpers.traces import recorded

PROGRAM = """\
import engine as torch
from engine import nn
torch.manual_seed(0)
rnn, head = nn.{layer}, nn.Linear(4, 2)
x, y = torch.randn({shape}, 3), torch.zeros(6, dtype=torch.long)
out, _ = rnn(x)
scores = head(nn.functional.dropout({last}))
nn.functional.cross_entropy(scores, y[:len(scores)]).backward()
"""
AS_IT_IS = {"layer": "LSTM(3, 4)", "shape": "6, 5", "last": "out[:, -1]"}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"layer": "GRU(3, 2, num_layers=2, bidirectional=True)", "last": "out[:, -1, :]"},
        {"layer": "RNN(3, 4)", "last": "out[:, 4].relu()"},
    ],
)
def test_the_last_sequence_of_a_batch_with_a_target_for_each_step_is_found(
    tmp_path: Path, change: dict[str, str]
) -> None:
    (finding,) = batches_as_time(collect(recorded(PROGRAM.format(**AS_IT_IS | change), tmp_path)))
    assert finding.kind == "batch-as-time" and finding.label == "rnn reads the batch as time" and finding.line == 7
    assert "it reads 5 sequences of 6 steps. `out[:, " in finding.why
    assert finding.fix.startswith("Create rnn with batch_first=True, as in nn.")


@pytest.mark.parametrize(
    "change",
    [
        {"layer": "LSTM(3, 4, batch_first=True)"},
        {"layer": "GRU(3, 4, batch_first=True)"},
        {"shape": "5, 6", "last": "out[-1]"},
        {"shape": "5, 6", "last": "out.transpose(0, 1)[:, -1]"},
        {"shape": "6, 1"},  # one sequence
        {"last": "out[:, 2]"},
        {"last": "out[:, -1] + out[:, 0]"},
        {"last": "out.mean(1)"},
        {"last": "out[:, -1].mean(0, keepdim=True)"},  # no target for each row
    ],
)
def test_other_uses_of_the_output_are_not_reported(tmp_path: Path, change: dict[str, str]) -> None:
    assert batches_as_time(collect(recorded(PROGRAM.format(**AS_IT_IS | change), tmp_path))) == []


@pytest.mark.parity
@pytest.mark.parametrize(("arguments", "count"), [("3, 4", 1), ("3, 4, batch_first=True", 0)])
def test_a_layer_of_pytorch_is_found_alike(tmp_path: Path, arguments: str, count: int) -> None:
    pytest.importorskip("torch")
    source = PROGRAM.format(**AS_IT_IS | {"layer": f"LSTM({arguments})"}).replace("engine", "torch")
    assert len(batches_as_time(collect(recorded_here(source, tmp_path)))) == count
