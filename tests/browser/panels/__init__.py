"""The panels around the graph, and what they explain."""
