"""Serving a class from several processes."""
