"""The functions that users call: torch's arguments in front of the ops, and torch's errors where they do not fit."""
