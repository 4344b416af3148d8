"""Claim: a first visit sends a third of the page's bytes, as they are compressed; a second one next to nothing."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import table
from benchmarks.page import READY, page, until

PROGRAM = "weights"


def measure_visit(context: Any, origin: str) -> tuple[int, int, int]:
    """(requests that reached the server, bytes that it sent with their heads, bytes of their contents)."""
    made = context.new_page()
    session = context.new_cdp_session(made)
    found: dict[str, dict[str, Any]] = {}

    def seen(event: dict[str, Any], **more: Any) -> None:
        found.setdefault(event["requestId"], {"sent": 0, "content": 0, "stored": False}).update(more)

    def of_response(event: dict[str, Any]) -> None:
        seen(event, address=event["response"]["url"], stored=event["response"].get("fromDiskCache", False))

    def of_data(event: dict[str, Any]) -> None:
        seen(event)
        found[event["requestId"]]["content"] += event["dataLength"]

    session.on("Network.responseReceived", of_response)
    session.on("Network.requestServedFromCache", lambda event: seen(event, stored=True))
    session.on("Network.dataReceived", of_data)
    session.on("Network.loadingFinished", lambda event: seen(event, sent=event["encodedDataLength"]))
    session.send("Network.enable")
    made.goto(f"{origin}/?program={PROGRAM}")
    until(made, READY)
    made.wait_for_load_state("networkidle")
    asked = [one for one in found.values() if one.get("address", "").startswith("http") and not one["stored"]]
    made.close()
    return len(asked), int(sum(one["sent"] for one in asked)), sum(one["content"] for one in asked)


def main() -> None:
    with page() as (made, origin):
        context = made.context.browser.new_context()
        rows = [(name, *(f"{n:,}" for n in measure_visit(context, origin))) for name in ("first", "second")]
    table(("visit", "requests", "bytes sent, with heads", "bytes of their contents"), rows)


if __name__ == "__main__":
    main()
