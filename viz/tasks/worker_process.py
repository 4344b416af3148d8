"""Our modules that run in separate processes, started with `python -m`, so that nothing is imported twice."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = str(Path(__file__).resolve().parents[2])


def start_process(module: str, text: bool = False) -> subprocess.Popen[Any]:
    """The process of a module that reads questions from its input and writes answers to its output."""
    path = os.pathsep.join([_ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", module], env={**os.environ, "PYTHONPATH": path}, text=text,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def end_process(process: subprocess.Popen[Any]) -> int:
    """Ends the process, and returns its status."""
    process.kill()
    status = process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):  # a question that nobody reads any more
                stream.close()
    return status
