"""PyTorch's own databases of ops, modules and optimisers, on their own samples."""
