"""Colours, letters and contrast, in both themes and with the system's own colours."""
