"""The graph that is drawn: nodes, edges and groups."""
