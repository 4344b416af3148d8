"""The layered layout: ranks, order, lines, ports and routes.  What a node stands for is not known here."""
