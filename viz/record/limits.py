"""How much of a long run is recorded: the options of the command as they are typed, and checked."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}


@dataclass(frozen=True, slots=True)
class Limits:
    """`steps` are ranges [first, end) of iterations whose values are kept, with None for no end; `every` adds further
    ones.  If it `pauses`, nothing is recorded of the others.

    Beyond `max_bytes` of the file, or `max_ops` forward ops, nothing is recorded.
    """

    steps: tuple[tuple[int, int | None], ...] = ()
    every: int | None = None
    max_bytes: int | None = None
    max_ops: int | None = None
    pauses: bool = False


NONE = Limits()
"""Everything is recorded."""


def ranges(text: str) -> tuple[tuple[int, int | None], ...]:
    """The iterations of `--steps`.

    >>> ranges("100:103"), ranges("7,20:")
    (((100, 103),), ((7, 8), (20, None)))
    >>> ranges("3:3")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: '3:3' contains no iteration: the end, which is not included, must be above the start
    """
    return tuple(_range(part.strip()) for part in text.split(","))


def _range(part: str) -> tuple[int, int | None]:
    match = re.fullmatch(r"(\d*)(:?)(\d*)", part, re.ASCII)
    if match is None or not (match[1] or match[3]):
        raise argparse.ArgumentTypeError(
            f"{part!r} is not a range of iterations: give one such as 7, 100:103 (100, 101 and 102), 100: or :10, or "
            "several with commas; the first iteration is 0"
        )
    first = int(match[1] or 0)
    end = (int(match[3]) if match[3] else None) if match[2] else first + 1
    if end is not None and end <= first:
        raise argparse.ArgumentTypeError(
            f"{part!r} contains no iteration: the end, which is not included, must be above the start"
        )
    return first, end


def count(text: str) -> int:
    """A whole number of at least 1."""
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a count: give a whole number of at least 1")
    return int(text)


def size(text: str) -> int:
    """A number of bytes.

    >>> size("500M"), size("1.5G"), size("4096")
    (500000000, 1500000000, 4096)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kMG]?)B?", text, re.ASCII)
    count = int(float(match[1]) * UNITS[match[2]]) if match is not None else 0
    if count < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a size: give a number of bytes, or of k, M or G, such as 500M or 2G"
        )
    return count


def in_words(number: float) -> str:
    """A number of bytes for people.

    >>> in_words(1_240_000), in_words(8200), in_words(2.5e9)
    ('1.2 MB', '8 kB', '2.5 GB')
    """
    for unit in ("G", "M"):
        if number >= UNITS[unit]:
            return f"{number / UNITS[unit]:,.1f} {unit}B"
    return f"{number / 1e3:,.0f} kB"
