"""The callbacks of docs/howto/record-in-a-trainer.md, with stand-ins for the Trainers: neither library is a dependency
of the tests.  The stand-ins call the hooks in the order, and with the arguments, that the libraries document."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import backstep
import engine
from engine.trace.events import BackwardStarted

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "record-in-a-trainer.md"
BLOCKS = dict(re.findall(r"<!-- callback: (\w+) -->\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))


class Steps:
    """Training steps of a model of one parameter."""

    def __init__(self) -> None:
        self.w = engine.zeros(2, requires_grad=True)
        self.optimizer = engine.optim.SGD([self.w], lr=0.1)

    def step(self) -> None:
        self.optimizer.zero_grad()
        ((self.w - 1) ** 2).sum().backward()
        self.optimizer.step()


def lightning(callback: Any) -> None:
    """The hooks of a training of ten batches, as lightning.pytorch.Trainer.fit calls them."""
    steps, trainer = Steps(), SimpleNamespace(global_step=0)
    for number in range(10):
        callback.on_train_batch_start(trainer, steps, None, number)
        steps.step()
        trainer.global_step += 1
        callback.on_train_batch_end(trainer, steps, None, None, number)


def transformers(callback: Any) -> None:
    """The same as transformers.Trainer.train calls them."""
    steps, state = Steps(), SimpleNamespace(global_step=0)
    for _ in range(10):
        callback.on_step_begin(None, state, None, model=steps)
        steps.step()
        state.global_step += 1
        callback.on_step_end(None, state, None, model=steps)


@pytest.mark.parametrize(
    ("name", "module", "base", "train"),
    [("lightning", "lightning.pytorch", "Callback", lightning),
     ("transformers", "transformers", "TrainerCallback", transformers)],
)  # fmt: skip
def test_callback_records_the_chosen_steps(
    name: str, module: str, base: str, train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standin = ModuleType(module)
    setattr(standin, base, object)
    for part in (module, module.partition(".")[0]):
        monkeypatch.setitem(sys.modules, part, standin)
    space: dict[str, Any] = {"__name__": "page"}
    exec(compile(BLOCKS[name], f"{name}.py", "exec"), space)
    train(space["Record"](tmp_path / "run.backstep", 3, 5))
    trace = backstep.open(tmp_path / "run.backstep")
    calls = [event for event in trace.events if isinstance(event, BackwardStarted)]
    assert len(calls) == 2 and {stack[-1].function for stack in trace.stacks} == {"Steps.step"}


def test_cell_of_a_notebook_records_and_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(backstep, "show", shown.append)
    x = engine.ones(2, requires_grad=True)
    exec(compile(BLOCKS["notebook"], "cell.py", "exec"), {"model": lambda x: x * 2, "x": x})
    assert [type(event) for event in shown[0].events].count(BackwardStarted) == 1
