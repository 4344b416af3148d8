"""The promises of record(): recordings within recordings, and traces without data about the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import engine
from engine.replay.replay import replay
from engine.trace import summary
from engine.trace.events import ErrorRaised, LeafCreated, OpCalled, Refreshed, VjpRun
from engine.trace.value_store import ValueStore


def ops(trace: engine.Trace) -> list[str]:
    return [event.name for event in trace.events if isinstance(event, OpCalled)]


def test_a_recording_within_one_is_its_part_up_to_the_end_of_the_block() -> None:
    with engine.record() as outer:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        with engine.record() as inner:
            z = (y * 2).sum()
            z.backward()
            with pytest.raises(RuntimeError, match="still runs"):
                inner.events  # noqa: B018 asking is what is tested
        x.detach().mul_(3)
        y.sin()
    assert ops(inner)[:3] == ["exp", "mul", "sum"] and "sin" not in ops(inner) and "sin" in ops(outer)
    assert list(inner.events) == list(outer.events)[: len(inner.events)]
    kept = inner.values[0].array
    assert kept is not None and kept.tolist() == [1.0, 2.0]


def test_an_exception_that_an_inner_recording_lets_through_is_recorded_once() -> None:
    traces = []

    def program() -> None:
        with engine.record() as outer:
            traces.append(outer)
            with engine.record() as inner:
                traces.append(inner)
                raise KeyError("gone")

    with pytest.raises(KeyError):
        program()
    assert [[type(event) for event in trace.events] for trace in traces] == [[ErrorRaised], [ErrorRaised]]


def test_the_texts_of_an_error_name_no_folder_of_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import engine\nengine.ones(2).exp()\nopen(__file__ + '.missing')\n", encoding="utf-8")
    code = compile(path.read_text("utf-8"), str(path), "exec")
    with pytest.raises(FileNotFoundError), engine.record() as trace:
        exec(code, {"__file__": str(path)})
    error = trace.events[-1]
    assert isinstance(error, ErrorRaised)
    assert str(tmp_path) not in error.message + error.traceback and "program.py" in error.traceback


BY_HAND = """
import engine as torch
w = torch.tensor([1.0, -1.0], requires_grad=True)
for _ in range(3):
    ((w * 2 - 3) ** 2).sum().backward()
    UPDATE
    w.grad = None
