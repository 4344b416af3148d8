"""What record() promises: recordings within recordings, and traces that tell nothing of the machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.replay import replay
from engine.trace import ErrorRaised, LeafCreated, OpCalled, Refreshed, VjpRun


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
