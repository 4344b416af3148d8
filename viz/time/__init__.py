"""The steps of a trace, and the state of each node, edge and value at each step.  Words are in `wording`."""
