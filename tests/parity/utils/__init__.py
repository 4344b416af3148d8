"""torch.utils, in both libraries."""
