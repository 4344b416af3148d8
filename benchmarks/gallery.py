"""Claims: every program of the gallery opens in less than 1.5 s warm, and stepping to its end and back asks nothing.

Warm: the server has the scene and the browser the modules, as for whoever opens a second program.  Opening is measured
from the request of the address to the first painted frame of the graph; steps are made by the keys, a folded box at a
time, with their motion off, and a step counts as done when it is painted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.measure import percentile, table
from benchmarks.page import READY, opened, page, until
from viz.gallery import fixed_programs, gallery

LIMIT = 1500.0
"""ms from the address to the painted graph."""
TIMES = 3
"""Openings of each program; the median counts."""
SLOWEST = 5
PAINTED = """
async () => {
  const frame = () => new Promise(requestAnimationFrame);
  while (!window.backstep || backstep.frameCount() === 0) await frame();
  await frame();
  return performance.now();
}
"""
WALK = """
async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const event = (key) => new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  const press = (key) => document.body.dispatchEvent(event(key));
  const times = [];
  const walk = async (key) => {
    const [start, drawn, t] = [performance.now(), backstep.frameCount(), backstep.t()];
    press(key);
    while (backstep.t() === t || backstep.frameCount() === drawn) {
      if (performance.now() - start > 5000) throw new Error(`stays at ${backstep.t()}`);
      await frame();
    }
    times.push(performance.now() - start);
  };
  const steps = backstep.scene().steps.length;
  while (backstep.t() < steps) await walk("ArrowRight");
  while (backstep.t() > 0) await walk("ArrowLeft");
  return times;
}
"""


@dataclass(frozen=True)
class Walk:
    """One program: ms until it was painted, ms of each step, messages of the console, questions to the server."""

    name: str
    opening: float
    steps: list[float]
    messages: int
    calls: int


def walk(made: Any, origin: str, name: str, messages: list[str]) -> Walk:
    opened(made, origin, name)  # makes it warm
    messages.clear()
    openings = []
    for _ in range(TIMES):
        made.goto(f"{origin}/?program={name}&step=0")
        openings.append(float(made.evaluate(PAINTED)))
    until(made, READY)
    before = made.evaluate("backstep.serverCalls()")
    steps = made.evaluate(WALK)
    return Walk(name, percentile(openings, 0.5), steps, len(messages), made.evaluate("backstep.serverCalls()") - before)


def main() -> None:
    walked: list[Walk] = []
    messages: list[str] = []
    with page() as (made, origin):
        made.emulate_media(reduced_motion="reduce")
        made.on("console", lambda message: messages.append(message.text))
        made.on("pageerror", lambda error: messages.append(str(error)))
        for program in (*gallery(), *fixed_programs()):
            walked += [walk(made, origin, program.id, messages)]
    openings = [one.opening for one in walked]
    steps = [time for one in walked for time in one.steps]
    table(
        ("programs", "opened: median ms", "slowest ms", "over 1.5 s", "steps", "step: median ms", "p95 ms",
         "console messages", "server calls"),
        [(len(walked), f"{percentile(openings, 0.5):.0f}", f"{max(openings):.0f}", sum(t > LIMIT for t in openings),
          f"{len(steps):,}", f"{percentile(steps, 0.5):.0f}", f"{percentile(steps, 0.95):.0f}",
          sum(one.messages for one in walked), sum(one.calls for one in walked))],
    )  # fmt: skip
    print("\nThe slowest:\n")
    slowest = sorted(walked, key=lambda one: -one.opening)[:SLOWEST]
    table(("program", "opened in ms", "steps, there and back"),
          [(one.name, f"{one.opening:.0f}", len(one.steps)) for one in slowest])  # fmt: skip


if __name__ == "__main__":
    main()
