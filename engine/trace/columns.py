"""Tables of numbers by ids that count up, in arrays: a dict of as many entries takes ten times the memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

ABSENT = -1


class Column:
    """Numbers from 0 on, by a key that counts up.

    >>> column = Column("q")
    >>> column[1000], column[1002] = 5, 0
    >>> column.get(1000), column.get(1001), column.get(1002), column.get(7)
    (5, None, 0, None)
    >>> column.drop(1000)
    >>> column.get(1000)
    """

    __slots__ = ("_cells", "_first")

    def __init__(self, kind: str) -> None:
        self._cells = array(kind)
        self._first = 0

    def get(self, key: int) -> int | None:
        """The number of a key; None where there is none."""
        place = key - self._first
        if 0 <= place < len(self._cells) and (number := self._cells[place]) != ABSENT:
            return number
        return None

    def __getitem__(self, key: int) -> int:
        number = self.get(key)
        if number is None:
            raise KeyError(key)
        return number

    def __setitem__(self, key: int, number: int) -> None:
        cells = self._cells
        place = key - self._first
        if place == len(cells):  # as nearly always
            cells.append(number)
            return
        if not cells:
            self._first, place = key, 0
        elif place < 0:
            self._cells = cells = array(cells.typecode, [ABSENT] * -place) + cells
            self._first, place = key, 0
        if place >= len(cells):
            cells.extend([ABSENT] * (place + 1 - len(cells)))
        cells[place] = number

    def items(self) -> Iterator[tuple[int, int]]:
        """The keys that have a number, with it."""
        return ((self._first + place, number) for place, number in enumerate(self._cells) if number != ABSENT)

    def drop(self, key: int) -> None:
        """Forget the number of a key, if it has one."""
        if self.get(key) is not None:
            self[key] = ABSENT


class Pairs:
    """Two numbers by a key that counts up.

    >>> pairs = Pairs()
    >>> pairs[7] = 3, 1
    >>> pairs.get(7), pairs.get(8)
    ((3, 1), None)
    """

    __slots__ = ("_first", "_second")

    def __init__(self) -> None:
        self._first, self._second = Column("q"), Column("i")

    def get(self, key: int) -> tuple[int, int] | None:
        """The numbers of a key; None where there are none."""
        first = self._first.get(key)
        return None if first is None else (first, self._second[key])

    def __setitem__(self, key: int, numbers: tuple[int, int]) -> None:
        self._first[key], self._second[key] = numbers

    def drop(self, key: int) -> None:
        """Forget the numbers of a key, if it has some."""
        self._first.drop(key)


class Ids:
    """Dense numbers of ids that count up, in the order of the first request.

    >>> ids = Ids()
    >>> ids[70], ids[72], ids[70], len(ids), ids.get(71)
    (0, 1, 0, 2, None)
    """

    __slots__ = ("_count", "_numbers")

    def __init__(self) -> None:
        self._numbers = Column("q")
        self._count = 0

    def __getitem__(self, key: int) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._count
            self._count += 1
        return number

    def __contains__(self, key: int) -> bool:
        return self._numbers.get(key) is not None

    def __len__(self) -> int:
        return self._count

    def get(self, key: int) -> int | None:
        """The number of an id; None where it has none."""
        return self._numbers.get(key)

    def take_back(self, key: int) -> None:
        """Forget the last number that was given, which is that of `key`."""
        self._numbers.drop(key)
        self._count -= 1


class Texts:
    """Texts by keys that count up; equal ones are kept once.

    >>> texts = Texts()
    >>> texts[3] = texts[5] = "loss"
    >>> texts.get(3), texts.get(4), 5 in texts, texts.as_dict()
    ('loss', None, True, {3: 'loss', 5: 'loss'})
    """

    __slots__ = ("_column", "_numbers", "_texts")

    def __init__(self) -> None:
        self._column = Column("i")
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def get(self, key: int) -> str | None:
        """The text of a key; None where there is none."""
        number = self._column.get(key)
        return None if number is None else self._texts[number]

    def __contains__(self, key: int) -> bool:
        return self._column.get(key) is not None

    def __setitem__(self, key: int, text: str) -> None:
        number = self._numbers.setdefault(text, len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        self._column[key] = number

    def drop(self, key: int) -> bool:
        """Forget the text of a key; whether there was one."""
        is_there = key in self
        self._column.drop(key)
        return is_there

    def as_dict(self) -> dict[int, str]:
        """All of them, in the order of the keys."""
        return {key: self._texts[number] for key, number in self._column.items()}
