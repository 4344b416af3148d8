"""Functions element by element: arithmetic, comparisons, bits, special functions."""
