"""A version that is a string and compares as a version: the type of `torch.__version__`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from packaging.version import Version

from .version import __version__ as _text

__all__ = ["TorchVersion"]


class TorchVersion(str):
    """A text that compares with texts, tuples and Versions as versions do; with what is none, as a text.

    Source: torch.

    >>> from engine.torch_version import TorchVersion
    >>> TorchVersion("1.10.0") > "1.9", TorchVersion("1.10.0") > (1, 9), TorchVersion("1.10.0").split(".")[0]
    (True, True, '1')
    """

    __slots__ = ()

    def _compared(self, other: Any, name: str) -> Any:
        try:
            if isinstance(other, (Version, Iterable)):
                return getattr(Version(str(self)), name)(Version(_spelled(other)))
        except ValueError:
            pass  # no version: they compare as texts, as torch has it
        return getattr(str, name)(self, other)

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


def _spelled(version: Version | Iterable[Any]) -> str:
    return str(version) if isinstance(version, (str, Version)) else ".".join(map(str, version))


__version__ = TorchVersion(_text)
