"""torch.nn, in both libraries."""
