"""A window is what a recording would have that began with the section: compared with one that did."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine as torch
from engine import nn
from engine.nn import functional
from engine.replay.program import Edits
from engine.replay.replay import replay
from engine.trace.events import AnyEvent, BackwardStarted, GroupEntered, LeafCreated, OpCalled, Refreshed, Trace
from engine.trace.file.consistency import check
from engine.trace.file.outline import outline
from viz.findings.findings import findings
from viz.run.iterations import Section, sections
from viz.run.run import Run
from viz.run.window import Windows
from viz.scene.reading import reading_of

Around = Callable[[int], Any]


def plain(around: Around) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    for step in range(4):
        with around(step):
            loss = ((w * torch.tensor([3.0, step])).sum() - 1.0) ** 2
            loss.backward()
            assert w.grad is not None
            with torch.no_grad():
                w -= 0.1 * w.grad
            w.grad = None


def accumulating(around: Around) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(4):
        with around(_):
            y = (w * w).sum()
            y.backward()
            assert w.grad is not None
            w.grad.mul_(0.5)


def layers(around: Around) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    data = torch.randn(8, 3)
    for step in range(4):
        with around(step):
            out = model(data[step : step + 2])
            loss = functional.mse_loss(out, torch.ones(2, 1))
            loss.backward()
            optimizer.step()
            loss.item()
            optimizer.zero_grad()


def carried(around: Around) -> None:
    torch.manual_seed(0)
    cell = nn.RNNCell(2, 2)
    state = torch.zeros(1, 2)
    for step in range(4):
        with around(step):
            state = cell(torch.ones(1, 2), state.detach())
            state.sum().backward()


def hooked(around: Around) -> None:
    w = torch.ones(3, requires_grad=True)
    w.register_hook(lambda g: 2 * g)
    for step in range(4):
        with around(step), torch.no_grad() if step % 2 else nullcontext():
            y = w.exp()
            if step % 2 == 0:
                y.sum().backward()


class Square(torch.autograd.Function):
    """x squared."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * 2 * x


def own_code(around: Around) -> None:
    w = torch.ones(3, requires_grad=True)
    for step in range(4):
        with around(step):
            Square.apply(w).sum().backward()


def second_order(around: Around) -> None:
    w = torch.ones(3, requires_grad=True)
    for step in range(4):
        with around(step):
            (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
            g.sum().backward()


class LoopState:
    """What a loop holds that is put together of statements: two leaves, a state, a buffer, a layer, an optimiser."""

    def __init__(self) -> None:
        self.w: Any = torch.ones(3, requires_grad=True)
        self.v: Any = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
        self.h: Any = torch.ones(3)
        self.buffer: Any = torch.zeros(3)
        self.layer = nn.Linear(3, 3)
        self.optimizer = torch.optim.SGD([self.w, self.v, *self.layer.parameters()], lr=0.01, momentum=0.9)

    def multiply(self) -> None:
        self.h = torch.tanh(self.h * self.v)

    def call(self) -> None:
        self.h = self.layer(self.h)

    def view(self) -> None:
        self.h = self.h + self.h.view(3, 1)[1:].sum()

    def write(self) -> None:
        product = self.h * 2
        product.add_(self.v)
        self.h = product

    def write_part(self) -> None:
        self.buffer[1] = self.h.detach()[0]
        self.h = self.h + self.buffer

    def count(self) -> None:
        with torch.no_grad():
            self.buffer += 1
        self.h = self.h + self.buffer

    def replace(self) -> None:
        self.w.data = self.w.data * 0.9

    def leave(self) -> None:
        self.h.sum().item()

    def begin(self) -> None:
        self.h = self.h + torch.ones(3, requires_grad=True)

    def freeze(self) -> None:
        self.v.requires_grad_(not self.v.requires_grad)

    def scale(self) -> None:
        if self.w.grad is not None:
            self.w.grad.mul_(0.5)

    def clear(self) -> None:
        self.w.grad = None

    def step(self) -> None:
        self.optimizer.step()

    def zero(self) -> None:
        self.optimizer.zero_grad(set_to_none=False)


STATEMENTS: dict[str, Callable[[LoopState], None]] = {
    one.__name__: one
    for one in (
        LoopState.multiply, LoopState.call, LoopState.view, LoopState.write, LoopState.write_part, LoopState.count,
        LoopState.replace, LoopState.leave, LoopState.begin, LoopState.freeze,
    )
}  # fmt: skip
AFTER: dict[str, Callable[[LoopState], None]] = {
    one.__name__: one
    for one in (LoopState.scale, LoopState.clear, LoopState.step, LoopState.zero, LoopState.replace, LoopState.count)
}
PROGRAMS = (plain, accumulating, layers, carried, hooked, own_code, second_order)


def events_of(trace: Trace) -> list[AnyEvent]:
    """The events without what a recording that begins late cannot know, who made a tensor and what it is called, and
    without versions, which a window counts anew."""
    found: list[AnyEvent] = []
    for event in trace.events:
        event = replace(event, stack=-1, loops=())
        if isinstance(event, LeafCreated):
            event = replace(event, source="", name=None, version=0)
        elif isinstance(event, OpCalled):
            inputs = tuple(replace(one, version=0) for one in event.inputs)
            event = replace(event, inputs=inputs, outputs=tuple(replace(one, version=0) for one in event.outputs))
        elif isinstance(event, Refreshed):
            event = replace(event, version=0)
        found.append(event)
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_window_is_what_a_recording_of_the_iteration_alone_has(program: Callable[[Around], None]) -> None:
    check_third(program)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(sorted(STATEMENTS)), max_size=6), st.lists(st.sampled_from(sorted(AFTER)), max_size=3))
