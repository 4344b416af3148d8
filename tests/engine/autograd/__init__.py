"""Custom Functions in a recording, and the memory that a graph holds."""
