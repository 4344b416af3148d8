"""The gallery: every program runs, and its story tells the truth."""
