"""Losses that receive something other than they expect, such as probabilities or padding, or have the wrong sign."""
