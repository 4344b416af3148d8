"""Replays with edits: what they keep, what they doubt, and how they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import engine
from engine.replay.program import Command, Edits, commands
from engine.replay.replay import replay
from engine.trace.events import Accumulated, ErrorRaised, HookRan, LeafCreated, OpCalled


def recorded(read: Any = None) -> engine.Trace:
    """x = [1, 2], z = 2x, backward with [1, 0]; `read` then looks at x.grad."""
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        z = 2 * x
        z.backward(engine.tensor([1.0, 0.0]))
        if read is not None:
            read(x.grad)
    return trace


def gradient(trace: engine.Trace) -> list[float]:
    (event,) = [e for e in trace.events if isinstance(e, Accumulated)]
    kept = trace.value(event.after).array
    assert kept is not None
    return [float(v) for v in kept]


def with_gradient(trace: engine.Trace, values: Any) -> Edits:
    (command,) = commands(trace)
    return Edits(commands=(replace(command, gradient=values),))


def test_replay_without_edits_equals_the_recording() -> None:
    trace = recorded(print)
    assert list(replay(trace).events) == list(trace.events)


def test_edited_gradient_and_leaf_are_propagated_and_tensors_keep_their_ids() -> None:
    trace = recorded()
    again = replay(trace, with_gradient(trace, [0.0, 3.0]))
    assert gradient(trace) == [2, 0] and gradient(again) == [0, 6]
    edited = replay(trace, Edits(leaves={0: [5.0, 7.0]}))
    (made,) = [e for e in edited.events if isinstance(e, OpCalled)]
    kept = edited.value(made.outputs[0].value).array
    assert kept is not None and kept.tolist() == [10, 14]
    kinds = [[type(e) for e in t.events if not isinstance(e, LeafCreated)] for t in (again, trace)]
    assert kinds[0] == kinds[1]  # only the edited gradient is a tensor of its own
    assert again.names == trace.names


@pytest.mark.parametrize(("read", "doubted"), [(print, False), (lambda g: g[1].item(), True), (None, False)])
def test_a_value_that_left_for_python_raises_a_doubt_unless_it_was_printed(read: Any, doubted: bool) -> None:
    trace = recorded(read)
    again = replay(trace, with_gradient(trace, [0.0, 3.0]))
    assert (again.meta["doubt"] is not None) is doubted
    assert replay(trace).meta["doubt"] is None


def test_what_a_hook_did_is_done_again_with_another_gradient_too() -> None:
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        y = x * 3
        y.register_hook(lambda grad: grad * 10)
        y.backward(engine.tensor([1.0, 0.0]))
    assert gradient(trace) == [30, 0] and any(isinstance(e, HookRan) for e in trace.events)
    assert list(replay(trace).events) == list(trace.events)
    again = replay(trace, with_gradient(trace, [0.0, 1.0]))
    assert gradient(again) == [0, 30] and again.meta["doubt"] is None


def test_removing_the_first_of_two_calls_mends_the_second() -> None:
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        z = (x * x).sum()
        z.backward()
        with pytest.raises(RuntimeError, match="a second time"):
            z.backward()
    again = replay(trace, Edits(commands=commands(trace)[1:]))
    assert any(isinstance(e, ErrorRaised) for e in trace.events)
    assert not any(isinstance(e, ErrorRaised) for e in again.events) and gradient(again) == [2, 4]


def test_a_write_to_a_view_is_replayed_with_its_base() -> None:
    with engine.record() as trace:
        x = engine.ones(2, 2, requires_grad=True)
        y = x * 2
        y[0] = 5
        y[1].mul_(3)
        y.sum().backward()
    assert [e.name for e in trace.events if isinstance(e, OpCalled)].count("copy_slices") == 2
    assert list(replay(trace).events) == list(trace.events)


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        (Edits(leaves={0: [1.0]}), r"x: expected numbers in shape \[2\], found shape \[1\]"),
        (Edits(leaves={0: "many"}), r"x: expected numbers in shape \[2\]"),
        (
            Edits(commands=(Command("a", "backward", -1, roots=(2,)),)),
            "before the program makes it: move it further down",
        ),
        (Edits(commands=(Command("a", "zero", 999, leaf=0),)), "follows event 999"),
        (
            Edits(leaves={999: [1.0]}),
            "only the values of a leaf can be edited, and the program makes no tensor with the number 999",
        ),
        (
            Edits(leaves={1: [1.0, 2.0]}),
            "only the values of a leaf can be edited, and z is computed by mul: edit a leaf from which it is computed",
        ),
    ],
)
def test_an_edit_that_does_not_fit_is_refused_with_what_was_expected_and_found(edits: Edits, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        replay(recorded(), edits)


@pytest.mark.parametrize("data", [{"commands": [{"kind": "dance"}]}, {"leaves": {"x": [1]}}, {"commands": 3}])
def test_edits_of_another_form_are_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="edits should be"):
        Edits.from_json(data)


def test_of_several_roots_each_may_go_without_a_gradient() -> None:
    with engine.record() as trace:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        a, b = x * 2, (x * x).sum()
        engine.autograd.backward([a, b], [engine.tensor([1.0, 0.0]), engine.tensor(3.0)])
    (command,) = commands(trace)

    def errors(gradient: Any) -> list[str]:
        again = replay(trace, Edits(commands=(replace(command, gradient=gradient),)))
        return [e.message for e in again.events if isinstance(e, ErrorRaised)]

    assert errors([[1.0, 0.0], "none"]) == []
    assert errors(["none", 3.0]) == ["grad can be implicitly created only for scalar outputs"]


COMPUTED = {
    "{} * 0.5": "[2.0, 4.0]",
    "{}.reshape(2)": "[1.0, 2.0]",
    "{}.detach()": "[1.0, 2.0]",
}


@pytest.mark.parametrize("line", COMPUTED)
def test_values_of_a_leaf_that_an_op_computes_stand_in_its_place(line: str) -> None:
    """As if the numbers were written there."""

    def run(made: str) -> engine.Trace:
        program = (
            f"c = torch.tensor({COMPUTED[line]})\nw = {made}\nw.requires_grad_()\nwith torch.no_grad():\n    w += 1\n"
        )
        with engine.record() as trace:
            exec(program + "z = (w * w).sum()\nz.backward()", {"torch": engine})
        return trace

    trace, fresh = run(f"({line.format('c')})"), run("torch.tensor([-3.0, 0.5])")
    w = next(e.outputs[0].tensor for e in trace.events if isinstance(e, OpCalled))
    again = replay(trace, Edits(leaves={w: [-3.0, 0.5]}))
    assert gradient(fresh) == gradient(again) == [-4, 3] and again.meta["doubt"] is None
    assert [type(e) for e in again.events] == [type(e) for e in fresh.events]
    assert list(replay(again).events) == list(again.events)


def test_values_of_one_of_several_results_are_refused_with_what_to_write() -> None:
    with engine.record() as trace:
        first, second = engine.tensor([[1.0, 2.0], [3.0, 4.0]]).unbind()
        first.requires_grad_()
        (first * second).sum().backward()
    (made,) = [e for e in trace.events if isinstance(e, OpCalled) and len(e.outputs) == 2]
    with pytest.raises(ValueError, match=r"one of 2 results of unbind: write first\.clone\(\)\.requires_grad_\(\)"):
        replay(trace, Edits(leaves={made.outputs[0].tensor: [5.0, 6.0]}))


@pytest.mark.parametrize("call", ["transpose_(0, 1)", "t_()", "unsqueeze_(0)", "squeeze_()"])
def test_tensor_that_takes_another_form_in_place_keeps_its_numbers(call: str) -> None:
    with engine.record() as trace:
        x = engine.ones(2, 3, requires_grad=True)
        y: Any = x * 2
        eval(f"y.{call}")  # noqa: S307 it is one of the above
        (y * y).sum().backward()
    assert list(replay(trace).events) == list(trace.events)
