"""Sizes, positions and routes."""
