"""What a small program shows of itself: the same program on two libraries has the same outcome."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import engine


def both() -> list[Any]:
    """Ours and torch."""
    return [engine, pytest.importorskip("torch")]


def values(tensor: Any) -> Any:
    """The elements; None of None."""
    return None if tensor is None else tensor.tolist()


def outcome(program: Callable[[Any], Any], library: Any) -> tuple[str, ...]:
    """The result of `program(library)` as text, or its error, and after it the warnings that were given."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "the .*signature of throw", DeprecationWarning)  # torch calls it so
        try:
            shown = text(program(library))
        except Exception as error:  # noqa: BLE001 whatever a program ends with is compared
            shown = f"{type(error).__name__}: {error}"
    kept = [w for w in told if w.category is not RuntimeWarning and "torch.jit" not in str(w.message)]  # of its inside
    said = [f"{w.category.__name__}: {w.message}" for w in kept]
    return tuple(plain(line) for line in (shown, *said))


def text(value: Any) -> str:
    """Tensors as they are printed, containers with their elements."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text(v) for v in value) + "]"
    return str(value)


def plain(line: str) -> str:
    """Without what no two runs share: addresses, places in torch's source, and folders."""
    line = re.sub(r"0x[0-9a-f]+", "0x", line)
    line = re.sub(r" ?\(Triggered internally at [^)]*\)\.?", "", line)
    return re.sub(r'File "[^"]*"', "File", line).strip()


def first_sentences(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The first sentence of each text of an outcome; of a result nothing."""
    told = [line for place, line in enumerate(lines) if place or re.match(r"[A-Z]\w*(Error|Exception): ", line)]
    return tuple(re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0].split("\n", maxsplit=1)[0] for line in told)


def same(program: Callable[[Any], Any]) -> None:
    """Assert that a program has the same outcome here and in torch."""
    ours, theirs = (outcome(program, library) for library in both())
    assert ours == theirs, "\n".join(("here", *ours, "in torch", *theirs))


def programs(namespace: dict[str, Any]) -> list[Any]:
    """The programs of a module, functions named `program_...` that take the library, as pytest parameters."""
    return [
        pytest.param(function, id=name.removeprefix("program_"))
        for name, function in namespace.items()
        if name.startswith("program_")
    ]


START = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nseen = []\n"


def texts(rows: dict[str, str]) -> list[Any]:
    """Programs given as texts of `torch`, which leave in `r` what is compared; `x` is a leaf and `seen` a list."""
    return [pytest.param(program(text), id=name) for name, text in rows.items()]


def program(source: str) -> Callable[[Any], Any]:
    """The program of a text."""

    def run(library: Any) -> Any:
        space: dict[str, Any] = {"torch": library, "r": None}
        exec(compile(START + source, "<program>", "exec"), space)
        return space["r"]

    return run
