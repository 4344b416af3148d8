"""The recorder of the real torch in programs of several processes: a trace for each, and what they exchange."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import backstep
from engine.trace.events import ErrorRaised, GradSet, LeafCreated, OpCalled, Refreshed
from engine.trace.file.consistency import open_checked
from viz.record.record_command import record
from viz.record.runner import Script
from viz.server.programs import from_file
from viz.server.store import Catalogue

from .test_recorder import assert_is_consistent

pytestmark = pytest.mark.parity
torch: Any = pytest.importorskip("torch")


def test_reducer_of_ddp_is_an_op_that_is_not_seen(tmp_path: Path) -> None:
    distributed = torch.distributed
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        total = torch.ones(2)
        with backstep.record(tmp_path / "run.backstep") as trace:
            net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
            net(torch.ones(4, 3)).sum().backward()
            total.mul_(3)
            distributed.all_reduce(total)
            total.add_(1)
    finally:
        distributed.destroy_process_group()
    assert net.module.weight.grad.tolist() == [[4, 4, 4]] * 2 and total.tolist() == [4, 4]
    ops = [event for event in trace.events if isinstance(event, OpCalled)]
    exchanges = [event for event in ops if event.name == "torch::all_reduce"]
    assert len(exchanges) == 2 and exchanges[0].attrs["processes"] == 1
    assert exchanges[0].attrs["not_seen"] == "DDP replaces the gradient by its mean over all processes"
    written = [trace.value(event.outputs[0].value).array for event in exchanges]
    assert [one.tolist() for one in written if one is not None] == [[4, 4], [[4] * 3] * 2]
    assert ops[-1].name == "add" and any(isinstance(event, Refreshed) for event in trace.events)
    assert not any(isinstance(event, GradSet) for event in trace.events)
    assert_is_consistent(trace)


def test_processes_have_traces_of_their_own_that_are_opened_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in "01":
        monkeypatch.setenv("RANK", rank)
        with backstep.record(tmp_path / "run.backstep"):
            torch.ones(2, requires_grad=True).sum().backward()
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["run.rank0.backstep", "run.rank1.backstep"]
    catalogue = Catalogue()
    first = catalogue.add_together([from_file(file) for file in files])
    assert first.about["beside"] == {"my-run-rank1": "run.rank1.backstep"}
    assert list(catalogue.find("my-run-rank1").about["beside"]) == ["my-run-rank0"]
    assert "beside" not in catalogue.add_together([from_file(files[0])]).about


SPAWNS = """
import torch

def train(rank, factor):
    x = torch.full((2,), float(rank), requires_grad=True)
    (x * factor).sum().backward()
    assert x.grad.tolist() == [factor, factor]
    if rank:
        raise ValueError(f"process {rank} fails")

if __name__ == "__main__":
    started = torch.multiprocessing.spawn(train, (3.0,), nprocs=2, join=False)
    for process in started.processes:
        process.join()  # before torch ends the others because one has failed
    try:
        started.join()
    except Exception as error:
        assert "process 1 fails" in str(error) and "backstep" not in str(error) and "ranks" not in str(error)
        print("failed")
"""


@pytest.mark.newest
def test_spawned_processes_have_traces_that_are_opened_together(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, target = tmp_path / "spawns.py", tmp_path / "spawns.backstep"
    path.write_text(SPAWNS)
    assert record(Script(path), False, target) == 0
    files = [tmp_path / f"spawns.rank{rank}.backstep" for rank in range(2)]
    out, err = capfd.readouterr()
    assert out == "failed\n" and f"backstep open {files[0]} {files[1]}`" in err
    catalogue = Catalogue()
    first = catalogue.add_together([from_file(file) for file in files])
    assert list(first.about["beside"]) == ["my-spawns-rank1"]
    for rank, file in enumerate(files):
        trace = open_checked(file, 100)
        leaf = next(event for event in trace.events if isinstance(event, LeafCreated))
        assert trace.value(leaf.value).sample.tolist() == [rank, rank]
        assert trace.stacks[leaf.stack][-1].file == "spawns.py"
        assert any(isinstance(event, ErrorRaised) for event in trace.events) is (rank == 1)
