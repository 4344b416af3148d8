"""How work is shared out: remembered, done once for all who wait for it, or done in a process of its own."""
