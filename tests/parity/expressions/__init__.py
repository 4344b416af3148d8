"""Expressions beyond the sample rows, a file for each kind, in both libraries."""
