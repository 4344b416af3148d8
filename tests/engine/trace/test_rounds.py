"""Which round of a loop each op is in, also where rounds take different ways; and that this is not asked at each op."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import engine
from engine.trace.call_stacks import CallStacks
from engine.trace.events import OpCalled, Trace

WAYS = {
    "conditions": """
for k in range(4):
    if k in (0, 1):
        op(k)
    if k in (0, 2, 3):
        op(k)
""",
    "a way out": """
for k in range(4):
    if k == 2:
        continue
    op(k)
    if k == 1:
        continue
    op(k)
""",
    "an expression": """
for k in range(4):
    k != 2 and op(k)
    k != 1 and op(k)
""",
    "an inner loop": """
for k in range(4):
    op(k)
    for j in range(k % 2):
        op(k)
        op(k)
""",
    "an empty loop": """
for k in range(4):
    for _ in range(k != 2):
        op(k)
    for _ in range(k != 1):
        op(k)
""",
    "a function": """
def some(k):
    if k != 2:
        op(k)
    if k == 1:
        return
    op(k)

def run():
    for k in range(4):
        some(k)
run()
""",
    "a recursion": """
def down(depth):
    for k in range(2):
        if depth:
            down(depth - 1)
        op(k)
for k in range(2):
    down(2)
    op(k)
""",
    "a try": """
for k in range(4):
    try:
        op(k)
        1 // (k - 1)
        op(k)
    except ZeroDivisionError:
        pass
""",
}
PLAIN = """
def run():
    for k in range(50):
        y = x * 2
        y = y + 1
        z = y * y
        z = z - y
run()
"""


def record(text: str, name: str) -> Trace:
    """The recording of a program whose `op(k)` adds `k`, so that the result tells the round."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"x": engine.ones(1), "torch": engine}
    with engine.record() as trace:
        exec(compile(text, name, "exec"), space)
    return trace


@pytest.mark.parametrize("way", WAYS)
def test_each_op_is_in_the_round_that_ran_it(way: str) -> None:
    trace = record(WAYS[way].replace("op(k)", "torch.full((1,), float(k)) * 1"), f"/rounds/{way}.py")
    held: dict[tuple[int, int, str], str] = {}
    for event in trace.events:
        held.update({(one.depth, one.line, one.name): str(one.text) for one in event.loops})
        if isinstance(event, OpCalled) and event.name == "mul":
            frames = len(trace.stacks[event.stack])
            _, told = max((depth, text) for (depth, _, name), text in held.items() if name == "k" and depth < frames)
            (out,) = event.outputs
            assert told == str(int(trace.value(out.value).sample.item())), way


def test_rounds_of_a_plain_loop_are_asked_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    look = CallStacks.look

    def counted(self: CallStacks, frame: Any, number: int) -> None:
        looks.append(number)
        look(self, frame, number)

    monkeypatch.setattr(CallStacks, "look", counted)
    record(PLAIN, "/rounds/plain.py")
    assert len(looks) < 50 + 3 * 4, "a step within a round is looked at when it is new"


OPTIMISED = """
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
for k in range(5):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
"""


def test_way_to_a_loop_is_looked_for_once_for_a_stack_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the engine's own functions lie between: an optimiser's ops come from several of them."""
    plans: list[int] = []
    plan = CallStacks.plan

    def counted(self: CallStacks, frame: Any) -> Any:
        plans.append(1)
        return plan(self, frame)

    monkeypatch.setattr(CallStacks, "plan", counted)
    trace = record(OPTIMISED, "/rounds/optimised.py")
    assert len(plans) <= len(trace.stacks) < 20
