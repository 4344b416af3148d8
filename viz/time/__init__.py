"""The steps of a trace, and what each node, edge and value is at each of them.  Not in words: that is `wording`."""
