"""The process of one job, for a server whose queue is on disk: `python -m viz.server.production.job`.

It reads `{room, function, key, args}` as JSON from its input, waits until fewer jobs run than the machine has cores,
and leaves its result in the cache.  It ends by itself after jobs.LIMIT seconds.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from viz.server.production.places import place

NICE = 5
"""Its niceness: it leaves the processor to the server, as scene_worker.py does."""


def main() -> None:
    os.nice(NICE)
    order = json.load(sys.stdin)
    turn = place(Path(order["room"]["shared"]), "job", os.cpu_count() or 1)
    from viz.server.production.classroom import Classroom, background  # a second, so after the wait
    from viz.server.production.jobs import LIMIT

    signal.alarm(LIMIT)
    key, args = order["key"], order["args"]
    jobs, _ = background(Classroom.from_json(order["room"]), args[0]["program"])
    jobs.func_registry[order["function"]](key, jobs._make_progress_key(key), args, {})
    turn.close()


if __name__ == "__main__":
    main()
