"""What of PyTorch's public names Backstep has not, each with its reason; docs/make/ops.py writes it down."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import engine
from docs.make.tables import escaped

HERE = Path(__file__).parent
NAMES = HERE / "torch-names.txt"
REASONS = HERE / "left-out.toml"


@dataclass(frozen=True)
class Reason:
    """Why the names that fit one of the `patterns` are left out."""

    subject: str
    reason: str
    patterns: Sequence[str]

    def fits(self, name: str) -> bool:
        """Whether it speaks of a name."""
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)


@cache
def names() -> Mapping[str, Sequence[str]]:
    """PyTorch's names by place, as the file lists them.

    >>> names()["torch.autograd.functional"]
    ('hessian', 'hvp', 'jacobian', 'jvp', 'vhp', 'vjp')
    """
    found: dict[str, tuple[str, ...]] = {}
    place = ""
    for line in NAMES.read_text("utf-8").splitlines():
        if line.startswith("["):
            place = line.strip("[]")
            found[place] = ()
        elif line and not line.startswith("#"):
            found[place] += tuple(line.split())
    return found


@cache
def reasons() -> Sequence[Reason]:
    """The rows of the file, in its order."""
    rows = tomllib.loads(REASONS.read_text("utf-8"))["left"]
    return tuple(Reason(row["subject"], row["reason"], tuple(row["names"])) for row in rows)


def missing() -> Iterator[str]:
    """Every name that the engine has not, with its place."""
    for place, listed in names().items():
        holder = at(place)
        yield from (f"{place}.{name}" for name in listed if not hasattr(holder, name))


def refusing() -> Iterator[str]:
    """Names that are here only to say that they are left out."""
    for place, listed in names().items():
        holder = at(place)
        for name in listed:
            if (getattr(getattr(holder, name, None), "__doc__", "") or "").startswith("Raises OutOfScope"):
                yield f"{place}.{name}"


def at(place: str) -> Any:
    """The engine's module or class under torch's dotted name; None where there is none."""
    found: Any = engine
    for part in place.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def sorted_out() -> tuple[dict[str, list[str]], list[str], list[str]]:
    """(the missing names by subject, those without a reason, the patterns that fit none)."""
    by_subject: dict[str, list[str]] = {row.subject: [] for row in reasons()}
    unexplained = []
    left = list(missing())
    for name in left:
        row = next((one for one in reasons() if one.fits(name)), None)
        if row is None:
            unexplained.append(name)
        else:
            by_subject[row.subject].append(name)
    every = [pattern for row in reasons() for pattern in row.patterns]
    dead = [pattern for pattern in every if not any(fnmatchcase(name, pattern) for name in left)]
    return by_subject, unexplained, dead


def table() -> str:
    """One row per reason.  Raises ValueError for a name without a reason, and for a pattern without a name."""
    by_subject, unexplained, dead = sorted_out()
    if unexplained or dead:
        raise ValueError(f"{REASONS.name}: no reason for {unexplained}; nothing is missing any more of {dead}")
    lines = ["| what | why | names |", "|---|---|---|"]
    for row in reasons():
        listed = ", ".join(f"`{name.removeprefix('torch.')}`" for name in by_subject[row.subject])
        lines.append(f"| {row.subject} | {escaped(row.reason)} | {listed} |")
    return (
        "\n".join(lines)
        + "\n\nThese exist only to raise an explained error when called: "
        + ", ".join(f"`{name.removeprefix('torch.')}`" for name in refusing())
        + ".\n"
    )
