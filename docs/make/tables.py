"""Functions that the pages made from the code share."""

from __future__ import annotations


def escaped(text: str) -> str:
    """Text in a cell of a Markdown table.

    >>> escaped("a | b")
    'a \\\\| b'
    """
    return text.replace("|", "\\|").replace("\n", " ")
