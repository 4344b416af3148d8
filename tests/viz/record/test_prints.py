"""What a script prints is in its recording, at its place and time, and arrives unchanged where it went."""

from __future__ import annotations

import os
import subprocess
import sys

from engine.replay.program import Edits
from engine.replay.replay import replay
from engine.trace.events import Printed, Trace
from viz.run.run import Run
from viz.scene.program_lines import prints
from viz.scene.reading import reading_of

from ..helpers.scripts import ROOT, Capture, Script, kinds

TEXT = """
import sys, logging, warnings
import engine as torch
x = torch.tensor([1., 2.], requires_grad=True)
def tell(*words):
    print(*words)
print("begins")
for step in range(2):
    y = (x * step).sum()
    tell(step, y.item())
    y.backward()
    print(".", end="")
print()
logging.warning("half\\r\\x1b[31mred\\x1b[0m")
warnings.warn("not printed by the program")
sys.stdout.write("")
sys.stdout.buffer.flush()
print(type(sys.stdout).__name__, sys.stdout.isatty(), sys.stdout is sys.__stdout__)
"""


def printed(trace: Trace) -> list[Printed]:
    return [event for event in trace.events if isinstance(event, Printed)]


def test_prints_stand_between_the_steps_with_their_calls(script: Script, capfd: Capture) -> None:
    _, trace = script(TEXT)
    out, _ = capfd.readouterr()
    found = printed(trace)
    lines = [[frame.line for frame in trace.stacks[event.stack]] for event in found]
    assert [event.text for event in found] == [
        "begins\n", "0 0.0\n", ".", "1 3.0\n", ".", "\n", "WARNING:root:half\r\x1b[31mred\x1b[0m\n",
        "TextIOWrapper False True\n",
    ]  # fmt: skip
    assert lines == [[7], [10, 6], [12], [10, 6], [12], [13], [14], [18]]
    assert [event.stream for event in found].index("stderr") == 6
    path, paths = str(trace.argv[0]), {**os.environ, "PYTHONPATH": str(ROOT)}
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True, env=paths)
    assert out == plain.stdout
    order = kinds(trace)
    assert order.index("Printed") < order.index("OpCalled") < order.index("BackwardStarted")
    shown = [(one["step"], one["code"] and one["code"]["line"], one["text"]) for one in prints(reading_of(trace))]
    steps = [place for place, _, _ in shown]
    assert shown[0] == (0, 7, "begins\n") and steps == sorted(steps) and shown[6][2] == "red\n"
    assert list(replay(trace, Edits()).events) == list(trace.events)


MUCH = """
import engine as torch
x = torch.ones(2, requires_grad=True)
for i in range(100_000):
    print("line", i)
print("x" * 5_000)
print("after")
for step in range(3):
    (x * 2).sum().backward()
    for i in range(30):
        print(i)
"""


def test_a_million_lines_are_few_events_that_count_them(script: Script, capfd: Capture) -> None:
    _, trace = script(MUCH)
    assert capfd.readouterr().out.count("\n") == 100_002 + 90
    first, long, after, *rounds = printed(trace)
    assert first.text.count("\n") == 20 and first.more == 100_000 - 20
    assert long.text == "x" * 2_000 + "…" and long.more == 0 and after.text == "after\n"
    assert [event.more for event in rounds] == [10, 10, 10]


TRAIN = """
import engine as torch
w = torch.ones(100, requires_grad=True)
print("100 weights")
for step in range(40):
    for k in range(5):
        h = w * 2
    (h * step).sum().backward()
    w.grad = None
    print("step", step)
"""


def test_sections_have_their_prints_and_the_first_what_came_before(script: Script) -> None:
    _, trace = script(TRAIN)
    run = Run(trace)
    assert len(run.sections) == 40
    assert [event.text for event in printed(run.trace(0))] == ["100 weights\n", "step 0\n"]
    assert [event.text for event in printed(run.trace(7))] == ["step 7\n"]
