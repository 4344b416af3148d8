"""The backward pass: its order, its counts, and weights that are shared."""
