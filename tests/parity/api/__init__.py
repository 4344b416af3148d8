"""torch's functions, in both libraries."""
