"""What a recording and its scene cost grows with the program, not with its square: counted in lines that run, so that
it is the same on every machine.

Work of numpy and of the interpreter itself is not seen by this count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import engine as torch
from viz.scene import scene

OURS = (str(Path(torch.__file__).parent), str(Path(scene.__file__).parent))


def chain(count: int) -> None:
    y = x = torch.ones(2, requires_grad=True)
    for _ in range(count):
        y = y * 0.9
    y.sum().backward()
    assert x.grad is not None


def trained(count: int) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(count):
        optimizer.zero_grad(set_to_none=False)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()


def written_by_hand(count: int) -> None:
    w = torch.ones(2, requires_grad=True)
    for _ in range(count):
        (gradient,) = torch.autograd.grad((w * w).sum(), w)
        with torch.no_grad():
            w.sub_(gradient.mul_(0.1))


def through_data(count: int) -> None:
    w: Any = torch.ones(2, requires_grad=True)
    for _ in range(count):
        (w * w).sum().backward()
        w.data -= 0.1 * w.grad
        w.grad.zero_()


def piled_up(count: int) -> None:
    w = torch.ones(2, requires_grad=True)
    for _ in range(count):
        (w * 2).sum().backward()


def filled(count: int) -> None:
    base = torch.zeros(count, requires_grad=True) * 1
    for place in range(count):
        base[place] = place * 2.0
    base.sum().backward()


def hooked(count: int) -> None:
    y = torch.ones(2, requires_grad=True)
    for _ in range(count):
        y = y * 0.9
        y.register_hook(lambda g: g * 1)
    y.sum().backward()


def copied(count: int) -> None:
    x = torch.ones(2, requires_grad=True)
    for _ in range(count):
        x = torch.tensor((x * 2).tolist(), requires_grad=True)
    x.sum().backward()


PROGRAMS: list[Callable[[int], None]] = [
    chain, trained, written_by_hand, through_data, piled_up, filled, hooked, copied,
]  # fmt: skip


def lines_run(program: Callable[[int], None], count: int) -> int:
    """How many lines of ours run for a program, its recording, and the scene of that."""
    ran = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal ran
        ran += event == "line"
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(OURS) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        with torch.record() as trace:
            program(count)
        scene.scene(trace, revision={"id": "r"}, program={"id": "p"})
    finally:
        sys.settrace(before)
    return ran


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_twice_as_long_a_program_is_at_most_little_more_than_twice_the_work(program: Callable[[int], None]) -> None:
    small, large = lines_run(program, 80), lines_run(program, 160)
    assert small < large < 2.4 * small
