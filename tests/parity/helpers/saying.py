"""What an action or an expression answers or says, on ours or on torch: what surfaces are compared by."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any


def said(library: Any, action: Callable[[Any], Any], plain: Callable[[str], str] = str) -> tuple[Any, list[Any]]:
    """(what `action(library)` gives, or the type and text of its error; the warnings with it); `plain` mends texts."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            answer: Any = action(library)
        except Exception as error:  # noqa: BLE001 (whatever torch raises is to be raised)
            answer = (type(error).__name__, plain(str(error)))
    shown = answer.tolist() if hasattr(answer, "tolist") else answer
    return shown, [(w.category.__name__, str(w.message)) for w in given]


def first_sentence(text: str) -> str:
    """A message without its explanations."""
    return text.split(". ")[0]


def as_torchs(text: str) -> str:
    """A message that names the library."""
    return text.replace("engine", "torch")


def evaluated(expression: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression of a table, or the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says some only once in a process
        try:
            return eval(expression, dict(names))  # noqa: S307 - expressions of the test files
        except Exception as error:  # noqa: BLE001 - which one is what the tests are about
            return error


def listed(text: str) -> list[str]:
    """The expressions of a table: separated by ` | ` and by lines."""
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ") if part.strip()]
