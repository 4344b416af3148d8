"""Whole programs on both libraries: the gallery run on each, and recorded on each."""
