"""Tensors and their memory, in both libraries."""
