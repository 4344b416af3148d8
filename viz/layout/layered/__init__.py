"""The layered layout: ranks, order, lines, ports and routes.  It does not know what a node means."""
