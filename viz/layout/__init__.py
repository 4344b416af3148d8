"""Sizes, positions and routes of a graph.  `layered` is our own layout; `dot` and `simple` are alternatives.
Nothing here imports `time` or `wording`.
"""
