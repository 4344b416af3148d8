"""The recorder of the real torch in programs with several threads: one of them is recorded at a time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from engine.arrays.session import slot
from engine.trace.events import Accumulated, GroupEntered, LeafCreated, OpCalled, Trace, VjpRun, WarningGiven
from viz.record.block import Block

from .test_recorder import assert_is_consistent

pytestmark = pytest.mark.parity
torch: Any = pytest.importorskip("torch")


named = torch.nn.Linear(3, 1)


def in_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work, name="worker")
    thread.start()
    thread.join()


def counted(trace: Trace, *kinds: type) -> list[int]:
    return [sum(type(event) is kind for event in trace.events) for kind in kinds]


def test_training_loop_in_a_thread_is_recorded_as_in_the_main_one() -> None:
    def train() -> None:
        torch.manual_seed(0)
        named(torch.ones(3))
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.ones(2, 3)).sum().backward()
            optimizer.step()

    x = torch.ones(2, requires_grad=True)
    with Block() as alone:
        y = (x * 2).exp()
        train()
        (y * 3).sum().backward()
    begin = vars(threading.Thread)["_bootstrap_inner"]
    with Block() as trace:
        y = (x * 2).exp()
        in_thread(train)
        in_thread((y * 3).sum().backward)
    assert vars(threading.Thread)["_bootstrap_inner"] is begin and not torch._C._len_torch_dispatch_stack()
    kinds = OpCalled, VjpRun, Accumulated, GroupEntered, WarningGiven
    assert counted(trace, *kinds) == counted(alone, *kinds) and counted(trace, VjpRun) != [0]
    assert "named.weight" in trace.names.values()
    assert_is_consistent(trace)


def test_threads_that_run_at_the_same_time_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    w = torch.ones(2, requires_grad=True)
    results = []

    def work() -> None:
        y = w * 2
        y.sum().backward()
        results.append(w * 5)

    class Waits(torch.nn.Module):  # type: ignore[misc]  # mypy sees nothing of torch
        def forward(self, x: Any) -> Any:
            in_thread(work)
            return x * 3

    with Block() as trace:
        Waits()(w).sum().backward()
        (results[0] * 7).sum().backward()
    assert w.grad.tolist() == [2 + 3 + 35] * 2
    said = [event.message for event in trace.events if isinstance(event, WarningGiven)]
    assert said == ["The thread worker runs while another one is recorded: its computations are not recorded."]
    assert said[0] in capsys.readouterr().err
    ops = [event.name for event in trace.events if isinstance(event, OpCalled)]
    assert ops == ["mul", "sum", "torch::MulBackward0", "mul", "sum"]
    assert_is_consistent(trace)


def test_of_threads_that_train_at_the_same_time_one_is_recorded_whole() -> None:
    w, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    begun, tried = threading.Event(), list[bool]()

    def first() -> None:
        (w * 2).sum().backward()
        begun.set()
        while not tried:
            pass
        (w * 3).sum().backward()

    def second() -> None:
        begun.wait()
        (other * 5).sum().backward()
        tried.append(True)

    with Block() as trace:
        threads = [threading.Thread(target=work) for work in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (other * 7).sum().backward()
    assert w.grad.tolist() == [5, 5] and other.grad.tolist() == [12, 12]
    assert counted(trace, OpCalled, Accumulated, WarningGiven) == [6, 3, 1]
    assert_is_consistent(trace)


def test_thread_that_begins_while_torch_is_as_it_was_is_recorded() -> None:
    w = torch.ones(2, requires_grad=True)
    go_on = threading.Event()

    def work() -> None:
        go_on.wait()
        (w * 3).sum().backward()

    with Block() as trace:
        thread = threading.Thread(target=work)
        with slot.active.settle.__self__.unwatched():  # as for a compiler's import
            thread.start()
        go_on.set()
        thread.join()
    assert counted(trace, OpCalled, Accumulated) == [2, 1]
    assert_is_consistent(trace)


def test_thread_from_before_the_recording_is_named() -> None:
    w = torch.ones(2, requires_grad=True)
    go_on = threading.Event()

    def work() -> None:
        go_on.wait()
        torch.nn.Linear(2, 1)(w).sum().backward()

    thread = threading.Thread(target=work, name="early")
    thread.start()
    with Block() as trace:
        go_on.set()
        thread.join()
    assert counted(trace, OpCalled, GroupEntered, Accumulated) == [0, 0, 0]
    said = [event.message for event in trace.events if isinstance(event, WarningGiven)]
    assert said == ["The thread early began before the recording: its computations are not recorded."]


def test_thread_that_waits_gives_way() -> None:
    w = torch.ones(2, requires_grad=True)
    done, go_on = threading.Event(), threading.Event()

    def first() -> None:
        (w * 2).sum().backward()
        done.set()
        go_on.wait()

    with Block() as trace:
        thread = threading.Thread(target=first)
        thread.start()
        done.wait()
        while sys._current_frames()[thread.ident or 0].f_globals["__name__"] != "threading":
            pass
        in_thread((w * 3).sum().backward)
        go_on.set()
        thread.join()
    assert counted(trace, OpCalled, Accumulated, WarningGiven) == [4, 2, 0]
    assert_is_consistent(trace)


def test_thread_that_loads_data_does_not_take_over() -> None:
    batches: list[Any] = []
    with Block() as trace:
        x = torch.ones(2, requires_grad=True)
        in_thread(lambda: batches.append(torch.arange(2.0) * 2))
        (x * batches[0]).sum().backward()
    assert counted(trace, OpCalled, LeafCreated, WarningGiven) == [2, 2, 0] and x.grad.tolist() == [0, 2]
