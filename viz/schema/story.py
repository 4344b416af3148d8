"""The questions that a story asks its readers."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from .edits import Edits


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
    """The text that follows when the move has shown the answer."""


class Try(TypedDict):
    """An edit that a chapter proposes."""

    text: str
    """As the author wrote it: `gradient = [0, 1], retain_graph = False`."""
    edits: NotRequired[Edits]
    """The changes of the recording that it stands for."""
    problem: NotRequired[str]
    """Why it stands for none."""
