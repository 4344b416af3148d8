"""From a trace to the graph that is drawn: nodes, edges, groups and their nesting.  No sizes, no positions."""
