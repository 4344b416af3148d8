"""Claims: the first picture of the front door is there within 1 s, warm; its first screen takes less than 500 kB."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import percentile, table
from benchmarks.page import page, until

ROUNDS = 5
PICTURE = "document.documentElement.dataset.front === 'ready'"
APP = "document.documentElement.dataset.app === 'ready'"
MARKED = "performance.getEntriesByName('front')[0].startTime"


def measure_visit(context: Any, origin: str) -> tuple[float, int, int]:
    """(ms from the beginning of the visit to the first picture, bytes of the first screen with the pictures of its
    cards, bytes with the app behind it), as they were sent."""
    made = context.new_page()
    session = context.new_cdp_session(made)
    sent: list[float] = []
    session.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    session.send("Network.enable")
    made.goto(origin)
    until(made, PICTURE)
    shown = float(made.evaluate(MARKED))
    made.wait_for_load_state("networkidle")
    first = int(sum(sent))
    assert not made.evaluate(APP), "the app was there before the first screen was measured"
    until(made, APP)
    made.wait_for_load_state("networkidle")
    made.close()
    return shown, first, int(sum(sent))


def main() -> None:
    rows = []
    with page() as (made, origin):
        browser = made.context.browser
        context = browser.new_context()
        rows.append(("first visit of a new server", *formatted([measure_visit(context, origin)])))
        rows.append(("again, warm", *formatted([measure_visit(context, origin) for _ in range(ROUNDS)])))
        rows.append(("first visit of another browser", *formatted([measure_visit(browser.new_context(), origin)])))
    table(("visit", "first picture, ms", "first screen, bytes", "with the app, bytes"), rows)


def formatted(visits: list[tuple[float, int, int]]) -> list[str]:
    times, first, whole = zip(*visits, strict=True)
    slowest = f" (slowest {max(times):.0f})" if visits[1:] else ""
    return [f"{percentile(times, 0.5):.0f}{slowest}", f"{max(first):,}", f"{max(whole):,}"]


if __name__ == "__main__":
    main()
