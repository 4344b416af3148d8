"""Claims: a long run opens, and goes from iteration to iteration, about as fast as a short one, in as much memory;
its run view is there with its first scene.  Beside these claims it is measured what recording a step into a file takes.

A small GPT is trained with AdamW, for few and for many steps, each recorded into a file.  What is compared is the same
work on the short and on the long file, in turns: opening it up to its first scene, its overview, and another
iteration's scene.  Then the script runs for few steps, in turns as it is and recorded: what is compared is the median
step, with as many threads for matrix products in both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import ratio, table
from engine.trace.file.tracefile import tally
from viz.server.programs import from_file
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

TURNS = 9
RUNS = 3
PROGRAM = """
import statistics
import sys
import time
import engine as torch
from engine import nn
from engine.nn import functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab=65, width=64, depth=6, length=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, vocab)

    def forward(self, index):
        return self.head(self.ln(self.blocks(self.tok(index) + self.pos(torch.arange(index.shape[1])))))


torch.manual_seed(0)
model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
times = []
for step in range(int(sys.argv[1])):
    start = time.perf_counter()
    data = torch.randint(0, 65, (4, 33))
    loss = F.cross_entropy(model(data[:, :-1]).reshape(-1, 65), data[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    times.append(time.perf_counter() - start)
print(statistics.median(times))
"""
MEMORY = """
import sys
from pathlib import Path
from benchmarks.long_runs import first_scene
first_scene(Path(sys.argv[1]))
status = Path("/proc/self/status").read_text()  # what getrusage() says begins with the memory of the parent
print(next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM")))
"""


THREADS = {**os.environ, "OPENBLAS_NUM_THREADS": str(max(1, (os.cpu_count() or 1) - 1))}
"""As `backstep` sets them: a core is left to the thread that writes."""


def record(folder: Path, steps: int) -> tuple[Path, float]:
    """The file of a run of so many steps, and the seconds that recording took."""
    path = folder / f"{steps}.backstep"
    start = time.perf_counter()
    step(folder, steps, path)
    return path, time.perf_counter() - start


def step(folder: Path, steps: int, path: Path | None = None) -> float:
    """The seconds of the median step of the script, recorded where there is a path."""
    script = folder / "gpt.py"
    script.write_text(PROGRAM, encoding="utf-8")
    recorder = [] if path is None else ["-m", "viz", "record", "-o", str(path)]
    command = [sys.executable, *recorder, str(script), str(steps)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=THREADS)
    return float(done.stdout.split()[-1])


def recorded_and_untraced(folder: Path, steps: int) -> tuple[list[float], list[float]]:
    """The median steps of runs that are recorded, and of runs that are not, in turns."""
    pairs = []
    for turn in range(RUNS):
        is_first = turn % 2 == 0
        one = step(folder, steps, folder / "again.backstep" if is_first else None)
        other = step(folder, steps, None if is_first else folder / "again.backstep")
        pairs.append((one, other) if is_first else (other, one))
    return [a for a, _ in pairs], [b for _, b in pairs]


def overview(store: Store) -> Callable[[], object]:
    """The run view's numbers, made again each time."""
    program = store.catalogue.programs()[0]
    run = store._run(store.revision(program.id, None))
    return lambda: store.pure.overview(run, program)


def first_scene(path: Path) -> Store:
    """Open a file as `backstep open` does, up to its first scene."""
    program = from_file(path)
    store = Store(Catalogue([program]), StoreComputation())
    store.scene(store.revision(program.id, None), None, {}, "")
    return store


def another(store: Store) -> Callable[[], object]:
    """The scene of the next iteration, each time another one, so that none is known."""
    program = store.catalogue.programs()[0].id
    numbers = iter(range(1, 10_000))
    return lambda: store.scene(store.revision(program, None, section=next(numbers)), None, {}, "")


def memory(path: Path) -> int:
    """The most memory, in MB, of a process that opens a file; on Linux."""
    made = subprocess.run([sys.executable, "-c", MEMORY, str(path)], check=True, capture_output=True, text=True)
    return int(made.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", type=int, default=20, help="steps of the short run (default: 20)")
    parser.add_argument("--long", type=int, default=200, help="steps of the long run (default: 200)")
    asked = parser.parse_args()
    if min(asked.short, asked.long) <= TURNS + 1:
        parser.error(f"give at least {TURNS + 2} steps: each turn is another iteration, and {TURNS + 1} are made")
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        (short, _), (long, recording) = (record(Path(folder), steps) for steps in (asked.short, asked.long))
        opening = ratio(lambda: first_scene(long), lambda: first_scene(short), rounds=5)
        turning = ratio(another(first_scene(long)), another(first_scene(short)), rounds=TURNS)
        seen = ratio(overview(first_scene(long)), overview(first_scene(short)), rounds=TURNS)
        size, ops = long.stat().st_size, tally(long)["OpCalled"]
        each = f"{size / 2**20:.0f} MB, {size / ops:,.0f} bytes per op"
        print(f"{asked.long} steps recorded in {recording:.0f} s, {each}; beside {asked.short} steps:\n")
        table(
            ["work", "long / short", "long", "short"],
            [
                ["opening, to the first scene", opening, f"{opening.ours:.2f} s", f"{opening.theirs:.2f} s"],
                ["numbers of the run view", seen, f"{seen.ours:.2f} s", f"{seen.theirs:.2f} s"],
                ["another iteration", turning, f"{turning.ours:.2f} s", f"{turning.theirs:.2f} s"],
                ["memory of the process", "", f"{memory(long)} MB", f"{memory(short)} MB"],
            ],
        )
        ours, theirs = recorded_and_untraced(Path(folder), asked.short)
        ratios = ", ".join(f"{a / b:.2f}" for a, b in zip(ours, theirs, strict=True))
        each = f"{statistics.median(ours) * 1e3:.0f} ms instead of {statistics.median(theirs) * 1e3:.0f}"
        print(f"\nA recorded step takes {ratios} times its untraced time ({each}).")


if __name__ == "__main__":
    main()
