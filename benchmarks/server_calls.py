"""Claim: stepping, scrubbing and selecting a seen element ask the server nothing.  Counted on every program."""

from __future__ import annotations

from benchmarks.measure import table
from benchmarks.page import opened, page
from viz.gallery import gallery

WALK = """
async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const scene = backstep.scene();
  const seen = scene.nodes.slice(0, 2).map((node) => node.id);
  const settled = async (id) => {
    backstep.select(id);
    for (let k = 0; k < 20; k++) await frame();
  };
  for (const id of seen) await settled(id);
  const before = backstep.serverCalls();
  let moves = 0;
  for (const t of [...scene.steps.keys(), scene.steps.length]) { backstep.seek(t); await frame(); moves += 1; }
  for (let t = scene.steps.length; t >= 0; t -= 0.5) { backstep.seek(t); await frame(); moves += 1; }
  for (const id of seen) { await settled(id); moves += 1; }
  return [moves, backstep.serverCalls() - before];
}
"""


def main() -> None:
    moves = calls = 0
    with page() as (made, origin):
        for program in gallery():
            opened(made, origin, program.id)
            done, asked = made.evaluate(WALK)
            moves += done
            calls += asked
    table(("programs", "moves in time and selections", "server calls"), [(len(gallery()), f"{moves:,}", calls)])


if __name__ == "__main__":
    main()
