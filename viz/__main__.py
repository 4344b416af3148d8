"""`python -m viz` is the command `backstep`."""

from __future__ import annotations

import sys

from viz.cli import main

if __name__ == "__main__":
    sys.exit(main())
