"""Sizes, positions and routes: a graph in, a picture out.  `layered` is ours; `dot` and `simple` stand beside it."""
