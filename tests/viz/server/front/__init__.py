"""The front door: its search, and what it shares."""
