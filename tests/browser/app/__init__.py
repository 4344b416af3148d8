"""Whole visits: addresses, programs, scripts, stories and pages, and a server that ends."""