def test_window_of_any_loop_is_what_a_recording_of_the_iteration_alone_has(body: list[str], after: list[str]) -> None:
    def program(around: Around) -> None:
        torch.manual_seed(0)
        it = LoopState()
        for step in range(4):
            with around(step):
                it.h = it.h.detach()
                for name in body:
                    STATEMENTS[name](it)
                (it.h * it.w).sum().backward()
                for name in after:
                    AFTER[name](it)

    check_third(program)


def check_third(program: Callable[[Around], None]) -> None:
    """Compare the third iteration of a program with a recording that began there."""
    with torch.record() as whole:
        program(lambda step: nullcontext())
    late: list[Trace] = []

    def third(step: int) -> Any:
        return TraceCollector(late) if step == 2 else nullcontext()

    program(third)
    cut = sections_like(whole, late[0])
    window = Windows(whole, outline(whole.events), cut).trace(1)
    assert [type(event) for event in window.events] == [type(event) for event in late[0].events]
    for mine, its in zip(events_of(window), events_of(late[0]), strict=True):
        assert mine == its
    assert len(window.values) == len(late[0].values)
    assert all(a.is_like(b) for a, b in zip(window.values, late[0].values, strict=True))
    check(window.events)
    reading_of(window)


class TraceCollector:
    """Records, and adds the trace to a list."""

    def __init__(self, found: list[Trace]) -> None:
        self.found, self.context = found, torch.record()

    def __enter__(self) -> None:
        self.found.append(self.context.__enter__())

    def __exit__(self, *error: Any) -> None:
        self.context.__exit__(*error)


def sections_like(whole: Trace, late: Trace) -> list[Section]:
    """Two sections of a trace, of which the second is what another trace has: the third of four iterations."""
    found = sections(whole, outline(whole.events))
    iterations = [one for one in found if one.kind == "iteration"]
    third = iterations[2]
    return [Section("before", "", 0, third.start), third]


def test_nodes_of_earlier_iterations_are_counted_and_left_out() -> None:
    cell, state = nn.RNNCell(2, 2), torch.zeros(1, 2)
    with torch.record() as whole:
        for _ in range(3):
            state = cell(torch.ones(1, 2), state)
            state.sum().backward(retain_graph=True)
    found = outline(whole.events)
    windows = [Windows(whole, found, sections(whole, found)).trace(number) for number in range(3)]
    first, *later = (window.meta["section"]["passed"] for window in windows)
    assert first == 0 and 0 < later[0] < later[1]
    for window in windows:
        check(window.events)
        reading_of(window)


def test_window_is_run_again_with_edits() -> None:
    with torch.record() as whole:
        layers(lambda step: nullcontext())
    window = Windows(whole, outline(whole.events), sections(whole, outline(whole.events))).trace(1)
    again = replay(window, Edits())
    assert [replace(e, loops=()) for e in again.events] == [replace(e, loops=()) for e in window.events]
    leaf = next(e for e in window.events if isinstance(e, LeafCreated) and e.requires_grad)
    shape = window.value(leaf.value).shape
    edited = replay(window, Edits({leaf.tensor: torch.zeros(*shape).tolist()}))
    assert sum(isinstance(e, BackwardStarted) for e in edited.events) == 1


