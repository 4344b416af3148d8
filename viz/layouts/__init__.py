"""Layouts: a graph in, positions out.  `layered` is ours; `dot` and `barycentre` order and place what it ranks."""
