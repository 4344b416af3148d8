"""torch.autograd, in both libraries."""
