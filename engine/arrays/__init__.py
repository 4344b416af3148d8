"""The arrays under tensors, and helpers for every layer above: dtypes, sizes, folds, errors, the session.
Nothing here imports another folder of the engine.
"""
