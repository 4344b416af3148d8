"""Claim: from an edit of `gradient` to the new revision on screen: under 300 ms for the founding cases."""

from __future__ import annotations

import math

from benchmarks.measure import percentile, table
from benchmarks.page import opened, page
from viz.gallery import gallery

EDITS = 7
EDIT = """
async ([number]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const scene = backstep.scene();
  const command = scene.commands.find((one) => one.kind === "backward" && one.shape);
  if (!command) return null;
  const fill = ([size, ...rest]) => size === undefined ? number : Array.from({ length: size }, () => fill(rest));
  const start = performance.now();
  backstep.edit({ command: command.id, gradient: fill(command.shape) });
  while (backstep.scene().revision.id === scene.revision.id) {
    if (performance.now() - start > 2000) return Infinity; // refused
    await frame();
  }
  await frame();
  await frame(); // the first has drawn it, the second comes when that is on screen
  return performance.now() - start;
}
"""


def main() -> None:
    rows = []
    with page() as (made, origin):
        for program in (one for one in gallery() if one.rows):
            opened(made, origin, program.id)
            times: list[float | None] = []
            for number in range(EDITS):
                times.append(made.evaluate(EDIT, [0.5 + number]))
                if times[-1] == math.inf:
                    break
            known = [time for time in times if time is not None]
            if known:
                rows.append((program.id, f"{percentile(known, 0.5):.0f}", f"{max(known):.0f}"))
    table(("program", "edit to screen, median ms", "slowest ms"), rows)


if __name__ == "__main__":
    main()
