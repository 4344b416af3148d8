"""The documents that the browser plays: scenes, details and changes."""
