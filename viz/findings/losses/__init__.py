"""Losses that receive something other than they expect: probabilities, logarithms, flat scores, padding."""