"""


@pytest.mark.parametrize(
    "update", ["w.data = w.data - 0.1 * w.grad", "w.data -= 0.1 * w.grad", "w.data.add_(w.grad, alpha=-0.1)"]
)
def test_a_write_through_data_is_told_and_replayed(update: str) -> None:
    with engine.record() as trace:
        exec(compile(BY_HAND.replace("UPDATE", update), "by_hand.py", "exec"), {})
    first = trace.events[0]
    assert isinstance(first, LeafCreated)
    assert all((e.name == "copy") == (update[7] == "=") for e in trace.events if isinstance(e, OpCalled) and e.inplace)
    products = [e for e in trace.events if isinstance(e, OpCalled) and e.name == "mul" and e.inputs[1].scalar == 2]
    held = {(e.tensor, e.version): e.value for e in trace.events if isinstance(e, (LeafCreated, Refreshed))}
    assert len(products) == 3
    for product in products:
        given, out = product.inputs[0], trace.value(product.outputs[0].value).array
        assert given.tensor is not None and out is not None
        value = trace.value(held[given.tensor, given.version]).array
        assert value is not None and (value * 2).tolist() == out.tolist()
    again = replay(trace)
    assert list(again.events) == list(trace.events)
    for ours, theirs in zip(again.values, trace.values, strict=True):
        assert ours.array is not None and theirs.array is not None and ours.array.tobytes() == theirs.array.tobytes()


def test_data_changes_no_version_that_history_looks_at() -> None:
    with engine.record():
        x = engine.tensor([2.0], requires_grad=True)
        y = x * x
        x.data.mul_(10)
        assert x._version == 0
        y.backward()
    assert x.grad is not None and x.grad.tolist() == [40.0]


def test_a_write_through_numpy_leaves_the_past_as_it_was_and_is_found_when_the_tensor_is_used() -> None:
    data = np.ones(2, dtype="float32")
    with engine.record() as trace:
        x = engine.from_numpy(data)
        x * 2
        data[0] = 5
        x * 3
        y = x + 1
        y.numpy()[1] = 9
        y * 1
    held = {
        (e.tensor, e.version): trace.value(e.value).array
        for e in trace.events
        if isinstance(e, (LeafCreated, Refreshed))
    }
    assert [held[0, version].tolist() for version in (0, 1)] == [[1, 1], [5, 1]]
    ops = [e for e in trace.events if isinstance(e, OpCalled)]
    assert [op.inputs[0].version for op in ops] == [0, 1, 1, 1]
    assert [trace.value(op.outputs[0].value).array.tolist() for op in ops] == [[2, 2], [15, 3], [6, 2], [6, 9]]
    again = replay(trace)
    assert list(again.events) == list(trace.events)


def test_grad_records_only_what_it_was_asked_for() -> None:
    w = engine.tensor([1.0, 2.0], requires_grad=True)
    x = engine.tensor([3.0, 4.0], requires_grad=True)
    with engine.record() as trace:
        engine.autograd.grad((w * x).sum(), x)
    product = [event for event in trace.events if isinstance(event, VjpRun)][-1]
    assert [cotangent is None for cotangent in product.cotangents] == [True, False]


def spread_by_grad(x: engine.Tensor, b: engine.Tensor) -> None:
    engine.autograd.grad((x + b).sum(), (x, b))


def spread_with_a_graph(x: engine.Tensor, b: engine.Tensor) -> None:
    (x + b).sum().backward(create_graph=True)


def spread_past_a_hook(x: engine.Tensor, b: engine.Tensor) -> None:
    made = x + b
    made.register_hook(lambda gradient: None)
    made.sum().backward()


@pytest.mark.parametrize("run", [spread_by_grad, spread_with_a_graph, spread_past_a_hook])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_cotangent_is_recorded_as_it_is_handed_on_and_as_it_was_before_it_was_summed(
    run: Callable[[engine.Tensor, engine.Tensor], None],
) -> None:
    x = engine.ones(2, 3, requires_grad=True)
    b = engine.ones(3, requires_grad=True)
    with engine.record() as trace:
        run(x, b)
    sum_, added = [event for event in trace.events if isinstance(event, VjpRun)][:2]
    assert [trace.value(index).shape for index in added.cotangents] == [(2, 3), (3,)]
    assert [None if index is None else trace.value(index).shape for index in added.unsummed] == [None, (2, 3)]
    assert sum_.unsummed == (None,)


class WithText(engine.autograd.Function):
    """Two outputs, of which one is no tensor."""

    @staticmethod
    def forward(ctx: Any, x: engine.Tensor) -> tuple[str, engine.Tensor]:
        return "twice", x * 2

    @staticmethod
    def backward(ctx: Any, _: Any, gradient: engine.Tensor) -> engine.Tensor:
        return gradient * 2


def test_output_that_is_no_tensor_has_no_upstream_gradient_in_a_recording() -> None:
    x = engine.ones(2, requires_grad=True)
    with engine.record() as trace:
        _, made = WithText.apply(x)
        made.backward(engine.tensor([3.0, 4.0]))
    (ran,) = (event for event in trace.events if isinstance(event, VjpRun))
    (upstream,) = ran.upstream
    assert upstream is not None
    assert (trace.value(upstream).array == [3.0, 4.0]).all()


@pytest.mark.parametrize("limit", [2, 100], ids=["a summary", "whole"])
@pytest.mark.parametrize("how", ["grad", "hook"])
def test_a_write_into_a_gradient_that_was_handed_out_leaves_what_ran_before(how: str, limit: int) -> None:
    w = engine.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = engine.tensor([[5.0, 6.0], [7.0, 8.0]])
    with engine.record(limit=limit) as trace:
        if how == "grad":
            (gradient,) = engine.autograd.grad((w * x).sum(), w)
            gradient.zero_()
        else:
            y = w * x
            y.register_hook(lambda g: (g.zero_(), None)[1])
            (y * x).sum().backward()
    ran = [event for event in trace.events if isinstance(event, VjpRun)][1]  # after that of the sum
    (cotangent,) = (value for value in ran.cotangents if value is not None)
    assert [trace.value(cotangent).stats[which] for which in ("min", "max")] == [5.0, 8.0]


def test_a_write_into_a_gradient_that_was_given_leaves_what_ran_before() -> None:
    with engine.record() as trace:
        x = engine.ones(2, requires_grad=True)
        given = engine.ones(2)
        for factor in (5, 1):
            ((x + 1) + 1).backward(given)
            given.mul_(factor)
        (found,) = engine.autograd.grad(x + 2, x, given)
        found.mul_(7)
    upstream = [trace.value(event.upstream[0]).array for event in trace.events if isinstance(event, VjpRun)]
    assert [value.tolist() for value in upstream] == [[1, 1]] * 2 + [[5, 5]] * 3


def test_each_value_is_looked_at_once_however_often_gradients_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    preserve = ValueStore.preserve_sharing

    def counted(self: ValueStore, data: Any, since: int) -> None:
        looked.append(len(self.values) - since)
        preserve(self, data, since)

    monkeypatch.setattr(ValueStore, "preserve_sharing", counted)
    with engine.record():
        x = engine.ones(2, requires_grad=True)
        for _ in range(50):
            (gradient,) = engine.autograd.grad((x * x).sum(), x)
            gradient.mul_(0.1).add_(1)
    assert len(looked) == 100 and max(looked) < 20


def test_statistics_of_a_large_value_are_of_the_moment_before_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[np.ndarray] = []

    def statistics(data: np.ndarray) -> dict[str, float]:
        asked.append(data)
        return {"max": float(data.max())}

    monkeypatch.setattr(summary, "statistics", statistics)
    with engine.record(limit=2) as trace:
        x = engine.tensor([1.0, 2.0, 3.0])
        x += 1
        x.numpy()[0] = 9
    assert len(asked) == 2  # by `+=`, and by handing the array to numpy
    made, added, _ = trace.events
    assert isinstance(made, LeafCreated) and trace.value(made.value).stats["max"] == 3.0
    assert isinstance(added, OpCalled) and trace.value(added.outputs[0].value).stats["max"] == 4.0


def test_positions_tell_the_callers_and_the_threads_of_an_op_apart() -> None:
    x = engine.tensor([1.0])

    def doubled() -> None:
        x * 2

    def first() -> None:
        doubled()

    def second() -> None:
        doubled()

    def each() -> Iterator[None]:
        while True:
            x * 2
            yield

    with engine.record() as trace:
        first()
        second()
        steps = each()
        next(steps)
        next(steps)
        for call in (first, second):
            thread = Thread(target=call)
            thread.start()
            thread.join()
        for _ in range(2):
            next(steps)
    stacks = [e.stack for e in trace.events if isinstance(e, OpCalled)]
    callers = [[frame.function for frame in trace.stacks[number]][-2:] for number in stacks]
    here = test_positions_tell_the_callers_and_the_threads_of_an_op_apart.__name__
    assert [caller.rpartition(".")[2] for caller, _ in callers] == [
        "first",
        "second",
        here,
        here,
        "first",
        "second",
        here,
        here,
    ]
    assert len(set(stacks[:4])) == 4 and len(set(stacks)) == 7 and stacks[6] == stacks[7]


def test_an_op_may_lie_as_deep_as_python_goes() -> None:
    x = engine.tensor([1.0])

    def deeper(levels: int) -> None:
        if levels:
            deeper(levels - 1)
        else:
            x * 2

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(30_000)
    try:
        with engine.record() as trace:
            deeper(20_000)
            deeper(20_000)
    finally:
        sys.setrecursionlimit(before)
    assert len({e.stack for e in trace.events if isinstance(e, OpCalled)}) == 2


def test_failure_of_an_op_without_a_frame_of_the_users_names_no_line() -> None:
    x = engine.ones(2, requires_grad=True)
    with engine.record() as trace:
        with ThreadPoolExecutor(1) as pool:
            y = pool.submit(engine.exp, x).result()  # the standard library calls it
        total = y.add_(1).sum()
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
            total.backward()
    made = next(event for event in trace.events if isinstance(event, OpCalled))
    assert (made.name, trace.stacks[made.stack]) == ("exp", ())
    assert [note.partition(" ")[0] for note in raised.value.__notes__] == ["Backstep:"]
    assert "stands for the op in" not in raised.value.__notes__[0]
    (error,) = (event for event in replay(trace).events if isinstance(event, ErrorRaised))
    assert error.note == raised.value.__notes__[0]


def test_a_line_that_is_reached_by_ways_of_other_lengths_has_its_loop() -> None:
    model = engine.nn.Sequential(engine.nn.Linear(2, 4), engine.nn.ReLU(), engine.nn.Linear(4, 1))
    optimizer = engine.optim.SGD(model.parameters(), lr=0.1)
    with engine.record() as trace:
        for epoch in range(3):
            optimizer.zero_grad()
            loss = model(engine.ones(1, 2)).sum() * epoch
            loss.backward()
            optimizer.step()
    held = [one.text for event in trace.events for one in event.loops if one.name == "epoch"]
    assert held == ["0", "1", "2"]
