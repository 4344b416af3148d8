"""What a story asks its readers."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class Choice(TypedDict):
    """An answer that is offered to a question."""

    text: str
    """The answer."""
    right: bool
    """Whether it is true."""


class Question(TypedDict):
    """A question that a chapter asks before its move; the move shows the answer."""

    text: str
    """The question."""
    choices: list[Choice]
    """The answers that are offered; none for an open question."""
    why: NotRequired[str]
    """What is said once the move has shown the answer."""
