"""Replays with edits, and the law that they equal fresh runs."""
