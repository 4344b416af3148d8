"""The sentences of steps."""
