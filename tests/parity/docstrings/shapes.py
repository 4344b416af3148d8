"""What docstrings say of shapes, read and held against those of a call.

`Shapes: (N, C, L) -> (N, C, L').` has the inputs before the arrow and the results behind it.  A capital letter is one
size wherever it stands; a name is that attribute of a layer or argument of a function (`*name`: all of its sizes);
a number is that size; `*` is any number of dimensions, those of the first `*` of a shape the same in all of them;
`[N,]` may be missing, then everywhere; what is no single name (`L'`, `D / 2`) is any size, `*'` or `...` any sizes.
Other ways to call stand behind semicolons.  Where shapes broadcast, the text says so, and what each `*` is does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Known = dict[str, Any]
Sizes = Sequence[tuple[int, ...]]

ANY = ("*'", "...")
"""What is any number of dimensions, of any sizes."""


def flat(text: str | None) -> str:
    """A docstring on one line."""
    return " ".join((text or "").split())


def told(text: str | None) -> str | None:
    """What a docstring says of shapes, up to the next sentence."""
    found = re.search(r"Shapes: (.*?)\.(?:\s+Raises|\s+Source)", flat(text))
    return found[1] if found else None


def named_errors(text: str | None) -> list[str]:
    """The exceptions that a docstring names."""
    found = re.search(r"Raises ((?:(?!Raises ).)*?)\.\s+Source", flat(text))
    return re.findall(r"\w+Error", found[1]) if found else []


def shapes(text: str) -> list[list[str]]:
    """
    >>> shapes("(N, C, L / 2), ([N,] *)")
    [['N', 'C', 'L / 2'], ['[N]', '*']]
    """
    text = text.replace("[N,] ", "[N], ")
    return [[one.strip() for one in part.split(",") if one.strip()] for part in re.findall(r"\(([^()]*)\)", text)]


def fits(pattern: Sequence[str], sizes: Sequence[int], known: Known, stars: int = 0) -> Iterator[Known]:
    """The ways in which sizes are those of a pattern, each as what is known of its letters then."""
    if not pattern:
        if not sizes:
            yield known
        return
    first, rest = pattern[0], pattern[1:]
    if first.startswith("*") or first in ANY:
        counts = range(len(sizes) + 1)
        name = f"*{stars}" if first == "*" else first
        for count in counts:
            part = tuple(sizes[:count])
            if first in ANY or known.get(name, part) == part:
                yield from fits(rest, sizes[count:], known | ({} if first in ANY else {name: part}), stars + 1)
    elif first.isdigit():
        if sizes and int(first) == sizes[0]:
            yield from fits(rest, sizes[1:], known, stars)
    elif sizes and (not first.isidentifier() or known.get(first, sizes[0]) == sizes[0]):
        yield from fits(rest, sizes[1:], known | ({first: sizes[0]} if first.isidentifier() else {}), stars)


def ways(patterns: Sequence[tuple[Sequence[str], Sequence[int]]], known: Known) -> Iterator[Known]:
    """The ways in which all of the sizes are those of their patterns."""
    if not patterns:
        yield known
        return
    pattern, sizes = patterns[0]
    for more in fits(pattern, sizes, known):
        yield from ways(patterns[1:], more)


def _own_stars(place: int, pattern: Sequence[str]) -> list[str]:
    """Each `*` of a shape under a name of its own."""
    names = iter(range(len(pattern)))
    return [f"*{place} {next(names)}" if one == "*" else one for one in pattern]


def _broadcast(known: Known, inputs: int) -> bool:
    """Whether what each `*` stands for in the inputs broadcasts to what it stands for in the results."""
    stars: dict[str, tuple[list[Any], list[Any]]] = {}
    for name, part in known.items():
        place, _, number = name.removeprefix("*").partition(" ")
        if number:
            stars.setdefault(number, ([], []))[int(place) >= inputs].append(part)
    try:
        return all(made == np.broadcast_shapes(*given) for given, results in stars.values() for made in results)
    except ValueError:
        return False


def way_holds(before: str, after: str, given: Sizes, made: Sizes, known: Mapping[str, Any], wide: bool = False) -> bool:
    """Whether sizes are those of the shapes before and behind an arrow; `wide`: the inputs broadcast."""
    for batched in (True, False):
        both = [
            [[name.strip("[]") for name in one if batched or name != "[N]"] for one in shapes(text)]
            for text in (before, after)
        ]
        pairs = [*zip(both[0], given, strict=False)]
        inputs = len(pairs)
        pairs += zip(both[1], made, strict=False)
        if wide:
            pairs = [(_own_stars(place, pattern), sizes) for place, (pattern, sizes) in enumerate(pairs)]
        if any(not wide or _broadcast(way, inputs) for way in ways(pairs, dict(known))):
            return True
    return False


def call_holds(text: str, given: Sizes, made: Sizes, known: Mapping[str, Any]) -> bool:
    """Whether the sizes of a call are those of one of the ways to call that stand in `text`."""
    for part in text.split("; "):
        if part.count(" -> ") != 1:
            continue
        before, after = part.split(" -> ")
        results = after.split(", with ")
        if ", with reduction " in after:
            results = results[-1:] if known.get("reduction", "mean") == "none" else results[:1]
        if any(way_holds(before, result, given, made, known, "broadcast" in part) for result in results):
            return True
    return False
