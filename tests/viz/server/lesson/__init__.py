"""The page as one HTML file: its parts, and what it holds; and the other files in which a revision is saved."""
