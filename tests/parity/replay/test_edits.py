"""What an edit brings about is what PyTorch would do with the edited program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import engine
from engine.replay.program import Edits, commands
from engine.replay.replay import replay
from engine.trace.events import Accumulated, ErrorRaised
from tests.engine.replay.test_replay import gradient


@pytest.mark.parametrize("shape", [(), (1,), (2,), (0,)])
@pytest.mark.parametrize("needs", [True, False])
def test_call_without_a_gradient_does_as_in_torch(shape: tuple[int, ...], needs: bool) -> None:
    """The program passes one; "none" takes it away."""
    library = pytest.importorskip("torch")
    x = library.ones(shape, requires_grad=needs)
    try:
        (x * 2).backward()
        theirs = x.grad.tolist()
    except RuntimeError as error:
        theirs = str(error)
    with engine.record() as trace:
        a = engine.ones(shape, requires_grad=True)
        b = engine.ones(shape)
        z, other = a * 2, b * 2
        z.backward(engine.ones(shape))
        assert other.shape == z.shape
    (command,) = commands(trace)
    root = next(number for number, name in trace.names.items() if name == ("z" if needs else "other"))
    again = replay(trace, Edits(commands=(replace(command, roots=(root,), gradient="none"),)))
    errors = [e.message for e in again.events if isinstance(e, ErrorRaised)]
    assert (errors[0] if errors else again.value(_accumulated(again).after).sample.reshape(shape).tolist()) == theirs
    assert not errors or isinstance(again.events[-2], ErrorRaised)
    assert replay(trace, Edits.from_json(again.meta["edits"])).events == again.events


def _accumulated(trace: engine.Trace) -> Accumulated:
    (event,) = [e for e in trace.events if isinstance(e, Accumulated)]
    return event


ZEROED = {
    "x.grad.zero_()": "AttributeError: 'NoneType' object has no attribute 'zero_'",
    "x.grad.mul_(2)": "AttributeError: 'NoneType' object has no attribute 'mul_'",
    "if x.grad is not None:\n    x.grad.zero_()": None,
    "for p in [x]:\n    if p.grad is None:\n        continue\n    p.grad.zero_()": None,
    "torch.optim.SGD([x], lr=1).zero_grad(set_to_none=False)": None,
}


@pytest.mark.parametrize("line", ZEROED)
def test_gradient_that_is_gone_when_it_is_zeroed_raises_as_python_would(line: str, tmp_path: Path) -> None:
    library = pytest.importorskip("torch")
    lines = (
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nz = (2 * x).sum()\n{}\n"
        + line
        + "\n(x * x).sum().backward()\n"
    )
    try:
        exec(lines.format("pass"), {"torch": library})
        theirs = None
    except AttributeError as error:
        theirs = f"AttributeError: {error}"
    assert theirs == ZEROED[line]
    path = tmp_path / "program.py"
    path.write_text(lines.format("z.backward()"))
    with engine.record() as trace:
        exec(compile(path.read_text(), str(path), "exec"), {"torch": engine})
    first, *others = commands(trace)
    again = replay(trace, Edits(commands=tuple(others)))
    errors = [f"{e.type}: {e.message}" for e in again.events if isinstance(e, ErrorRaised)]
    assert errors == ([] if theirs is None else [theirs])
    assert first.kind == "backward" and (theirs is not None or gradient(again) == [2, 4])
