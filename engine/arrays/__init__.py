"""The arrays under tensors, and what every layer above needs: dtypes, sizes, folds, errors, the session."""
