"""What is recorded: events, the recorder's hot path, and the names and positions that are worked out later."""
