"""A trace as a program that runs again, with edits, and what it cannot promise then."""
