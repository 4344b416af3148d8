"""Claims: a long run opens, and goes from iteration to iteration, about as fast as a short one, in as much memory.

A small GPT is trained with AdamW, for few and for many steps, each recorded into a file.  What is compared is the same
work on the short and on the long file, in turns: opening it up to its first scene, and another iteration's scene.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import ratio, table
from viz.server.programs import from_file
from viz.server.revisions import Computed
from viz.server.store import Catalogue, Store

TURNS = 9
PROGRAM = """
import sys
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
for step in range(int(sys.argv[1])):
    data = torch.randint(0, 65, (4, 33))
    loss = F.cross_entropy(model(data[:, :-1]).reshape(-1, 65), data[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MEMORY = """
import sys
from pathlib import Path
from benchmarks.long_runs import first_scene
first_scene(Path(sys.argv[1]))
status = Path("/proc/self/status").read_text()  # what getrusage() says begins with the memory of the parent
print(next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM")))
"""


def record(folder: Path, steps: int) -> tuple[Path, float]:
    """The file of a run of so many steps, and the seconds that recording took."""
    script, path = folder / "gpt.py", folder / f"{steps}.backstep"
    script.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "viz", "record", "-o", str(path), str(script), str(steps)]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return path, time.perf_counter() - start


def first_scene(path: Path) -> Store:
    """Open a file as `backstep open` does, up to its first scene."""
    program = from_file(path)
    store = Store(Catalogue([program]), Computed())
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
        size = long.stat().st_size / 2**20
        print(f"{asked.long} steps recorded in {recording:.0f} s, {size:.0f} MB; beside {asked.short} steps:\n")
        table(
            ["work", "long / short", "long", "short"],
            [
                ["opening, to the first scene", opening, f"{opening.ours:.2f} s", f"{opening.theirs:.2f} s"],
                ["another iteration", turning, f"{turning.ours:.2f} s", f"{turning.theirs:.2f} s"],
                ["memory of the process", "", f"{memory(long)} MB", f"{memory(short)} MB"],
            ],
        )


if __name__ == "__main__":
    main()
