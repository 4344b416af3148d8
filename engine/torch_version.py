"""A version that is a string, and compares as a version: what `torch.__version__` is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from .version import __version__ as _text

__all__ = ["TorchVersion"]

_SHAPE = re.compile(
    r"""\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<early>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<early_number>\d*))?
    (?P<post>-(?P<post_bare>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*))?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_EARLY = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_LAST = 3
"""Past every early release: of one that is none."""

Key = tuple[Any, ...]


def order(text: str) -> Key | None:
    """What sorts versions as PEP 440 does; None for a text that is no version.

    >>> order("1.10.0a0") < order("1.10") < order("1.10.0+cpu") < order("2.0")
    True
    """
    found = _SHAPE.fullmatch(text)
    if found is None:
        return None
    release = tuple(int(part) for part in found["release"].split("."))
    while len(release) > 1 and release[-1] == 0:
        release = release[:-1]
    early = (_LAST, 0)
    if found["early"]:
        early = (_EARLY[found["early"].lower()], int(found["early_number"] or 0))
    elif found["dev"] and not found["post"]:  # a development release of a release comes before all its early ones
        early = (-1, 0)
    post = int(found["post_bare"] or found["post_number"] or 0) if found["post"] else -1
    dev = (0, int(found["dev_number"] or 0)) if found["dev"] else (1, 0)
    local = re.split(r"[-_.]", found["local"].lower()) if found["local"] else []
    parts = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in local)
    return int(found["epoch"] or 0), release, early, post, dev, parts


class TorchVersion(str):
    """A text that compares with texts and tuples as versions do; with what is none, as a text.  Source: torch.

    >>> from engine.torch_version import TorchVersion
    >>> TorchVersion("1.10.0") > "1.9", TorchVersion("1.10.0") > (1, 9), TorchVersion("1.10.0").split(".")[0]
    (True, True, '1')
    """

    __slots__ = ()

    def _compared(self, other: Any, name: str) -> Any:
        mine = order(self)
        theirs = order(_spelled(other)) if isinstance(other, Iterable) else None
        if mine is None or theirs is None:
            return getattr(str, name)(self, other)
        compare: Callable[[Key, Key], bool] = getattr(tuple, name)
        return compare(mine, theirs)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "__eq__")

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, "__ge__")

    __hash__ = str.__hash__


def _spelled(version: Iterable[Any]) -> str:
    return version if isinstance(version, str) else ".".join(str(part) for part in version)


__version__ = TorchVersion(_text)
