"""A program that runs in several processes at once, as torch.distributed numbers them: each has a trace of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any


def rank() -> int | None:
    """The number of this process among those that run the same program; None if it is the only one.

    torch.distributed knows it once the program has joined; before that, the variables that torchrun sets.
    """
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()) if distributed.get_world_size() > 1 else None
    number, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return int(number) if number.isdecimal() and size.isdecimal() and int(size) > 1 else None


def of_rank(path: Path, number: int | None) -> Path:
    """The path of the trace of one process.

    >>> of_rank(Path("runs/train.backstep"), 1).name, of_rank(Path("train.backstep"), None).name
    ('train.rank1.backstep', 'train.backstep')
    """
    return path if number is None else path.with_name(f"{path.stem}.rank{number}{path.suffix}")


def of_ranks(path: Path, since: float = 0.0) -> list[Path]:
    """The traces of the processes that a recorded program started, written after a time, by their numbers."""
    traces = [one for one in path.parent.glob(f"{path.stem}.rank*{path.suffix}") if one.stat().st_mtime >= since]
    return sorted(traces, key=lambda one: (len(one.name), one.name))
