"""The page as one HTML file: its parts, and what it holds."""
