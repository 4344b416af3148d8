"""Claims: the server answers within 3 s of the command, and the first program is visible within 3 s of asking."""

from __future__ import annotations

import time
import urllib.request

from benchmarks.measure import percentile, table
from benchmarks.page import opened, page
from tests.browser.conftest import App

ROUNDS = 5
FIRST = "weights"


def seconds_to_answer() -> float:
    """Seconds from the command to the whole of the page's first answer."""
    start = time.perf_counter()
    app = App()
    try:
        with urllib.request.urlopen(f"{app.origin}/", timeout=30) as answer:
            answer.read()
        return time.perf_counter() - start
    finally:
        app.close()


def main() -> None:
    rows = []
    servers = [seconds_to_answer() for _ in range(ROUNDS)]
    rows.append(("command to the server's answer", f"{percentile(servers, 0.5):.2f}", f"{max(servers):.2f}"))
    pages = []
    for _ in range(ROUNDS):
        with page() as (made, origin):  # a new server: its first scene is made for this page
            start = time.perf_counter()
            opened(made, origin, FIRST)
            pages.append(time.perf_counter() - start)
    rows.append(("page to the first program", f"{percentile(pages, 0.5):.2f}", f"{max(pages):.2f}"))
    table(("from ... to", "median s", "slowest s"), rows)


if __name__ == "__main__":
    main()
