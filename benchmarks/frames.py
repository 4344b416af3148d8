"""Claims: a step is painted in 34 ms at 300 nodes; panning and playing 3,000 nodes keep within 20 ms a frame.

The scene is synthetic.  Times are between animation frames while something changes in each of them, so that what the
browser does behind our code counts too; no request may be made meanwhile, and that is counted.
"""

from __future__ import annotations

from typing import Any

from benchmarks.measure import percentile, table
from benchmarks.page import opened, page, synthetic

FRAMES = 150
STEPS = 40
LOAD = "(text) => { backstep.load(JSON.parse(text)); backstep.fit(); }"
STEP = """
async (steps) => {
  const frame = () => new Promise(requestAnimationFrame);
  const times = [];
  const from = Math.floor(backstep.scene().steps.length / 2);
  for (let k = 0; k < steps; k++) {
    await frame();
    const [start, before] = [performance.now(), backstep.frameCount()];
    backstep.seek(from + k);
    while (backstep.frameCount() === before) await frame();
    await frame();
    times.push(performance.now() - start);
  }
  return times;
}
"""
MOVE = """
async ([frames, what]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const stage = document.getElementById("stage");
  const target = stage.querySelector("canvas") ?? stage;
  const box = target.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const held = { clientY: y, pointerId: 1, buttons: 1, button: 0, bubbles: true, isPrimary: true };
  const point = (type, dx) => target.dispatchEvent(new PointerEvent(type, { ...held, clientX: x + dx }));
  if (what === "play") { backstep.seek(backstep.scene().steps.length / 2); backstep.play(); }
  if (what === "pan") point("pointerdown", 0);
  const times = [];
  let last = await frame();
  const drawn = backstep.frameCount();
  for (let k = 0; k < frames; k++) {
    if (what === "pan") point("pointermove", 3 * (k % 40));
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  if (what === "pan") point("pointerup", 0);
  backstep.pause();
  return { times, drawn: backstep.frameCount() - drawn };
}
"""


def row(name: str, times: list[float], note: object) -> tuple[object, ...]:
    return (name, f"{percentile(times, 0.5):.1f}", f"{percentile(times, 0.95):.1f}", note)


def main() -> None:
    rows: list[tuple[object, ...]] = []
    with page() as (made, origin):
        opened(made, origin, "weights")
        asked = made.evaluate("backstep.serverCalls()")
        made.evaluate(LOAD, synthetic(300))
        rows.append(row("step, 300 nodes", made.evaluate(STEP, STEPS), STEPS))
        made.evaluate(LOAD, synthetic(3000))
        for what in ("pan", "play"):
            found: dict[str, Any] = made.evaluate(MOVE, [FRAMES, what])
            rows.append(row(f"{what}, 3,000 nodes", found["times"], found["drawn"]))
        calls = made.evaluate("backstep.serverCalls()") - asked
    table(("what", "median ms", "p95 ms", "frames drawn"), rows)
    print(f"\nrequests to the server meanwhile: {calls}")


if __name__ == "__main__":
    main()
