"""Recordings and trace files."""
