"""The frame in which a page, or a notebook, shows a lesson file."""

from __future__ import annotations

from html import escape

HEIGHT = 640
"""Pixels."""


def frame_attributes(height: int = HEIGHT) -> str:
    """Those of every frame, which keep the lesson apart from the page around it: it has an origin of its own."""
    may = "allow-scripts allow-downloads allow-popups"
    return f'sandbox="{may}" allowfullscreen style="width: 100%; height: {height}px; border: 0"'


def frame(file: str, title: str) -> str:
    """The line for a page that is beside the lesson file.

    >>> frame("lesson.html", "Two numbers, doubled").partition(" sandbox")[0]
    '<iframe src="lesson.html" title="Two numbers, doubled"'
    """
    return f'<iframe src="{escape(file)}" title="{escape(title)}" {frame_attributes()}></iframe>'
