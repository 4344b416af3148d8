"""Losses that receive what they do not expect, such as probabilities, padding or mixed rows, or have a wrong sign."""
