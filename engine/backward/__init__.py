"""The backward pass: the loop, its ready queue and dependency counts, accumulation, hooks, anomaly mode.
Nothing here imports the recorder in `trace`.
"""
