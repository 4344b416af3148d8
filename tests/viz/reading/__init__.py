"""Facts of a trace."""