def test_iterations_that_do_the_same_have_the_same_ids() -> None:
    with torch.record() as whole:
        layers(lambda step: nullcontext())
    windows = Windows(whole, outline(whole.events), sections(whole, outline(whole.events)))
    one, other = (reading_of(windows.trace(number)).drawing for number in (1, 2))
    assert list(one.items) == list(other.items)
    assert list(one.links) == list(other.links)
    assert one.grouping.labels == other.grouping.labels


def findings_of(program: Callable[[], None]) -> list[list[str]]:
    """The kinds of the findings in each iteration."""
    with torch.record() as whole:
        program()
    found = outline(whole.events)
    windows = Windows(whole, found, sections(whole, found))
    return [[one.kind for one in findings(reading_of(windows.trace(k)).facts)] for k in range(len(windows.sections))]


def test_gradient_that_no_iteration_zeroes_is_found_in_each_but_the_first() -> None:
    def program() -> None:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for _ in range(3):
            (w * w).sum().backward()
            optimizer.step()

    assert findings_of(program) == [[], ["not-zeroed"], ["not-zeroed"]]


def test_gradients_added_up_over_iterations_before_an_update_are_no_finding() -> None:
    def program() -> None:
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for step in range(4):
            (w * w).sum().backward()
            if step % 2:
                optimizer.step()
                optimizer.zero_grad()

    assert "not-zeroed" not in itertools.chain(*findings_of(program))


def test_parameter_that_only_some_iterations_use_is_not_said_to_never_learn() -> None:
    def program() -> None:
        torch.manual_seed(0)
        first, second = nn.Linear(2, 2), nn.Linear(2, 2)
        optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
        for step in range(3):
            out = first(torch.ones(1, 2))
            (second(out) if step else out).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    assert findings_of(program) == [[], [], []]


def test_window_of_the_first_events_is_the_beginning_of_the_whole_window() -> None:
    with torch.record() as whole:
        layers(lambda step: nullcontext())
    found = outline(whole.events)
    windows = Windows(whole, found, sections(whole, found))
    full, section = windows.trace(2), windows.sections[2]
    length = section.end - section.start
    for most in range(1, length):
        part = windows.trace(2, most)
        if part.meta.get("of") is None:
            assert part.events == full.events, "a few events more are shown"
            continue
        assert part.meta["of"] - len(part.events) == length - most > 0
        assert most <= len(part.events) < len(full.events)
        assert part.events == full.events[: len(part.events)]
        assert [part.value(k) for k in range(len(part.values))] == [full.value(k) for k in range(len(part.values))]
    assert "of" not in windows.trace(2, length).meta


def test_of_a_window_of_the_first_events_no_later_one_is_read() -> None:
    with torch.record() as whole:
        layers(lambda step: nullcontext())
    found = outline(whole.events)
    windows = Windows(whole, found, sections(whole, found))
    section, most = windows.sections[2], 10
    read = WatchedEvents(whole.events)
    Windows(replace(whole, events=read), found, windows.sections).trace(2, most)
    later = {k for k in read.asked if section.start + most <= k < section.end}
    assert later <= {section.end - 3, section.end - 2, section.end - 1}, "only for the error at its end"


class WatchedEvents(Sequence[AnyEvent]):
    """Events that note which of them are asked for."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self.events = events
        self.asked: set[int] = set()

    def __getitem__(self, index: Any) -> Any:
        places = range(len(self.events))[index]
        self.asked.update(places if isinstance(places, range) else [places])
        return self.events[index]

    def __len__(self) -> int:
        return len(self.events)


def test_steps_of_two_optimisers_of_a_class_hold_their_own_tensors_in_each_iteration() -> None:
    with torch.record() as trace:
        one, other = nn.Linear(2, 3), nn.Linear(3, 1)
        first, second = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (one, other))
        for _ in range(60):
            other(one(torch.ones(1, 2))).sum().backward()
            first.step()
            second.step()
    run = Run(trace)
    assert run.is_divided
    for number in (0, 1, 5):
        window = run.trace(number)
        steps = [e for e in window.events if isinstance(e, GroupEntered) and e.kind == "SGD.step"]
        names = [[window.names[tensor] for tensor in step.tensors if tensor is not None] for step in steps]
        assert names == [["one.weight", "one.bias"], ["other.weight", "other.bias"]]
