"""Explains errors: the place, the reason, the smallest fix. Problems without an error are found in the folder above."""
