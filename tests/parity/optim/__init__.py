"""torch.optim, in both libraries."""
