"""Findings about losses: each in a loss that has the mistake, none in losses as they should be."""
