"""A whole run: the iterations of its training loop, and the window of a trace that each of them is. No picture."""
