"""Running and recording scripts."""
