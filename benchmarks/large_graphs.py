"""Claims: a graph of 20,000 nodes is laid out in 2 s, painted 3 s after it has come, and pans at 30 frames a second.

The graphs that are laid out are those of real traces, everything unfolded; time per node is compared with that of a
small graph.  What is painted is synthetic, as in `benchmarks.frames`.
"""

from __future__ import annotations

import statistics
from typing import Any

import engine as torch
from benchmarks.frames import MOVE
from benchmarks.measure import percentile, seconds, table
from benchmarks.page import opened, page, synthetic
from viz.layout import choice
from viz.scene.reading import reading
from viz.scene.visible_graph import Visible

SMALL, LARGE = 2_000, 20_000
TURNS = 3
PAINT = """
async (scene) => {
  const frame = () => new Promise(requestAnimationFrame);
  const [start, before] = [performance.now(), backstep.frameCount()];
  backstep.load(scene);
  backstep.fit();
  while (backstep.frameCount() === before) await frame();
  await frame();
  return performance.now() - start;
}
"""


def unfolded(nodes: int) -> Any:
    """The graph of a program of about that many ops, a loop of small sums, with nothing folded."""
    with torch.record() as trace:
        w = x = torch.ones(2, requires_grad=True)
        for _ in range(nodes // 6):
            x = torch.tanh(x * w) + x.sin()
    read = reading(trace)
    return Visible(read.facts, read.drawing, frozenset()).graph()


def layout(nodes: int) -> tuple[int, float]:
    """How many nodes such a graph has, and the median of the seconds in which it is laid out."""
    graph = unfolded(nodes)

    def again() -> float:
        choice.forget()
        return seconds(lambda: choice.layout(graph))

    return len(graph), statistics.median(again() for _ in range(TURNS))


def main() -> None:
    (few, short), (many, long) = layout(SMALL), layout(LARGE)
    table(
        ["nodes laid out", "s", "ms per node"],
        [[f"{n:,}", f"{s:.2f}", f"{1000 * s / n:.3f}"] for n, s in ((few, short), (many, long))],
    )
    print(f"\nper node, large / small: {long / many * few / short:.2f}\n")
    with page() as (made, origin):
        opened(made, origin, "weights")
        painted = made.evaluate(PAINT, synthetic(LARGE))
        moved = made.evaluate(MOVE, [100, "pan"])["times"]
    rows = [
        (f"first paint of {LARGE:,} nodes", f"{painted:.0f}", ""),
        (f"frame while panning {LARGE:,} nodes", f"{percentile(moved, 0.5):.1f}", f"{percentile(moved, 0.95):.1f}"),
    ]
    table(("what", "median ms", "p95 ms"), rows)


if __name__ == "__main__":
    main()
