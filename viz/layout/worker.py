"""A process that runs dot, so that a graph that takes too long can be abandoned: `python -m viz.layout.worker`.

One JSON object per line, each way: {ranks, heights, lanes, edges, level, arguments, sides} in, {places} or {error} out.
"""

from __future__ import annotations

import json
import sys

from . import dot
from .layered.ranked_graph import RankedGraph


def main() -> None:
    out = sys.stdout
    sys.stdout = sys.stderr  # Graphviz and its fonts may write warnings: the answer has a line of its own
    for line in sys.stdin:
        task = json.loads(line)
        try:
            graph = RankedGraph(
                tuple(task["ranks"]), tuple(task["heights"]), frozenset(task["lanes"]),
                tuple(map(tuple, task["edges"])), frozenset(map(tuple, task["level"])),
                tuple(map(tuple, task["arguments"])), tuple(map(tuple, task["sides"])),
            )  # fmt: skip
            answer: dict[str, object] = {"places": dot.places(graph)}
        except Exception as error:  # noqa: BLE001  the caller falls back to the second layout whatever went wrong
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
