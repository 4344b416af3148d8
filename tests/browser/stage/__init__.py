"""The graph itself: the player, search and folded groups."""
