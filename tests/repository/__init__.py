"""The repository itself: its folders, imports, names, look, pages and words."""
