"""The same elements in another shape, split, joined, or with other strides."""
