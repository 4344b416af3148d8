"""How work is shared: cached, done once for everyone who waits for it, or done in another process."""
