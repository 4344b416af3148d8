"""Claim: in the six-block GPT of `long_runs` a block unfolds, and another iteration comes, within 150 ms.

That is to the second frame after the new picture, on a machine with nothing else to do.  Beside the clock stands the
processor time of the page's thread, which depends less on what else runs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.long_runs import record
from benchmarks.measure import percentile, table
from benchmarks.page import opened, page, until
from viz.server.programs import from_file

STEPS, ROUNDS = 12, 3
REST = 1500
"""Milliseconds after which the page has what it opens with, and the next iteration has been fetched ahead."""
MOVE = """
async ([event, ...about]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const shown = backstep.scene();
  const start = performance.now();
  backstep.emit(event, ...about);
  while (backstep.scene() === shown) await frame();
  await frame();
  await frame();
  return performance.now() - start;
}
"""
GROUPS = "backstep.scene().nodes.filter(({ label }) => label.endsWith(NAME)).map(({ id }) => id)"


class Moves:
    """Moves in the page: their milliseconds by the clock, and those of the page's thread."""

    def __init__(self, view: Any) -> None:
        self.view = view
        self.session = view.context.new_cdp_session(view)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.times: dict[str, list[tuple[float, float]]] = {}

    def move(self, name: str, *about: Any) -> None:
        before = self.worked()
        clock = self.view.evaluate(MOVE, about)
        self.times.setdefault(name, []).append((clock, self.worked() - before))
        self.view.wait_for_timeout(REST)

    def worked(self) -> float:
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(1e3 * float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        path, _ = record(Path(folder), STEPS)
        with page("open", str(path)) as (view, origin):
            opened(view, origin, f"{from_file(path).id}&section=1&step=1")
            until(view, "backstep.scene().nodes.length")
            view.wait_for_timeout(REST)
            moves = Moves(view)
            series = view.evaluate(GROUPS.replace("NAME", "'blocks'"))[0]
            for _ in range(ROUNDS):
                moves.move("unfold the list of blocks", "fold", series)
                blocks = view.evaluate(GROUPS.replace("NAME", "': Block'"))
                for block in blocks:
                    moves.move("unfold a block", "fold", block)
                for block in blocks:
                    moves.move("fold it", "fold", block)
                moves.move("fold the list", "fold", series)
                moves.move("another iteration", "turn", 1, None)
    rows = []
    for name, times in moves.times.items():
        clocks, worked = ([pair[k] for pair in times] for k in (0, 1))
        each = (f"{percentile(clocks, 0.5):.0f}", f"{max(clocks):.0f}", f"{percentile(worked, 0.5):.0f}")
        rows.append((name, len(times), *each))
    table(("move", "times", "median, ms", "most", "of the page's thread, median"), rows)


if __name__ == "__main__":
    main()
