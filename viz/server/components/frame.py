"""The frame in which a page, or a notebook, shows a lesson file."""

from __future__ import annotations

from html import escape

HEIGHT = 640
"""Pixels."""


def frame_attributes(height: int = HEIGHT) -> str:
    """The attributes of every frame, which separate the lesson from the page around it: its origin is its own."""
    may = "allow-scripts allow-downloads allow-popups"
    return f'sandbox="{may}" allowfullscreen style="width: 100%; height: {height}px; border: 0"'


def frame(file: str, title: str) -> str:
    """The line of HTML for a page in the folder of the lesson file.

    >>> frame("lesson.html", "Two numbers, doubled").partition(" sandbox")[0]
    '<iframe src="lesson.html" title="Two numbers, doubled"'
    """
    return f'<iframe src="{escape(file)}" title="{escape(title)}" {frame_attributes()}></iframe>'
