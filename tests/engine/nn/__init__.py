"""Modules and layers in a recording."""
