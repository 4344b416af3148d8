"""Several threads: each its own modes, gradients that meet in one leaf add up, errors stay where they arise."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import engine
from engine import autograd
from engine.trace.events import BackwardStarted
from tests.engine.autograd.functions import made
from tests.parity.helpers.outcomes import both


@pytest.fixture(autouse=True)
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], None], count: int = 8) -> None:
    """Run `work` in threads that start at one moment."""
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait()
        work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_backward_calls_on_one_graph_add_up() -> None:
    x = engine.ones(1000, requires_grad=True)
    y = (x * x).sum() + (x * 3).sum()
    together(lambda number: [y.backward(retain_graph=True) for _ in range(20)] and None)
    assert engine.equal(x.grad, engine.full((1000,), 8 * 20 * 5.0))


def test_graphs_of_several_threads_meet_in_one_leaf() -> None:
    w = engine.ones(100, requires_grad=True)

    def work(number: int) -> None:
        for _ in range(20):
            (w * float(number)).sum().backward()

    together(work)
    assert engine.equal(w.grad, engine.full((100,), 20.0 * sum(range(8))))


def test_each_thread_has_its_own_modes() -> None:
    seen: dict[int, list[bool]] = {}

    def work(number: int) -> None:
        found = seen[number] = []
        for _ in range(50):
            with engine.set_grad_enabled(number % 2 == 0):
                x = engine.ones(1, requires_grad=True)
                found.append((x * 2).requires_grad)
            with engine.inference_mode(number % 3 == 0):
                found.append(engine.ones(1).is_inference())

    together(work)
    for number, found in seen.items():
        assert found == [number % 2 == 0, number % 3 == 0] * 50
    assert engine.is_grad_enabled() and not engine.is_inference_mode_enabled()


def test_what_one_thread_packs_no_other_does() -> None:
    seen: dict[int, int] = {}

    def work(number: int) -> None:
        count = [0]

        def pack(tensor: Any) -> Any:
            count[0] += 1
            return tensor.detach()

        x = engine.ones(3, requires_grad=True)
        for _ in range(20):
            if number % 2:
                with autograd.graph.saved_tensors_hooks(pack, lambda t: t):
                    x.exp()
            else:
                x.exp()
        seen[number] = count[0]

    together(work)
    assert seen == {number: 20 * (number % 2) for number in range(8)}


def test_an_error_stays_in_its_thread() -> None:
    errors: dict[int, str] = {}
    x = engine.ones(3, requires_grad=True)

    def work(number: int) -> None:
        y = (x * x).sum()
        y.backward()
        if number % 2:
            try:
                y.backward()
            except RuntimeError as error:
                errors[number] = str(error)[:20]

    together(work)
    assert errors == dict.fromkeys((1, 3, 5, 7), "Trying to backward t")
    assert engine.equal(x.grad, engine.full((3,), 16.0))


def nested(library: Any, depth: int) -> tuple[float, set[bool]]:
    """The gradient of a chain of so many backward calls, each made by the one before, and the grad modes in them."""
    modes: set[bool] = set()

    def forward(ctx: Any, x: Any, left: int) -> Any:
        ctx.left = left
        return x * 1

    def backward(ctx: Any, gradient: Any) -> Any:
        modes.add(library.is_grad_enabled())
        if not ctx.left:
            return gradient * 2, None
        with library.enable_grad():
            y = library.ones(1, requires_grad=True)
            Again.apply(y, ctx.left - 1).sum().backward()
        return gradient * y.grad + 1, None

    Again = made(library, forward, backward)
    x = library.ones(1, requires_grad=True)
    Again.apply(x, depth).sum().backward()
    return x.grad.item(), modes


@pytest.mark.parametrize("depth", [3, 150])
def test_backward_calls_lie_inside_each_other_as_deep_as_in_torch(depth: int) -> None:
    ours, theirs = (nested(library, depth) for library in both())
    assert ours == theirs
    assert ours[0] == depth + 2
    with engine.record() as trace:
        again = nested(engine, depth)
    calls = [event for event in trace.events if isinstance(event, BackwardStarted)]
    assert (again, len(calls)) == (ours, depth + 1)


def test_what_is_raised_deep_inside_comes_out() -> None:
    def deeper(left: int) -> Any:
        x = engine.ones(1, requires_grad=True)
        x.register_hook(lambda gradient: deeper(left - 1) if left else 1 // 0)
        with engine.enable_grad():
            (x * 2).backward()

    with pytest.raises(ZeroDivisionError):
        deeper(130)
