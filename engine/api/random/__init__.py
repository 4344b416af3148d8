"""Random draws and their streams."""
