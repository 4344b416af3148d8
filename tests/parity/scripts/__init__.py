"""Scripts as people write them: both libraries print the same."""
