"""torch.nn.utils, in both libraries."""
