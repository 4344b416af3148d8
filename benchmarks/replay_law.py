"""Claim: a replay equals a fresh run, bit for bit.  Counts how many (program, edit) pairs and events were compared."""

from __future__ import annotations

import sys
import warnings

from benchmarks.measure import table
from tests.engine.replay.test_law import Draw, compare, recorded
from viz.gallery import gallery

PER_PROGRAM = 200


def main() -> int:
    """Compares; the exit status is 1 where a pair differs."""
    warnings.simplefilter("ignore")  # the programs' own
    per_program = int(sys.argv[1]) if len(sys.argv) > 1 else PER_PROGRAM
    pairs = events = 0
    different: list[str] = []
    for program in gallery():
        base = recorded(program)
        draw = Draw(base, program.id, " benchmark")
        for number in range(per_program):
            plan = draw.plan()
            pairs += 1
            try:
                events += compare(program, base, plan)
            except (AssertionError, ValueError) as error:
                different.append(f"{program.id} {number}: {str(error).splitlines()[0][:160]}")
    table(("programs", "pairs compared", "events compared", "pairs that differ"),
          [(len(gallery()), f"{pairs:,}", f"{events:,}", len(different))])  # fmt: skip
    print(*different, sep="\n")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
