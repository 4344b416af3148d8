"""Replaying a trace as a program, with edits, and the doubts about what a fresh run would do.
It replays ops, not modules: nothing here imports `nn`.
"""
