"""Claims: of real traces, 48 blocks of a transformer are laid out in 0.5 s unfolded and 0.1 s folded, an RNN of 400
steps in 1 s, and 20,000 nodes in 2 s; a window is sent in less than 500 kB.  A graph of 20,000 nodes is painted 3 s
after it has come, and pans at 30 frames a second.

What is painted is synthetic, as in `benchmarks.frames`.  Time per node is compared with that of a small graph.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import engine as torch
from benchmarks.frames import MOVE
from benchmarks.measure import percentile, seconds, table
from benchmarks.page import opened, page, synthetic
from engine import nn
from engine.trace.events import Trace
from viz.graph.folds import FOLD_ABOVE
from viz.layout import choice
from viz.scene.initial_view import opening
from viz.scene.reading import reading_of
from viz.scene.scene import scene
from viz.scene.visible_graph import VisibleGraph
from viz.server.http.gzip_pieces import pack_json
from viz.tasks.collection import unhurried

SMALL, LARGE = 2_000, 20_000
BLOCKS, STEPS = 48, 400
TURNS = 5
PAINT = """
async (text) => {
  const scene = JSON.parse(text);
  const frame = () => new Promise(requestAnimationFrame);
  const [start, before] = [performance.now(), backstep.frameCount()];
  backstep.load(scene);
  backstep.fit();
  while (backstep.frameCount() === before) await frame();
  await frame();
  return performance.now() - start;
}
"""


def sums(nodes: int) -> Trace:
    """A loop of small sums, with about that many nodes."""
    with torch.record() as trace:
        w = x = torch.ones(2, requires_grad=True)
        for _ in range(nodes // 6):
            x = torch.tanh(x * w) + x.sin()
    return trace


class Block(nn.Module):
    """A block of a transformer, with its attention written out."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Any) -> Any:
        b, t, c = x.shape
        q, k, v = (one.view(b, t, 2, c // 2).transpose(1, 2) for one in self.qkv(self.ln1(x)).split(c, dim=2))
        weights = torch.softmax(q @ k.transpose(-2, -1) / c**0.5, dim=-1)
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


def blocks() -> Trace:
    model = nn.Sequential(*[Block(8) for _ in range(BLOCKS)])
    with torch.record() as trace:
        model(torch.ones(1, 4, 8)).sum().backward()
    return trace


def rnn() -> Trace:
    w, u, b = (
        torch.ones(4, 4, requires_grad=True),
        torch.ones(3, 4, requires_grad=True),
        torch.ones(4, requires_grad=True),
    )
    with torch.record() as trace:
        h = torch.zeros(2, 4)
        for _ in range(STEPS):
            h = torch.tanh(torch.ones(2, 3) @ u + h @ w + b)
        h.sum().backward()
    return trace


def layout(trace: Trace, unfolded: bool) -> tuple[int, float]:
    """The nodes of a graph, and the median of the seconds in which it is laid out."""
    read = reading_of(trace)
    begin = opening(read, FOLD_ABOVE)
    folded = frozenset() if unfolded else begin.folded
    graph = VisibleGraph(read.facts, read.drawing, folded, {} if unfolded else begin.lines).graph()

    def again() -> float:
        choice.forget()
        with unhurried():  # as wherever a scene is made
            return seconds(lambda: choice.layout(graph))

    return len(graph), statistics.median(again() for _ in range(TURNS))


def main() -> None:
    transformer, recurrent = blocks(), rnn()
    cases: list[tuple[str, Callable[[], tuple[int, float]]]] = [
        (f"{BLOCKS} blocks, unfolded", lambda: layout(transformer, unfolded=True)),
        (f"{BLOCKS} blocks, folded", lambda: layout(transformer, unfolded=False)),
        (f"RNN of {STEPS} steps, unfolded", lambda: layout(recurrent, unfolded=True)),
        (f"RNN of {STEPS} steps, folded", lambda: layout(recurrent, unfolded=False)),
        ("loop of small sums", lambda: layout(sums(SMALL), unfolded=True)),
        ("loop of small sums", lambda: layout(sums(LARGE), unfolded=True)),
    ]
    found = [(name, *run()) for name, run in cases]
    table(
        ["laid out", "nodes", "s", "ms per node"],
        [[a, f"{n:,}", f"{s:.2f}", f"{1000 * s / n:.3f}"] for a, n, s in found],
    )
    (_, few, short), (_, many, long) = found[-2:]
    print(f"\nper node, {LARGE:,} / {SMALL:,}: {long / many * few / short:.2f}\n")
    sizes = [
        (name, len(pack_json(scene(trace)).blocks)) for name, trace in (("blocks", transformer), ("RNN", recurrent))
    ]
    print(", ".join(f"scene of the {name}: {size / 1000:.0f} kB compressed" for name, size in sizes), "\n")
    with page() as (made, origin):
        opened(made, origin, "weights")
        painted = made.evaluate(PAINT, synthetic(LARGE))
        moved = made.evaluate(MOVE, [100, "pan"])["times"]
    frames = [
        (f"first paint of {LARGE:,} nodes", f"{painted:.0f}", ""),
        (f"frame while panning {LARGE:,} nodes", f"{percentile(moved, 0.5):.1f}", f"{percentile(moved, 0.95):.1f}"),
    ]
    table(("what", "median ms", "p95 ms"), frames)


if __name__ == "__main__":
    main()
