"""The steps of a trace."""
