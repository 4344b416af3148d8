"""Trace files: written while the program runs, read as needed, and checked if others made them."""
