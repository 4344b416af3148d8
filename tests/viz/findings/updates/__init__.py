"""Findings about the order of backward calls, steps and what happens to gradients in between."""
