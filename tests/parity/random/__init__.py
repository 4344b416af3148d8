"""Draws and distributions, in both libraries."""
