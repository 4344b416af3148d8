"""Recording: events, the recorder's fast path, and the names and positions that are computed later.
Nothing here imports tensors or the backward pass.
"""
