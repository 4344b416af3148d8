"""Explains errors: the place, the reason, the smallest fix. No problem that raised no error, and no layout."""
