"""Losses that receive something other than they expect, such as probabilities, padding or mixed rows, or have the wrong sign."""
